// Rows of the package: sizes of the bundles that a hook loads, and of what npm would publish.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const kilobytes = (bytes) => bytes / 1000;

const bundle = (name, target, files) => ({
  name,
  unit: 'KB',
  target,
  value: () => kilobytes(files.reduce((sum, file) => sum + statSync(join(root, 'dist', file)).size, 0)),
});

function packed() {
  const done = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
  });
  if (done.status !== 0) throw new Error(`npm pack: ${done.stderr}`);
  return kilobytes(JSON.parse(done.stdout)[0].size);
}

export const sizeRows = () => [
  bundle('what every decision loads', 60, ['hook.cjs', 'hook-main.cjs']),
  bundle('shell.cjs', 210, ['shell.cjs']),
  { name: 'packed package', unit: 'KB', target: 400, value: packed },
];
