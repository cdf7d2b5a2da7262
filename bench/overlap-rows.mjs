// Rows of `overlap`: many worktrees with a session in each, after an edit in the one that asks.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bareNode } from './measure.mjs';
import { session } from './scenario.mjs';

const TREES = 20;
const FILES = 5000;

/** Each session but the one that asks has changed a file of its own. */
function worktrees(scenario) {
  const root = scenario.enabled('worktrees', 1);
  for (let n = 0; n < FILES; n += 1) {
    const folder = join(root, 'many', String(n % 50));
    if (n < 50) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${n}.ts`), 'export {};\n');
  }
  scenario.commitAll(root);
  for (let n = 1; n < TREES; n += 1) {
    const other = `${root} ${n}`;
    scenario.run('git', ['worktree', 'add', '-q', '-b', `other-${n}`, other], { cwd: root });
    scenario.run('git', ['status', '--short'], { cwd: other });
    scenario.startPeer(other, `11111111-2222-4333-8444-${String(n).padStart(12, '0')}`);
    writeFileSync(join(other, 'many', String(n), `${n}.ts`), 'export default 1;\n');
  }
  return root;
}

export function overlapRows(scenario) {
  const row = {
    name: `overlap after an edit, ${TREES} worktrees of ${FILES} files`,
    unit: '× node',
    target: 4,
    commands: () => {
      const script = 'echo "// $$" >>src/a.ts; exec "$0" overlap';
      const env = { ...scenario.env, CLAUDE_CODE_SESSION_ID: session };
      const command = {
        command: 'sh',
        args: ['-c', script, scenario.launcher],
        cwd: worktrees(scenario),
        env,
      };
      return { node: bareNode(scenario.env), command };
    },
    figure: (times) => times.command / times.node,
  };
  return [row];
}
