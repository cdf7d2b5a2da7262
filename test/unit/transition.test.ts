import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type HandoffCommit,
  type HandoffTrailers,
  MAX_COMMIT_BYTES,
  MAX_NOTE_BYTES,
  MAX_TREE_BYTES,
} from '../../src/domain/handoff.ts';
import type { Topic } from '../../src/domain/names.ts';
import {
  type Move,
  type Place,
  checkHandoffCommit,
  checkMove,
  checkStep,
} from '../../src/domain/transition.ts';
import { HERE, commitOf, oidOf, sessionOf } from '../support/chain.ts';

const [a, b, c] = [sessionOf('a'), sessionOf('b'), sessionOf('c')];
const root = commitOf(1, []);
const closed = commitOf(1, [], { state: 'closed' });
/** The verdict on a second commit with these trailers after the first. */
const step = (trailers: Partial<HandoffTrailers>, parent = root) =>
  checkStep([parent], commitOf(2, [1], trailers));
const legal = (kind: string) => ({ legal: true, step: kind });
const illegal = (reason: string) => ({ legal: false, reason });

describe('legal steps', () => {
  it.each([
    [{ bytes: MAX_COMMIT_BYTES }, undefined],
    [{ bytes: MAX_COMMIT_BYTES + 1 }, 'commit too large'],
    [{ treeBytes: MAX_TREE_BYTES }, undefined],
    [{ treeBytes: MAX_TREE_BYTES + 1 }, 'too many files'],
    [{ noteBytes: MAX_NOTE_BYTES }, undefined],
    [{ noteBytes: MAX_NOTE_BYTES + 1 }, 'note too large'],
    [{ parents: [1, 1, 1].map(oidOf) }, 'too many parents'],
  ] as const)('sizes have a limit: %j', (facts, reason) => {
    expect(checkHandoffCommit({ ...commitOf(2, [1]), ...facts })).toBe(reason);
    expect(checkStep([root], { ...commitOf(2, [1]), ...facts }).legal).toBe(reason === undefined);
  });

  it('this program never continues what a later version wrote', () => {
    const later = commitOf(2, [1], {}, { version: 2 });
    expect(checkStep([later], commitOf(3, [2]))).toEqual(illegal('unknown format version'));
  });

  it('a first note creates the topic', () => expect(checkStep([], root)).toEqual(legal('create')));
  it('the owner writes the next version', () => expect(step({})).toEqual(legal('write')));
  it('the owner closes', () => expect(step({ state: 'closed' })).toEqual(legal('close')));
  it('the owner reopens', () => expect(step({}, closed)).toEqual(legal('reopen')));
  it('another session takes', () => expect(step({ owner: b, takenFrom: a })).toEqual(legal('take')));
  it('another session takes a closed note', () =>
    expect(step({ owner: b, takenFrom: a }, closed)).toEqual(legal('take')));
  it('a conversation continues under a new id', () =>
    expect(step({ owner: b, succeeds: a })).toEqual(legal('succeed')));

  it.each([
    ['the owner of the first side', { owner: a }],
    ['the owner of the second side', { owner: b }],
    ['a taker', { owner: c, takenFrom: a }],
  ])('%s merges two lines', (_who, trailers) => {
    const other = commitOf(5, [1], { owner: b, takenFrom: a });
    expect(checkStep([root, other], commitOf(6, [1, 5], trailers))).toEqual(legal('merge'));
  });
});

describe('illegal steps', () => {
  it.each<[string, Partial<HandoffTrailers>, string]>([
    ['a foreign owner without a take', { owner: b }, 'foreign owner without a take'],
    ['a take from somebody else', { owner: b, takenFrom: c }, 'taken from somebody who did not own it'],
    ['a take from oneself', { owner: a, takenFrom: a }, 'taken from somebody who did not own it'],
    [
      'an owner that takes from another',
      { owner: a, takenFrom: b },
      'taken from somebody who did not own it',
    ],
    ['a succession of somebody else', { owner: b, succeeds: c }, 'taken from somebody who did not own it'],
    ['two ways at once', { owner: b, takenFrom: a, succeeds: a }, 'taken from somebody who did not own it'],
    [
      'a take beside another succession',
      { owner: b, takenFrom: a, succeeds: c },
      'taken from somebody who did not own it',
    ],
  ])('%s', (_what, trailers, reason) => expect(step(trailers)).toEqual(illegal(reason)));

  it.each([{ takenFrom: b }, { succeeds: b }])('a first note that claims a former owner: %j', (trailers) => {
    expect(checkStep([], commitOf(1, [], trailers))).toEqual(
      illegal('taken from somebody who did not own it'),
    );
  });

  it.each<[string, Partial<HandoffCommit>]>([
    ['unreadable trailers', { trailers: undefined }],
    ['unreadable state.json', { recorded: undefined }],
    ['no handoff.md', { hasNote: false }],
    ['note too large', { noteBytes: 1024 * 1024 + 1 }],
  ])('%s', (reason, broken) => {
    expect(checkStep([root], { ...commitOf(2, [1]), ...broken })).toEqual(illegal(reason));
    expect(checkStep([], { ...root, ...broken })).toEqual(illegal(reason));
  });

  it('a format version that this program does not know', () => {
    expect(checkStep([root], commitOf(2, [1], {}, { version: 2 }))).toEqual(
      illegal('unknown format version'),
    );
  });

  it('a parent whose owner cannot be read', () => {
    const unreadable = { ...root, trailers: undefined };
    expect(checkStep([unreadable], commitOf(2, [1]))).toEqual(illegal('unreadable trailers'));
    expect(checkStep([root, unreadable], commitOf(2, [1, 1]))).toEqual(illegal('unreadable trailers'));
  });

  it('three parents', () => {
    expect(checkStep([root, root, root], commitOf(2, [1, 1, 1]))).toEqual(illegal('too many parents'));
  });

  it('a merge by somebody who owns neither side', () => {
    const other = commitOf(5, [1], { owner: b, takenFrom: a });
    const merge = (trailers: Partial<HandoffTrailers>) =>
      checkStep([root, other], commitOf(6, [1, 5], trailers));
    expect(merge({ owner: c })).toEqual(illegal('foreign owner without a take'));
    expect(merge({ owner: c, takenFrom: b })).toEqual(illegal('taken from somebody who did not own it'));
  });
});

describe('moves', () => {
  const second = commitOf(2, [1]);
  const move = (changes: Partial<Move>): Move => ({
    old: root,
    next: second.oid,
    chain: [second],
    ...changes,
  });

  it('a move to itself is no step', () => {
    expect(checkMove(move({ next: root.oid, chain: [] }), HERE)).toEqual({ legal: true, steps: [] });
  });

  it('walks from the root if there was nothing', () => {
    const whole = { old: undefined, next: second.oid, chain: [root, second] };
    expect(checkMove(whole, HERE)).toEqual({ legal: true, steps: ['create', 'write'] });
  });

  it.each<[string, Partial<Move>, string]>([
    ['a deletion', { next: undefined, chain: [] }, 'deleted'],
    ['a rewind', { old: second, next: root.oid, chain: [] }, 'not a descendant'],
    ['another line', { next: oidOf(3), chain: [commitOf(3, [9])] }, 'not a descendant'],
    ['a line of its own', { next: oidOf(3), chain: [commitOf(3, [])] }, 'not a descendant'],
    ['a chain that ends elsewhere', { next: oidOf(77) }, 'not a descendant'],
    ['a merge whose second parent is unknown', { chain: [commitOf(2, [1, 8])] }, 'not a descendant'],
    ['another branch', { chain: [commitOf(2, [1], {}, { branch: 'dev' })] }, 'names another branch or topic'],
    [
      'another topic',
      { chain: [commitOf(2, [1], {}, { topic: 'auth-token' })] },
      'names another branch or topic',
    ],
    ['a foreign write', { chain: [commitOf(2, [1], { owner: b })] }, 'foreign owner without a take'],
  ])('%s is refused', (_what, changes, reason) => {
    expect(checkMove(move(changes), HERE)).toMatchObject({ legal: false, reason });
  });

  it('a merge is a legal move from either parent', () => {
    const [mine, theirs] = [commitOf(2, [1]), commitOf(3, [1], { owner: b, takenFrom: a })];
    const merge = commitOf(4, [3, 2], { owner: a, takenFrom: b });
    const from = (old: HandoffCommit, chain: HandoffCommit[]) =>
      checkMove({ old, next: merge.oid, chain, others: new Map([[root.oid, root]]) }, HERE);
    expect(from(theirs, [mine, merge])).toEqual({ legal: true, steps: ['write', 'merge'] });
    expect(from(mine, [theirs, merge])).toEqual({ legal: true, steps: ['take', 'merge'] });
  });

  it.each<[string, number[], string, boolean]>([
    ['the owner of the line that it goes on', [2, 3], 'a', true],
    ['another owner, in whose name the other line is', [2, 3], 'b', false],
    ['that one, with the other line as the first', [3, 2], 'b', false],
  ])('a merge without a take: %s', (_, parents, owner, isLegal) => {
    const old = commitOf(2, []);
    const orphan = commitOf(3, [], { owner: b });
    const merge = commitOf(4, parents, { owner: owner === 'a' ? a : b });
    const verdict = checkMove({ old, next: merge.oid, chain: [orphan, merge] }, HERE);
    const reason = 'foreign owner without a take';
    expect(verdict).toMatchObject(isLegal ? { legal: true } : { reason });
    // A history that version 0.1.0 made is accepted, and can be continued.
    const whole = { old: undefined, next: merge.oid, chain: [old, orphan, merge] };
    expect(checkMove(whole, HERE)).toMatchObject({ legal: true });
    const on = commitOf(5, [4], { owner: merge.trailers!.owner });
    expect(checkMove({ old: merge, next: on.oid, chain: [on] }, HERE)).toMatchObject({ legal: true });
  });

  it('a merge of another owner’s history is a take', () => {
    const old = commitOf(2, []);
    const orphan = commitOf(3, [], { owner: b });
    const merge = commitOf(4, [2, 3], { owner: b, takenFrom: a });
    expect(checkMove({ old, next: merge.oid, chain: [orphan, merge] }, HERE)).toMatchObject({ legal: true });
  });

  it('judges the history of a merge’s second parent, too', () => {
    const [mine, theirs] = [commitOf(2, [1]), commitOf(3, [1], { owner: b })];
    const chain = [theirs, commitOf(4, [2, 3], { owner: a })];
    expect(
      checkMove({ old: mine, next: oidOf(4), chain, others: new Map([[root.oid, root]]) }, HERE),
    ).toMatchObject({ reason: 'foreign owner without a take', at: oidOf(3) });
  });

  describe('a merge of a history with its own past, by its owner at that time', () => {
    const taken = commitOf(2, [1], { owner: b, takenFrom: a });
    const on = commitOf(3, [2], { owner: b });
    const others = new Map([root, taken].map((commit) => [commit.oid, commit] as const));
    it.each<[string, readonly number[]]>([
      ['past second', [3, 1]],
      ['past first', [1, 3]],
      ['the same twice', [3, 3]],
    ])('is refused: %s', (_what, parents) => {
      const merge = commitOf(4, parents, { owner: a });
      const reason = 'merge of its own past';
      const whole = { old: undefined, next: merge.oid, chain: [root, taken, on, merge] };
      const owner = parents[0] === parents[1] ? b : a;
      const again = { ...merge, trailers: { ...merge.trailers!, owner } };
      const chain = whole.chain.with(3, again);
      expect(checkMove({ ...whole, chain }, HERE)).toMatchObject({ reason });
      expect(checkMove({ old: on, next: merge.oid, chain: [again], others }, HERE)).toMatchObject({ reason });
    });
  });

  it('names the first bad commit of several', () => {
    const chain = [second, commitOf(3, [2], { owner: b }), commitOf(4, [3], { owner: b })];
    expect(checkMove({ old: root, next: oidOf(4), chain }, HERE)).toMatchObject({ at: oidOf(3) });
  });
});

describe('a history that continues under another topic', () => {
  const aside: Place = { ...HERE, topic: 'auth-refresh-2' as Topic };
  const diverged = (trailers: Partial<HandoffTrailers> = {}, topic = 'auth-refresh-2') =>
    commitOf(2, [1], { divergedFrom: 'auth-refresh' as Topic, ...trailers }, { topic });
  const judged = (chain: HandoffCommit[], place = aside) =>
    checkMove({ old: undefined, next: chain.at(-1)?.oid, chain }, place);

  it('is legal with everything written before', () => {
    const written = commitOf(3, [2], {}, { topic: 'auth-refresh-2' });
    expect(judged([root, diverged(), written])).toEqual({
      legal: true,
      steps: ['create', 'diverge', 'write'],
    });
  });

  it.each<[string, HandoffCommit[], Place]>([
    ['with another owner', [root, diverged({ owner: b, takenFrom: a })], aside],
    ['from a topic that it never was', [root, diverged({ divergedFrom: 'other-topic' as Topic })], aside],
    ['from nothing', [{ ...diverged(), parents: [] }], aside],
    ['without a new name', [root, diverged({}, 'auth-refresh')], HERE],
    ['at the place that it left', [root, diverged()], HERE],
    ['without saying so', [root, commitOf(2, [1], {}, { topic: 'auth-refresh-2' })], aside],
  ])('is refused %s', (_what, chain, place) => expect(judged(chain, place).legal).toBe(false));
});

/** Acts of three sessions: write or close a topic, and take it or succeed its owner. */
const acts = fc.array(
  fc.record({ who: fc.constantFrom(a, b, c), close: fc.boolean(), succeed: fc.boolean() }),
  {
    minLength: 1,
    maxLength: 12,
  },
);

/** A legal chain, oldest first: a session that does not own the topic takes it or succeeds its owner. */
function legalChain(script: readonly { who: typeof a; close: boolean; succeed: boolean }[]): HandoffCommit[] {
  const chain: HandoffCommit[] = [];
  for (const [index, { who, close, succeed }] of script.entries()) {
    const owner = chain.at(-1)?.trailers?.owner ?? who;
    const passing = owner === who ? {} : succeed ? { succeeds: owner } : { takenFrom: owner };
    const state = close ? 'closed' : 'open';
    chain.push(commitOf(index + 1, index === 0 ? [] : [index], { owner: who, state, ...passing }));
  }
  return chain;
}

const judge = (chain: readonly HandoffCommit[]) =>
  checkMove({ old: undefined, next: chain.at(-1)?.oid, chain }, HERE).legal;

describe('any chain', () => {
  it('of legal steps is legal, starting from any of its commits', () => {
    fc.assert(
      fc.property(acts, fc.nat(), (script, cut) => {
        const chain = legalChain(script);
        const at = cut % chain.length;
        expect(judge(chain)).toBe(true);
        expect(
          checkMove({ old: chain[at], next: chain.at(-1)!.oid, chain: chain.slice(at + 1) }, HERE).legal,
        ).toBe(true);
      }),
    );
  });

  it('with one commit changed in owner, former owner or parent is refused', () => {
    const stranger = sessionOf('x');
    const mutations: ((commit: HandoffCommit) => HandoffCommit)[] = [
      (one) => ({ ...one, trailers: { ...one.trailers!, owner: stranger } }),
      (one) => ({ ...one, trailers: { ...one.trailers!, takenFrom: stranger } }),
      (one) => ({ ...one, trailers: { ...one.trailers!, succeeds: stranger } }),
      (one) => ({ ...one, parents: [oidOf(999)] }),
      (one) => ({ ...one, trailers: undefined }),
    ];
    fc.assert(
      fc.property(acts, fc.nat(), fc.constantFrom(...mutations), (script, cut, mutate) => {
        const chain = legalChain(script);
        const at = cut % chain.length;
        const mutated = chain.with(at, mutate(chain[at]!));
        // Anybody may begin or take a topic. If the last commit does, no later commit contradicts a changed owner.
        const free =
          at === chain.length - 1 &&
          (at === 0 || chain[at]!.trailers!.owner !== chain[at - 1]!.trailers!.owner);
        fc.pre(!(free && mutate === mutations[0]));
        expect(judge(mutated)).toBe(false);
      }),
    );
  });

  it('that loses a take is refused', () => {
    fc.assert(
      fc.property(acts, fc.nat(), (script, cut) => {
        const chain = legalChain(script);
        const at = cut % chain.length;
        const { takenFrom, succeeds } = chain[at]!.trailers!;
        fc.pre(takenFrom !== undefined || succeeds !== undefined);
        const trailers = { ...chain[at]!.trailers!, takenFrom: undefined, succeeds: undefined };
        expect(judge(chain.with(at, { ...chain[at]!, trailers }))).toBe(false);
      }),
    );
  });
});
