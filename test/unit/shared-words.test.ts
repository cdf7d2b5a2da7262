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

it('what `init` puts into the git hooks asks every variable by which a client names its session', () => {
  for (const name of Object.keys(SESSION_VARIABLES)) expect(soleBlock('pre-commit', '/x')).toContain(name);
});
