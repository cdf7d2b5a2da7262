// Rows of the ledger: what it costs to remember who changed what, beside a second session.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bareNode } from './measure.mjs';
import { registered, toolCall } from './scenario.mjs';

/** A repository with so many tracked files, and two sessions. */
function manyFiles(scenario, count) {
  const root = scenario.repository(`${count} files`);
  for (let n = 0; n < count; n += 1) {
    const folder = join(root, 'many', String(n % 100));
    if (n < 100) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${n}.ts`), `export const n${n} = ${n};\n`.repeat(40));
  }
  scenario.run('git', ['add', '.'], { cwd: root });
  scenario.run('git', ['commit', '-q', '-m', 'many'], { cwd: root });
  return scenario.share(root);
}

export function ledgerRows(scenario) {
  const root = scenario.enabled('written with a peer', 2);
  const file = join(root, 'src', 'a.ts');
  writeFileSync(file, 'export const a = 2;\n');
  const written = toolCall(root, 'Write', { file_path: file, content: 'x' }, { tool_response: {} });
  const node = bareNode(scenario.env);
  const big = manyFiles(scenario, 10_000);
  writeFileSync(join(big, 'src', 'a.ts'), 'export const a = 2;\n');
  const command = { command: 'node scripts/generate.mjs' };
  const before = registered(scenario, big, toolCall(big, 'Bash', command));
  const after = registered(scenario, big, toolCall(big, 'Bash', command, { tool_response: { stdout: '' } }));
  return [
    {
      name: 'guard, after a Write with a peer',
      unit: '× node',
      target: 1.8,
      commands: { node, guard: { ...registered(scenario, root, written), silent: true } },
      figure: (times) => times.guard / times.node,
    },
    {
      name: 'guard, before and after a shell command, 10,000 files, with a peer',
      unit: 'ms over two bare nodes',
      target: 120,
      commands: { node, before: { ...before, silent: true }, after: { ...after, silent: true } },
      figure: (times) => times.before + times.after - 2 * times.node,
    },
  ];
}
