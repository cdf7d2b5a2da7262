// Rows of large repositories: a hook stays within its deadline (0.8 s), however much there is. Milliseconds, not ratios.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once } from './measure.mjs';
import { registered, session, start, toolCall } from './scenario.mjs';

const FILES = 50_000;
const REFS = 100_000;

/** So many tracked files of one content, and so many branches at one commit. */
function large(scenario) {
  const root = scenario.repository('large');
  for (let n = 0; n < FILES; n += 1) {
    const folder = join(root, 'many', String(n % 500));
    if (n < 500) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${n}.ts`), 'export {};\n');
  }
  scenario.commitAll(root);
  const inRoot = { cwd: root };
  const oid = scenario.run('git', ['rev-parse', 'HEAD'], inRoot).trim();
  // git itself needs minutes to make so many one by one.
  const refs = Array.from({ length: REFS }, (_, n) => `${oid} refs/heads/branch-${n}\n`);
  const head = '# pack-refs with: peeled fully-peeled sorted \n';
  const byName = (a, b) => (a.slice(oid.length) < b.slice(oid.length) ? -1 : 1);
  writeFileSync(join(root, '.git', 'packed-refs'), head + refs.sort(byName).join(''));
  return scenario.share(root);
}

export function largeRows(scenario) {
  const root = once(() => large(scenario));
  const guard = (payload) => registered(scenario, root(), payload);
  const inSession = { ...scenario.env, CLAUDE_CODE_SESSION_ID: session };
  const args = ['commit', '-q', '--allow-empty', '-m', 'fix: one thing'];
  const row = (name, command) => ({
    name: `${name}, ${FILES} files, ${REFS} refs, with a peer`,
    unit: 'ms',
    target: 1000,
    runs: 5,
    commands: () => ({ command: command() }),
    figure: (times) => times.command,
  });
  return [
    row('start of a session', () => guard(start(root(), session))),
    row('guard, before a shell command', () =>
      guard(toolCall(root(), 'Bash', { command: 'npm test && git add src' })),
    ),
    row('commit with our hooks', () => ({ command: 'git', args, cwd: root(), env: inSession })),
  ];
}
