// Rows of the package: sizes of the bundles that a hook loads, and of what npm would publish.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const kilobytes = (bytes) => bytes / 1000;

const bundle = (name, target) => ({
  name,
  unit: 'KB',
  target,
  value: () => kilobytes(statSync(join(root, 'dist', name)).size),
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
  bundle('hook.cjs', 80),
  bundle('shell.cjs', 210),
  { name: 'packed package', unit: 'KB', target: 400, value: packed },
];
