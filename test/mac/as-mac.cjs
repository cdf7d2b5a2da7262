// Preloaded on a file system where one file may have several names: it makes Node report a Mac as its system, and realpath(3)
// return each name as the disk spells it, as on a Mac.
const fs = require('node:fs');
const { dirname, join } = require('node:path');

Object.defineProperty(process, 'platform', { value: 'darwin' });

const folded = (name) => name.normalize('NFD').toLowerCase();
const asStored = (path) => {
  const parent = dirname(path);
  if (parent === path) return path;
  const name = path.slice(parent.length).replace(/^\//, '');
  const names = fs.readdirSync(parent);
  const stored = names.includes(name) ? name : names.find((one) => folded(one) === folded(name));
  return join(asStored(parent), stored ?? name);
};
const { realpathSync } = fs;
realpathSync.native = (path) => asStored(realpathSync(path));
