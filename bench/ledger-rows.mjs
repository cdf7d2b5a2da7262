// Rows of the ledger: what it costs to remember who changed what, beside a second session.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bareNode, once } from './measure.mjs';
import { registered, toolCall } from './scenario.mjs';

/** A repository with so many tracked files, and sessions. */
function manyFiles(scenario, count, sessions = 2) {
  const root = scenario.repository(`${count} files, ${sessions}`);
  for (let n = 0; n < count; n += 1) {
    const folder = join(root, 'many', String(n % 100));
    if (n < 100) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${n}.ts`), `export const n${n} = ${n};\n`.repeat(40));
  }
  scenario.commitAll(root);
  return scenario.share(root, sessions);
}

/** The same command in sh, after some files were given a new content: what is the same as before is not saved again. */
function afterEdits({ command, args, ...rest }) {
  const edit = 'for n in 0 1 2 3 4 5 6 7 8 9; do date +%s%N >many/$n/$n.ts; done; exec "$0" "$@"';
  return { ...rest, command: 'sh', args: ['-c', edit, command, ...args] };
}

export function ledgerRows(scenario) {
  const node = bareNode(scenario.env);
  return [
    {
      name: 'guard, after a Write with a peer',
      unit: '× node',
      target: 1.8,
      commands: () => ({ node, guard: { ...afterWrite(scenario), silent: true } }),
      figure: (times) => times.guard / times.node,
    },
    {
      name: 'guard, before and after a shell command, 10,000 files, with a peer',
      unit: 'ms over two bare nodes',
      target: 120,
      commands: () => ({ node, ...aroundCommand(scenario) }),
      figure: (times) => times.before + times.after - 2 * times.node,
    },
    {
      name: 'guard, rescue before git reset --hard, 10,000 files, 10 changed',
      unit: '× git stash create, over bare node',
      target: 1.5,
      // Each round leaves copies of ten files, and the next one looks through all of them.
      runs: 15,
      commands: () => ({ node, ...beforeReset(scenario) }),
      figure: (times) => (times.guard - times.node) / times.stash,
    },
  ];
}

function afterWrite(scenario) {
  const root = scenario.enabled('written with a peer', 2);
  const file = join(root, 'src', 'a.ts');
  writeFileSync(file, 'export const a = 2;\n');
  return registered(
    scenario,
    root,
    toolCall(root, 'Write', { file_path: file, content: 'x' }, { tool_response: {} }),
  );
}

function aroundCommand(scenario) {
  const root = manyFiles(scenario, 10_000);
  writeFileSync(join(root, 'src', 'a.ts'), 'export const a = 2;\n');
  const command = { command: 'node scripts/generate.mjs' };
  const call = (more) => ({
    ...registered(scenario, root, toolCall(root, 'Bash', command, more)),
    silent: true,
  });
  return { before: call(), after: call({ tool_response: { stdout: '' } }) };
}

function beforeReset(scenario) {
  const root = manyFiles(scenario, 10_000, 1);
  const guard = registered(scenario, root, toolCall(root, 'Bash', { command: 'git reset --hard' }));
  const stash = { command: 'git', args: ['stash', 'create'], cwd: root, env: scenario.env };
  return { stash: afterEdits(stash), guard: { ...afterEdits(guard), silent: true } };
}
