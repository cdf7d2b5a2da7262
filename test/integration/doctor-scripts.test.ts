import { appendFileSync, cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkScripts } from '../../src/verbs/doctor/program-checks.ts';

const ROOT = join(import.meta.dirname, '..', '..');

let copy: string;
beforeEach(() => {
  copy = realpathSync(mkdtempSync(join(tmpdir(), 'a package ')));
  for (const part of ['bin', 'git-hooks']) cpSync(join(ROOT, part), join(copy, part), { recursive: true });
});
afterEach(() => rmSync(copy, { recursive: true, force: true }));

describe('doctor on a script of ours', () => {
  it('says nothing where /bin/sh can parse it', () => {
    expect(checkScripts(copy)).toEqual([]);
  });

  it.each(['bin/git-handoff', 'git-hooks/ask.sh', 'git-hooks/pre-push'])(
    'tells that /bin/sh cannot parse %s, and how to get another one',
    (script) => {
      appendFileSync(join(copy, script), '\nx=$(\n');
      const [found, ...rest] = checkScripts(copy);
      expect(found).toMatchObject({ check: 'scripts', status: 'problem', hint: 'npm i -g git-handoff' });
      expect(found?.detail).toContain(`cannot parse ${join(copy, script)}: `);
      expect(rest).toEqual([]);
    },
  );
});
