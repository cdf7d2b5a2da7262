import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { A, B, SharingWorld, TEN, told } from '../support/sharing-world.ts';

let world: SharingWorld;
let other: string;

beforeEach(() => {
  world = new SharingWorld({ ready: [A] });
  onTestFinished(() => world.remove());
  other = world.worktree('feature/other');
});

const changed = (text: string, line: number, by: string) =>
  text.replace(`line ${line}\n`, `line ${line} by ${by}\n`);
const touched = () => join(world.path, '.git', 'handoff', 'touched');
/** A file tool of A's, or of B's in the other worktree; returns what the session is told with its result. */
const byA = (path: string, content: string) => told(world.wrote(A, path, content));
const byB = (path: string, content: string) => told(world.wrote(B, path, content, other));

describe('two sessions that are alone in their worktrees', () => {
  beforeEach(() => {
    world.begin(B, other);
  });

  it('are told at the first edit of a file that the other has changed', () => {
    expect(byA('src/a.ts', changed(TEN, 1, 'A'))).toBe('');
    expect(byB('src/a.ts', changed(TEN, 9, 'B'))).toBe(
      `git-handoff: src/a.ts is also changed in ${world.path} (branch main), where claude aaaaaaaa works: not committed. ` +
        'So far it merges with yours. Nothing is refused; compare with: git handoff overlap',
    );
    expect(byB('src/a.ts', changed(TEN, 8, 'B'))).toBe('');
    expect(byA('src/a.ts', changed(TEN, 2, 'A'))).toContain('where claude bbbbbbbb works');
    expect(byA('src/b.ts', changed(TEN, 2, 'A'))).toBe('');
  });
});
