// How the libraries are bundled: settings of rolldown that the build and the list of licences share.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules');

export const isLibrary = (id) => id.includes('/node_modules/');

export const LIBRARY_OPTIONS = {
  // To Node it shows CommonJS only, of which a bundler can leave nothing out.
  resolve: {
    alias: { yaml: join(packages, 'yaml', 'browser', 'dist', 'index.js') },
  },
  // A library's module of which nothing is used goes, even if it would do something when it is loaded.
  treeshake: { moduleSideEffects: (id) => !isLibrary(id) },
};
