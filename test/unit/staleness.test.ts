import { describe, expect, it } from 'vitest';
import {
  type BranchLogEntry,
  chooseDefault,
  hadOwnCommits,
  type BranchFacts,
  decideStaleness,
  looksDone,
} from '../../src/domain/staleness.ts';
import type { Oid } from '../../src/domain/names.ts';

const oid = (digit: number) => String(digit).repeat(40) as Oid;
/** Moves of a branch, newest first. Each goes to a new commit unless a number names the commit. */
const moves = (...messages: (string | [string, number])[]): BranchLogEntry[] =>
  messages.map((one, at) =>
    typeof one === 'string' ? { message: one, to: oid(9 - at) } : { message: one[0], to: oid(one[1]) },
  );

describe('whether a branch inside the default branch had commits of its own', () => {
  const CASES: readonly (readonly [string, BranchLogEntry[], boolean, boolean])[] = [
    ['committed on', moves('commit: b', 'branch: Created from main'), false, true],
    ['its first commit', moves('commit (initial): a'), false, true],
    ['amended', moves('commit (amend): b', 'commit: b', 'branch: Created from HEAD'), false, true],
    ['a merge of its own', moves('commit (merge): m', 'branch: Created from HEAD'), false, true],
    ['picked', moves('cherry-pick: b', 'branch: Created from main'), false, true],
    ['fresh', moves('branch: Created from main'), false, false],
    ['fresh, at a commit that was merged', moves('branch: Created from HEAD'), true, false],
    ['fresh, then forwarded', moves('merge main: Fast-forward', 'branch: Created from main'), false, false],
    ['committed on, then forwarded', moves('merge main: Fast-forward', 'commit: b'), false, true],
    ['committed on, then pulled', moves('pull: Fast-forward', 'commit: b'), false, true],
    ['thrown away', moves('reset: moving to main', 'commit: b', 'branch: Created from main'), false, false],
    ['reset to where it was', moves(['reset: moving to HEAD', 3], ['commit: b', 3]), false, true],
    ['renamed', moves(['Branch: renamed refs/heads/a to refs/heads/b', 3], ['commit: b', 3]), false, true],
    ['rebased', moves([`rebase (finish): refs/heads/x onto ${oid(2)}`, 3]), false, true],
    ['rebased away', moves([`rebase (finish): refs/heads/x onto ${oid(3)}`, 3]), false, false],
    ['fetched, and merged there', moves('branch: Created from refs/remotes/origin/x'), true, true],
    ['fetched by a short name', moves('branch: Created from origin/x'), true, true],
    ['fetched, nobody knows', moves('branch: Created from refs/remotes/origin/x'), false, false],
    ['made from another fetched one', moves('branch: Created from refs/remotes/origin/y'), true, false],
    ['no reflog', [], true, false],
    ['something else', moves('worktree: whatever'), true, false],
  ];
  it.each(CASES)('%s', (_title, all, wasMerged, expected) => {
    expect(hadOwnCommits('x', all, wasMerged)).toBe(expected);
  });
});

describe('an open note, judged by its branch', () => {
  const WORKED_ON: BranchFacts = {
    branch: 'x',
    exists: true,
    isCurrent: false,
    isDefault: false,
    isMerged: false,
    moves: moves('commit: b', 'branch: Created from main'),
    wasMerged: false,
    renamedTo: undefined,
    isRemote: false,
    isForeign: false,
  };
  const GONE = { ...WORKED_ON, exists: false, moves: [] };
  it.each([
    ['at work', WORKED_ON, null],
    ['merged', { ...WORKED_ON, isMerged: true }, 'merged'],
    ['merged and checked out', { ...WORKED_ON, isMerged: true, isCurrent: true }, 'merged'],
    ['the default branch', { ...WORKED_ON, isMerged: true, isDefault: true }, null],
    ['fresh', { ...WORKED_ON, isMerged: true, moves: moves('branch: Created from main') }, null],
    ['deleted', GONE, 'branch-deleted'],
    ['renamed', { ...GONE, renamedTo: 'y' }, 'branch-renamed'],
    ['only at a remote', { ...GONE, isRemote: true }, null],
    ["another person's, and not here", { ...GONE, isForeign: true }, null],
    ['before its first commit', { ...GONE, isCurrent: true }, null],
  ] as const)('%s', (_title, facts, expected) => {
    expect(decideStaleness(facts)).toBe(expected);
    expect(looksDone(decideStaleness(facts))).toBe(expected === 'merged' || expected === 'branch-deleted');
  });
});

describe('the default branch', () => {
  const has = (...names: string[]) => ({ has: (name: string) => names.includes(name) });
  const origin = 'refs/remotes/origin/dev';
  it.each([
    [
      "the remote's, here and there",
      { origin, configured: 'main', ...has('dev', 'main') },
      ['refs/heads/dev', origin],
    ],
    ["the remote's, not here", { origin, configured: undefined, ...has('main') }, [origin]],
    [
      'the configured one',
      { origin: undefined, configured: 'trunk', ...has('trunk', 'main') },
      ['refs/heads/trunk'],
    ],
    [
      'a configured one that is not',
      { origin: undefined, configured: 'trunk', ...has('main') },
      ['refs/heads/main'],
    ],
    ['master', { origin: undefined, configured: undefined, ...has('master') }, ['refs/heads/master']],
    ['none', { origin: undefined, configured: undefined, ...has('x') }, undefined],
    [
      'something odd',
      { origin: 'refs/heads/evil', configured: undefined, ...has('main') },
      ['refs/heads/main'],
    ],
  ])('%s', (_title, facts, refs) => {
    expect(chooseDefault(facts)?.refs).toEqual(refs);
  });
});
