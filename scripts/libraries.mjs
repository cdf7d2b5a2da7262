// How the libraries are bundled: settings of rolldown that the build and the list of licences share.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules');

export const isLibrary = (id) => id.includes('/node_modules/');

/** What isomorphic-git takes from libraries that were written for browsers, where Node has the same. */
const OF_NODE = new Map([
  ['pako', "import { inflateSync as inflate } from 'node:zlib'; export default { inflate };"],
  [
    'sha.js/sha1.js',
    "import { createHash } from 'node:crypto'; export default function () { return createHash('sha1'); }",
  ],
]);
const PREFIX = '\0node:';

const fromNode = {
  name: 'from-node',
  resolveId: (id) => (OF_NODE.has(id) ? PREFIX + id : undefined),
  load: (id) => (id.startsWith(PREFIX) ? OF_NODE.get(id.slice(PREFIX.length)) : undefined),
};

export const LIBRARY_OPTIONS = {
  plugins: [fromNode],
  // To Node these two show CommonJS only, of which a bundler can leave nothing out.
  resolve: {
    alias: {
      yaml: join(packages, 'yaml', 'browser', 'dist', 'index.js'),
      'isomorphic-git': join(packages, 'isomorphic-git', 'index.js'),
    },
  },
  // A library's module of which nothing is used goes, even if it would do something when it is loaded.
  treeshake: { moduleSideEffects: (id) => !isLibrary(id) },
};
