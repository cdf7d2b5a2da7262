import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SESSION_VARIABLES } from '../../src/domain/names.ts';
import { soleBlock } from '../../src/install/hook-block.ts';
import { GENERATED, freshScript } from '../../src/domain/shared-words.ts';

const root = join(import.meta.dirname, '..', '..');
const script = (path: string) => readFileSync(join(root, path), 'utf8');

it.each(GENERATED)('the words in %s are those of the program (node scripts/generate-sh.mjs)', (path) => {
  expect(script(path)).toBe(freshScript(script(path)));
  expect(script(path)).toContain('# --- generated: ');
});

it.each([
  ['the git hooks ask', script('git-hooks/session.sh')],
  ['what `init` puts into them asks', soleBlock('pre-commit', '/x')],
])('%s every variable by which a client names its session', (_, text) => {
  for (const name of Object.keys(SESSION_VARIABLES)) expect(text).toContain(name);
});

it('sh and the program tell the same of what git has not finished', () => {
  const program = script('src/git/operations.ts');
  const marks = [...program.matchAll(/'((?:rebase-\w+|sequencer)\/[\w-]+|[A-Z]+_(?:PICK_)?HEAD)'/g)].map(
    (found) => found[1] ?? '',
  );
  expect(marks.length).toBeGreaterThan(6);
  for (const mark of marks) expect(script('git-hooks/session.sh')).toContain(mark);
});

it.each(['limited', 'watch', 'stop_tree', 'stop_below'])(
  '%s is the same in the launcher and in the git hooks',
  (name) => {
    const [launcher, hooks] = ['bin/git-handoff', 'git-hooks/session.sh'].map(
      (path) => new RegExp(`^${name}\\(\\) \\{\\n[^]*?^\\}\\n`, 'm').exec(script(path))?.[0],
    );
    expect(launcher).toBeDefined();
    expect(launcher).toBe(hooks);
  },
);
