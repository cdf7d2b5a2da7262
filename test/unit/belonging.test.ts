import { describe, expect, it } from 'vitest';
import { chainChanges, changeKind, decideBelonging } from '../../src/domain/ledger/ownership.ts';
import type { OpenClaim } from '../../src/domain/ledger/claims.ts';
import type { WorktreeEvent } from '../../src/domain/journal/events.ts';
import { foldLedger } from '../../src/domain/journal/fold.ts';
import { type FileState } from '../../src/domain/ledger/tree-status.ts';
import type { Oid, SessionId } from '../../src/domain/names.ts';

const [a, b, c] = ['aaaa-1', 'bbbb-2', 'cccc-3'] as SessionId[] as [SessionId, SessionId, SessionId];
const file = (name: string, mode = '100644'): FileState => ({ mode, oid: name.repeat(40) as Oid });
const [v0, v1, v2, v3] = ['0', '1', '2', '3'].map((name) => file(name)) as [
  FileState,
  FileState,
  FileState,
  FileState,
];

function claim(session: SessionId, more: Partial<OpenClaim> = {}): OpenClaim {
  const fields = { path: 'f', base: v0, changes: [{ before: v0, after: v1 }], after: v1, committed: [] };
  return { session, ...fields, evidence: 'explicit', weak: false, since: 1, at: 1, ...more };
}
const strangers = (x: SessionId, y: SessionId) => x === y;
const none = { own: [], foreign: [], left: [] };

describe('decideBelonging', () => {
  const weak = { weak: true };
  it.each([
    ['no claim', none, 'nobody', []],
    ['my claim', { ...none, own: [claim(a)] }, 'mine', [a]],
    ["another's claim", { ...none, foreign: [claim(b)] }, 'other', [b]],
    ['claims of both', { ...none, own: [claim(a)], foreign: [claim(b)] }, 'contended', [a, b]],
    ['claims of two others', { ...none, foreign: [claim(b), claim(c, { at: 2 })] }, 'contended', [c, b]],
    ['a claim of one that is over', { ...none, left: [claim(c)] }, 'left', [c]],
    ['mine and a weak one', { ...none, own: [claim(a)], foreign: [claim(b, weak)] }, 'mine', [a]],
    ['a weak one of mine', { ...none, own: [claim(a, weak)], foreign: [claim(b)] }, 'other', [b]],
    ['two weak ones', { ...none, own: [claim(a, weak)], foreign: [claim(b, weak)] }, 'contended', [a, b]],
    ['mine over what was left', { ...none, own: [claim(a)], left: [claim(c)] }, 'mine', [a]],
    ['what was left over a weak one', { ...none, foreign: [claim(b, weak)], left: [claim(c)] }, 'left', [c]],
  ] as const)('%s', (_, claims, state, owners) => {
    const found = decideBelonging(claims, strangers);
    expect(found.state).toBe(state);
    expect(found.claims.map(({ session }) => session)).toEqual(owners);
  });

  it('does not call a path contended that only related sessions have changed', () => {
    const both = { ...none, foreign: [claim(b), claim(c)] };
    expect(decideBelonging(both, () => true).state).toBe('other');
  });
});

describe('chainChanges', () => {
  it('joins alternating changes into one chain', () => {
    const mine = claim(a, { changes: [{ before: v0, after: v1 }, { before: v2, after: v3 }] }); // prettier-ignore
    const theirs = claim(b, { changes: [{ before: v1, after: v2 }], since: 2 });
    const chain = [
      { before: v0, after: v1 },
      { before: v1, after: v2 },
      { before: v2, after: v3 },
    ];
    expect(chainChanges(v0, [mine, theirs])).toEqual(chain);
    expect(chainChanges(v0, [theirs, mine])).toEqual(chain);
  });

  it('keeps changes that do not join, the oldest first', () => {
    const [first, second] = [{ before: v2, after: v3 }, { before: v1, after: v2 }] as const; // prettier-ignore
    const claims = [claim(a, { changes: [second], since: 2 }), claim(b, { changes: [first], since: 1 })];
    expect(chainChanges(v0, claims)).toEqual([first, second]);
  });
});

describe('changeKind', () => {
  const dirty = (head: FileState, index: FileState, disk: FileState) => ({
    path: 'f',
    head,
    index,
    disk,
    stamp: '',
  });
  it.each([
    ['added', null, null, v1],
    ['added', null, v1, null],
    ['modified', v0, v0, v1],
    ['modified', v0, v1, v0],
    ['modified', v0, v0, file('1', '100755')],
    ['deleted', v0, v0, null],
    ['deleted', v0, null, v0],
    ['mode', v0, v0, file('0', '100755')],
    ['type-changed', v0, v0, file('1', '120000')],
  ] as const)('%s', (kind, head, index, disk) => {
    expect(changeKind(dirty(head, index, disk))).toBe(kind);
  });
});

describe('a claim and the look that saw its path clean', () => {
  const made: WorktreeEvent = { t: 'claim', path: 'f', base: v0, before: v0, after: v1, evidence: 'explicit', weak: false, at: 10 }; // prettier-ignore
  it.each([
    ['before the change', 9, 1],
    ['after it', 10, 0],
  ])('was %s', (_, at, open) => {
    const end: WorktreeEvent = { t: 'end', path: 'f', why: 'clean', at };
    expect(foldLedger(a, [made, end]).claims.size).toBe(open);
  });

  it('is over once it was taken, whatever the clocks say', () => {
    const end: WorktreeEvent = { t: 'end', path: 'f', why: 'taken', at: 1 };
    expect(foldLedger(a, [made, end]).claims.size).toBe(0);
  });
});
