import { describe, expect, it } from 'vitest';
import type { FileState } from '../../src/domain/ledger/tree-status.ts';
import { overlapKindOf, overlapText, progressOf } from '../../src/domain/overlap.ts';
import type { Oid } from '../../src/domain/names.ts';

const state = (digit: string, mode = '100644'): FileState => ({ mode, oid: digit.repeat(40) as Oid });
const [BASE, MINE, THEIRS] = [state('0'), state('1'), state('2')];
const LINK = state('3', '120000');
const UNREAD: FileState = { mode: '100644', oid: null };

describe('a path in two worktrees', () => {
  it.each<[string, FileState, FileState, FileState, ReturnType<typeof overlapKindOf>]>([
    ['changed on both sides has to be read', BASE, MINE, THEIRS, 'contents'],
    ['added on both sides has to be read', null, MINE, THEIRS, 'contents'],
    ['changed alike is no overlap', BASE, MINE, MINE, undefined],
    ['changed here only is no overlap', BASE, MINE, BASE, undefined],
    ['changed there only is no overlap', BASE, BASE, THEIRS, undefined],
    ['deleted on both sides is no overlap', BASE, null, null, undefined],
    ['deleted here', BASE, null, THEIRS, 'deleted'],
    ['deleted there', BASE, MINE, null, 'deleted'],
    ['a link on one side conflicts', BASE, MINE, LINK, 'conflict'],
    ['too large to read is not judged', BASE, MINE, UNREAD, 'not-judged'],
  ])('%s', (_, base, mine, theirs, kind) => {
    expect(overlapKindOf(base, mine, theirs)).toBe(kind);
  });

  it.each<[FileState, FileState, FileState, ReturnType<typeof progressOf>]>([
    [BASE, BASE, BASE, undefined],
    [BASE, BASE, THEIRS, 'uncommitted'],
    [BASE, THEIRS, THEIRS, 'committed'],
    [BASE, THEIRS, MINE, 'both'],
    [null, null, null, undefined],
    [null, null, THEIRS, 'uncommitted'],
  ])('is changed there: %j, HEAD %j, disk %j', (base, head, disk, progress) => {
    expect(progressOf(base, { head, disk })).toBe(progress);
  });
});

describe('what a session is told', () => {
  const notice = {
    paths: ['a b', 'c'],
    who: 'claude bbbbbbbb',
    idle: 'claude bbbbbbbb went idle just now. ',
    folder: '/w/x\n$(id)',
    branch: undefined,
    progress: 'both',
    kind: 'not-judged',
  } as const;

  it('names paths and places on one line', () => {
    expect(overlapText(notice, 'git')).toBe(
      "'a b', c are also changed in /w/x\\n$(id) (detached HEAD), where claude bbbbbbbb works: committed, and changed since. " +
        'claude bbbbbbbb went idle just now. It is not known whether it merges with yours. Nothing is refused; compare with: git handoff overlap',
    );
  });

  it('names at most five paths', () => {
    const paths = Array.from({ length: 7 }, (_, n) => `f${n}`);
    expect(overlapText({ ...notice, paths }, 'git')).toMatch(/^f0, f1, f2, f3, f4 and 2 more are also/);
  });
});
