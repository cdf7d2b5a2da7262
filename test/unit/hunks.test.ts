import { describe, expect, it } from 'vitest';
import { foldLedger } from '../../src/domain/journal/fold.ts';
import type { PathChange, OpenClaim } from '../../src/domain/ledger/claims.ts';
import type { FileState } from '../../src/domain/ledger/tree-status.ts';
import { contentsOf, planHunks } from '../../src/domain/ledger/hunks.ts';
import { divideWork } from '../../src/domain/ledger/ownership.ts';
import { chooseShares } from '../../src/verbs/sharing/commit/scene.ts';
import type { Oid, SessionId } from '../../src/domain/names.ts';
import { userEnvironment } from '../../src/git/user-git.ts';

const [a, b] = ['aaaa', 'bbbb'] as SessionId[] as [SessionId, SessionId];
const oid = (digit: string) => digit.repeat(40) as Oid;
const file = (digit: string, mode = '100644'): FileState => ({ mode, oid: oid(digit) });

function claim(
  session: SessionId,
  changes: readonly (readonly [FileState, FileState])[],
  more = {},
): OpenClaim {
  const list = changes.map(([before, after]): PathChange => ({ before, after }));
  const after = list.at(-1)?.after ?? null;
  return {
    session,
    path: 'f',
    base: list[0]?.before ?? null,
    changes: list,
    after,
    committed: [],
    evidence: 'explicit',
    weak: false,
    since: 1,
    at: 1,
    ...more,
  };
}

describe('planHunks', () => {
  const others = [claim(b, [[file('1'), file('9')]])];

  it('applies each of the session’s changes to what HEAD has', () => {
    const mine = [
      claim(a, [
        [file('1'), file('2')],
        [file('3'), file('4')],
      ]),
    ];
    const plan = planHunks({ head: file('1'), disk: file('5'), mine, others });
    const steps = [
      { before: oid('1'), after: oid('2') },
      { before: oid('3'), after: oid('4') },
    ];
    expect(plan).toEqual({ kind: 'apply', start: oid('1'), steps, mode: '100644' });
    if (plan.kind === 'apply') expect(contentsOf(plan)).toEqual(['1', '2', '3', '4'].map(oid));
  });

  it('starts from an empty text for a new file', () => {
    const mine = [claim(a, [[null, file('2', '100755')]])];
    const plan = planHunks({ head: null, disk: file('5', '100755'), mine, others });
    const steps = [{ before: null, after: oid('2') }];
    expect(plan).toEqual({ kind: 'apply', start: null, steps, mode: '100755' });
  });

  it('uses the mode of the session that set it', () => {
    const facts = { head: file('1'), disk: file('5', '100755'), others };
    const content = planHunks({ ...facts, mine: [claim(a, [[file('1'), file('2')]])] });
    expect(content).toMatchObject({ mode: '100644' });
    const mode = planHunks({ ...facts, mine: [claim(a, [[file('1'), file('1', '100755')]])] });
    expect(mode).toMatchObject({ mode: '100755', steps: [] });
  });

  it.each<[string, FileState, FileState, FileState]>([
    ['removed by me, changed by the other', null, file('9'), null],
    ['removed by me, there again', null, file('9'), file('9')],
    ['changed by me, removed by the other', file('2'), null, null],
  ])('%s: overlap', (_, after, theirs, disk) => {
    const mine = [claim(a, [[file('1'), after]])];
    const facts = { head: file('1'), disk, mine, others: [claim(b, [[file('1'), theirs]])] };
    expect(planHunks(facts)).toEqual({ kind: 'overlap' });
  });

  it('handles a file that both have removed', () => {
    const gone = (session: SessionId) => [claim(session, [[file('1'), null]])];
    const facts = { head: file('1'), disk: null, mine: gone(a), others: gone(b) };
    expect(planHunks(facts)).toEqual({ kind: 'removed' });
  });

  it.each<[string, FileState]>([
    ['a content that was not kept', { mode: '100644', oid: null }],
    ['a symbolic link', file('7', '120000')],
    ['a submodule', file('7', '160000')],
  ])('%s cannot be told', (_, state) => {
    const mine = [claim(a, [[file('1'), state]])];
    expect(planHunks({ head: file('1'), disk: file('5'), mine, others })).toEqual({ kind: 'unknown' });
  });
});

describe('divideWork and chooseShares', () => {
  const dirty = (path: string) => ({ path, head: file('1'), index: file('1'), disk: file('5'), stamp: '' });
  const ledger = (session: SessionId, claims: readonly OpenClaim[]) => ({
    ...foldLedger(session, []),
    claims: new Map(claims.map((one) => [one.path, one])),
  });
  const change: readonly (readonly [FileState, FileState])[] = [[file('1'), file('5')]];
  const on = (session: SessionId, path: string, weak = false) => claim(session, change, { path, weak });
  const dirtyPaths = ['mine', 'theirs', 'both', 'nobody', 'doubt', 'maybe', 'sub/'].map(dirty);
  const work = {
    status: {
      head: { ref: 'HEAD', oid: null },
      dirty: new Map(dirtyPaths.map((one) => [one.path, one])),
      at: 0,
    },
    ledgers: [
      ledger(a, [on(a, 'mine'), on(a, 'both'), on(a, 'doubt', true), on(a, 'maybe', true)]),
      ledger(b, [on(b, 'theirs'), on(b, 'both'), on(b, 'doubt', true)]),
    ],
  };
  const [own, foreign] = [new Set([a]), new Set([b])];
  const share = (
    named?: ReadonlySet<string>,
    unrecorded: readonly OpenClaim[] = [],
    groups = { own, foreign },
  ) => chooseShares(divideWork(work, groups, own, unrecorded), named, new Map());
  const paths = (shares: readonly { dirty: { path: string } }[]) => shares.map((share) => share.dirty.path);

  it('takes the session’s own work, but not what may be another’s', () => {
    const shares = share();
    expect(paths(shares.whole)).toEqual(['mine', 'maybe']);
    expect(paths(shares.contended)).toEqual(['both']);
    expect(shares.refused).toEqual([]);
    expect(shares.left).toEqual([
      { path: 'theirs', owner: b },
      { path: 'nobody', owner: undefined },
      { path: 'doubt', owner: a },
      { path: 'sub/', owner: undefined },
    ]);
  });

  it('takes named paths, unless they are another’s', () => {
    const shares = share(new Set(['nobody', 'theirs', 'doubt', 'sub/']));
    expect(paths(shares.whole)).toEqual(['nobody', 'doubt']);
    expect(paths(shares.refused)).toEqual(['theirs']);
    expect(shares.left.map(({ path }) => path)).toEqual(['mine', 'both', 'maybe', 'sub/']);
  });

  it('takes changes that are not yet in a ledger', () => {
    expect(paths(share(undefined, [on(a, 'nobody')]).whole)).toContain('nobody');
  });

  it('does not let a child commit its parent’s claim', () => {
    const shares = share(undefined, [], { own: new Set([a, b]), foreign: new Set() });
    expect(paths(shares.whole)).toEqual(['mine', 'both', 'doubt', 'maybe']);
    expect(shares.left).toContainEqual({ path: 'theirs', owner: b });
  });

  it('keeps to the session’s own hunks of a stale file, and takes nothing of one in which it has none', () => {
    const parts = divideWork(work, { own, foreign }, own, []);
    const named = new Set(['mine', 'maybe', 'nobody', 'theirs']);
    const shares = chooseShares(
      parts,
      named,
      new Map([
        ['mine', []],
        ['maybe', [on(b, 'maybe')]],
        ['nobody', []],
      ]),
    );
    expect(paths(shares.whole)).toEqual([]);
    expect(paths(shares.contended)).toEqual(['mine', 'maybe']);
    expect(paths(shares.refused)).toEqual(['theirs']);
    expect(shares.left).toContainEqual({ path: 'nobody', owner: undefined });
  });
});

describe('userEnvironment', () => {
  const config = (...entries: [string, string][]) =>
    Object.fromEntries([
      ['GIT_CONFIG_COUNT', String(entries.length)],
      ...entries.flatMap(([key, value], n) => [
        [`GIT_CONFIG_KEY_${n}`, key],
        [`GIT_CONFIG_VALUE_${n}`, value],
      ]),
    ]) as Record<string, string>;
  const scrub = {
    GEMINI_CLI: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
  };
  const defined = (env: NodeJS.ProcessEnv) =>
    Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));

  it('undoes what Gemini CLI’s shell hides, and keeps everything else', () => {
    const entries: [string, string][] = [
      ['core.hooksPath', ''],
      ['core.fsmonitor', ''],
      ['core.sshCommand', ''],
      ['credential.helper', ''],
      ['core.editor', ''],
      ['sequence.editor', ''],
      ['diff.external', ''],
      ['user.name', 'Grace'],
    ];
    const env = userEnvironment({ ...scrub, ...config(...entries), PATH: '/bin', GIT_TERMINAL_PROMPT: '0' });
    const rest = { GEMINI_CLI: '1', PATH: '/bin', GIT_TERMINAL_PROMPT: '0' };
    expect(defined(env)).toEqual({ ...rest, ...config(['user.name', 'Grace']) });
    expect(defined(userEnvironment({ ...scrub, ...config(['core.hooksPath', '']) }))).toEqual({
      GEMINI_CLI: '1',
    });
  });

  it.each([
    ['outside of Gemini’s shell', { ...scrub, GEMINI_CLI: undefined, ...config(['core.hooksPath', '']) }],
    ['where hooks are not switched off', { ...scrub, ...config(['core.editor', '']) }],
    ['where they are elsewhere', { ...scrub, ...config(['core.hooksPath', '/hooks']) }],
    ['with a count that is none', { ...scrub, GIT_CONFIG_COUNT: 'x' }],
  ])('changes nothing %s', (_, env) => {
    expect(userEnvironment(env)).toEqual(env);
  });

  it('keeps a configuration file that the user named', () => {
    const env = { ...scrub, GIT_CONFIG_GLOBAL: '/home/ada/git', ...config(['core.hooksPath', '']) };
    expect(userEnvironment(env)['GIT_CONFIG_GLOBAL']).toBe('/home/ada/git');
  });
});
