// How the libraries are bundled: settings of rolldown that the build and the list of licences share.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules');

export const isLibrary = (id) => id.includes('/node_modules/');

export const LIBRARY_OPTIONS = {
  // yaml's entry for Node is CommonJS, of which a bundler must keep everything.
  resolve: {
    alias: { yaml: join(packages, 'yaml', 'browser', 'dist', 'index.js') },
  },
  // Drops library modules of which nothing is used, even if loading them would have an effect.
  treeshake: { moduleSideEffects: (id) => !isLibrary(id) },
};
