import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld, refusal } from '../support/sharing-world.ts';

/** Whether names that differ only in case or in Unicode composition mean one file here, as on a Mac. */
const isOneFile = (() => {
  const folder = mkdtempSync(join(tmpdir(), 'git-notes-names-'));
  writeFileSync(join(folder, 'caf\u00e9'), '');
  const found = existsSync(join(folder, 'CAFE\u0301'));
  rmSync(folder, { recursive: true });
  return found;
})();

const COMPOSED = 'caf\u00e9.md';
const DECOMPOSED = 'cafe\u0301.md';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
});
afterEach(() => world.remove());

/** The world's folder has capital letters in its name. */
it.each(['.git/refs/handoffs/main/auth', '.git/packed-refs', '.git/handoff/sessions/x.jsonl'])(
  '%s is guarded, whether names that differ in case are one file or not',
  (name) => {
    expect(refusal(world.try(B, name, 'x\n'))).toContain('handoff');
  },
);

describe.skipIf(!isOneFile)('a file that has several names', () => {
  it('is guarded against a file tool that names it in another case', () => {
    world.write(A, 'src/a.ts', 'one\n');
    for (const name of ['src/A.ts', 'SRC/a.ts', 'Src/A.TS']) {
      expect(refusal(world.try(B, name, 'two\n')), name).toContain('claude aaaaaaaa');
    }
  });

  it.each(['echo x >> SRC/A.ts', 'rm src/A.TS', 'rm -r Src', 'cd SRC && git checkout a.ts', 'mv SRC old'])(
    'is guarded against %s',
    (command) => {
      world.write(A, 'src/a.ts', 'one\n');
      expect(refusal(world.may(B, command))).toContain('claude aaaaaaaa');
    },
  );

  it.each(['.GIT/refs/handoffs/x', '.git/REFS/Handoffs/x', '.git/Packed-Refs'])(
    'is guarded as %s, which holds handoffs',
    (name) => {
      expect(refusal(world.try(B, name, 'x\n'))).toContain('handoff');
    },
  );

  it('is claimed under the name that git knows', () => {
    world.write(A, 'SRC/A.TS', 'one\n');
    expect(world.claimed(A)).toEqual(['src/a.ts']);
    const folder = join(world.root, 'REPOSITORY', 'Src');
    expect(refusal(world.try(B, 'a.ts', 'two\n', folder))).toContain('claude aaaaaaaa');
    expect(world.ok(['commit', '-m', 'y'], { session: A })).toContain('src/a.ts');
  });

  it.each([
    [COMPOSED, DECOMPOSED],
    [DECOMPOSED, COMPOSED],
  ])('is one, however its letters are composed: %j, %j', (mine, theirs) => {
    world.write(A, mine, 'one\n');
    expect(refusal(world.try(B, theirs, 'two\n'))).toContain('claude aaaaaaaa');
    world.git(['add', '-A']);
    expect(world.as(B, ['commit', '-qm', 'x']).stderr).toContain('claude aaaaaaaa changed it');
    expect(world.ok(['commit', '-m', 'y'], { session: A })).toContain(COMPOSED);
  });
});
