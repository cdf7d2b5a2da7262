import { describe, expect, it } from 'vitest';
import type { FileState, DirtyPath, TreeStatus } from '../../../src/domain/ledger/tree-status.ts';
import { changesLeft, resumedStart } from '../../../src/domain/ledger/claim-events.ts';
import type { Oid } from '../../../src/domain/names.ts';

const state = (content: string): FileState => ({
  mode: '100644',
  oid: content.repeat(40).slice(0, 40) as Oid,
});

/** The content of each path, as one letter; HEAD has `0` everywhere. */
function tree(disk: Readonly<Record<string, string>>, branch = 'main', at = 1): TreeStatus {
  const dirty = Object.entries(disk).map(([path, content]): DirtyPath => {
    const head = state('0');
    return { path, head, index: head, disk: state(content), stamp: '' };
  });
  return {
    head: { ref: `refs/heads/${branch}`, oid: null },
    dirty: new Map(dirty.map((one) => [one.path, one])),
    at,
  };
}

const left = (start: TreeStatus, pause: TreeStatus, now: TreeStatus) =>
  changesLeft(start, pause, now).map(({ path }) => path);

describe('changesLeft', () => {
  const start = tree({ old: 'a' });
  const pause = tree({ old: 'a', own: 'b', more: 'b' });

  it('is what the session had changed and is still there', () => {
    expect(left(start, pause, tree({ old: 'c', own: 'b', theirs: 'c' }))).toEqual(['own']);
  });

  it('includes further changes only on the same branch', () => {
    expect(left(start, pause, tree({ own: 'b', more: 'c' }))).toEqual(['own', 'more']);
    expect(left(start, pause, tree({ own: 'b', more: 'c' }, 'side'))).toEqual(['own']);
  });
});

describe('resumedStart', () => {
  const start = tree({ old: 'a', kept: 'a' });
  const pause = tree({ old: 'a', kept: 'a', own: 'b', done: 'b' });
  const disk = (one: TreeStatus | undefined) =>
    Object.fromEntries([...(one?.dirty ?? [])].map(([path, { disk }]) => [path, disk?.oid?.[0]]));

  it('adds what changed meanwhile, and forgets what is clean', () => {
    const now = tree({ kept: 'a', own: 'c', theirs: 'c' });
    expect(disk(resumedStart(start, pause, now))).toEqual({ kept: 'a', theirs: 'c' });
    const side = tree({ kept: 'a', own: 'c', theirs: 'c' }, 'side');
    expect(disk(resumedStart(start, pause, side))).toEqual({ kept: 'a', own: 'c', theirs: 'c' });
  });

  it('stays the same if nobody saw the break begin, unless the branch is another', () => {
    expect(resumedStart(start, undefined, tree({ own: 'c' }))).toBe(start);
    expect(resumedStart(start, undefined, tree({ own: 'c' }, 'side'))).toBeUndefined();
  });
});
