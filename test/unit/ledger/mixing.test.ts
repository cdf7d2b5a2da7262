import { describe, expect, it } from 'vitest';
import type { WorktreeEvent } from '../../../src/domain/journal/events.ts';
import { foldLedger } from '../../../src/domain/journal/fold.ts';
import {
  type CommitFacts,
  decideCommit,
  staleCandidates,
  suspects,
} from '../../../src/domain/ledger/mixing.ts';
import type { SessionId } from '../../../src/domain/names.ts';
import { sessionOf } from '../../support/chain.ts';
import { blob, claim, dirty, oid, snapshot } from './facts.ts';

const [a, b, c] = [sessionOf('a'), sessionOf('b'), sessionOf('c')];
const MAIN = { ref: 'refs/heads/main', oid: oid(1) };

interface Given {
  readonly a?: readonly WorktreeEvent[];
  readonly b?: readonly WorktreeEvent[];
  readonly c?: readonly WorktreeEvent[];
  readonly foreign?: readonly SessionId[];
  readonly own?: readonly SessionId[];
  readonly more?: Partial<CommitFacts>;
}

/** B commits `f`, whose HEAD is blob 1 and whose index is blob 2. */
function facts(given: Given): CommitFacts {
  const ledgers = [foldLedger(a, given.a ?? []), foldLedger(b, given.b ?? []), foldLedger(c, given.c ?? [])];
  return {
    staged: [{ path: 'f', head: blob(1), index: blob(2) }],
    ledgers,
    groups: { own: new Set(given.own ?? [b]), foreign: new Set(given.foreign ?? [a]) },
    self: ledgers[1]!,
    head: MAIN,
    running: [],
    ownIndex: true,
    amends: undefined,
    markers: [],
    ...given.more,
  };
}

const kinds = (given: Given) => decideCommit(facts(given), []).problems.map(({ kind }) => kind);
const theirs = claim('f', blob(1), blob(2));

describe('decideCommit', () => {
  it('passes what nobody or only the committing session claims', () => {
    expect(kinds({})).toEqual([]);
    expect(kinds({ b: [theirs] })).toEqual([]);
    expect(decideCommit(facts({ b: [theirs] }), []).mine).toEqual(['f']);
  });

  it('refuses what another live session claims', () => {
    const { problems, mine } = decideCommit(facts({ a: [theirs] }), []);
    expect(problems).toMatchObject([{ kind: 'foreign', path: 'f', claim: { session: a } }]);
    expect(mine).toEqual([]);
  });

  it('passes what an ended or related session claims', () => {
    expect(kinds({ a: [theirs], foreign: [] })).toEqual([]);
    expect(kinds({ a: [theirs], foreign: [], own: [b, a] })).toEqual([]);
  });

  it('passes what the other session has already committed, as it was or as its commit was allowed', () => {
    expect(kinds({ a: [claim('f', blob(3), blob(1))] })).toEqual([]);
    const commit = { t: 'commit', parent: null, paths: [['f', blob(1)]], at: 2 } as const;
    expect(kinds({ a: [claim('f', blob(3), blob(4)), commit] })).toEqual([]);
  });

  it('warns about what the other session may have changed', () => {
    const { problems, warnings } = decideCommit(facts({ a: [{ ...theirs, weak: true }] }), []);
    expect(problems).toEqual([]);
    expect(warnings).toMatchObject([{ path: 'f', claim: { session: a } }]);
  });

  it('refuses a contended path unless the index has what stage --mine put together for this session', () => {
    expect(kinds({ a: [theirs], b: [theirs] })).toEqual(['contended']);
    const staged = (n: number) => ({ t: 'staged', path: 'f', state: blob(n), at: 2 }) as const;
    expect(kinds({ a: [theirs], b: [theirs, staged(2)] })).toEqual([]);
    expect(kinds({ a: [theirs], b: [theirs, staged(3)] })).toEqual(['contended']);
  });

  it('refuses what undoes a commit', () => {
    const by = { path: 'f', commit: oid(7), session: a };
    expect(decideCommit(facts({}), [by]).problems).toEqual([{ kind: 'reversal', path: 'f', by }]);
  });

  it('refuses amending, and other sessions’ handoff files', () => {
    expect(kinds({ more: { amends: a } })).toEqual(['amends']);
    const markers = [
      { path: 'handoff-a.md', owner: a },
      { path: 'handoff-b.md', owner: b },
    ];
    expect(decideCommit(facts({ more: { markers } }), []).problems).toEqual([
      { kind: 'marker', path: 'handoff-a.md', owner: a },
    ]);
  });
});

describe('the branch', () => {
  const seen = (ref: string, own = false, at = 1): WorktreeEvent => ({
    t: 'head',
    ref,
    oid: oid(1),
    own,
    at,
  });

  it('is the one that the session last saw, whoever committed on it', () => {
    expect(kinds({ b: [seen('refs/heads/main')], more: { head: { ...MAIN, oid: oid(2) } } })).toEqual([]);
  });

  it('is refused if it is another one, with who moved it and when', () => {
    const given = { a: [seen('refs/heads/main', true, 9)], b: [seen('refs/heads/feat')] };
    expect(decideCommit(facts(given), []).problems).toEqual([
      { kind: 'branch', expected: 'refs/heads/feat', found: 'refs/heads/main', mover: a, at: 9 },
    ]);
    expect(decideCommit(facts({ b: [seen('refs/heads/feat')] }), []).problems).toMatchObject([
      { kind: 'branch', mover: undefined },
    ]);
  });

  it('passes if the session itself switched, in the running command or before', () => {
    const running = [snapshot([], { ref: 'refs/heads/feat' })];
    expect(kinds({ b: [seen('refs/heads/feat')], more: { running } })).toEqual([]);
    expect(
      kinds({ a: [seen('refs/heads/main', true)], b: [seen('refs/heads/feat')], own: [a, b], foreign: [] }),
    ).toEqual([]);
  });

  it.each([
    ['HEAD', { name: 'rebase', whole: false, isEmpty: false }, []],
    ['HEAD', undefined, ['branch']],
    ['refs/heads/main', { name: 'merge', whole: true, isEmpty: false }, ['branch']],
  ])('is left by a rebase only (%s, %j)', (ref, finishes, expected) => {
    const more = { head: { ...MAIN, ref }, finishes };
    expect(kinds({ b: [seen('refs/heads/feat')], more })).toEqual(expected);
  });
});

describe('suspects', () => {
  const paths = (given: Given) => suspects(facts(given)).map(({ path }) => path);

  it('include staged paths that nothing explains', () => {
    expect(paths({})).toEqual(['f']);
    expect(paths({ b: [theirs] })).toEqual([]);
    expect(paths({ a: [theirs] })).toEqual([]);
    expect(paths({ b: [{ t: 'staged', path: 'f', state: blob(2), head: blob(1), at: 1 }] })).toEqual([]);
  });

  it('include paths that the session staged before HEAD gained something there', () => {
    const before: Given = { b: [{ t: 'staged', path: 'f', state: blob(2), head: blob(2), at: 1 }] };
    expect(paths(before)).toEqual(['f']);
    expect(staleCandidates(facts(before)).map(({ path }) => path)).toEqual(['f']);
  });

  it('include paths that another session only may have changed', () => {
    expect(paths({ a: [{ ...theirs, weak: true }] })).toEqual(['f']);
  });

  it('do not include new files, which undo nothing', () => {
    expect(paths({ more: { staged: [{ path: 'f', head: null, index: blob(2) }] } })).toEqual([]);
  });

  it('do not include what the running command itself staged', () => {
    expect(paths({ more: { running: [snapshot([])] } })).toEqual([]);
    expect(paths({ more: { running: [snapshot([])], ownIndex: false } })).toEqual(['f']);
    expect(paths({ more: { running: [snapshot([], { oid: oid(5) })] } })).toEqual(['f']);
    expect(paths({ more: { running: [snapshot([dirty('f', { index: blob(2) })])] } })).toEqual(['f']);
  });
});
