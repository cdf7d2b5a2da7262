import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compactLines } from '../../../src/domain/journal/compact.ts';
import type { EventOf, JournalEvent, JournalLine } from '../../../src/domain/journal/events.ts';
import { type SessionJournal, foldJournal } from '../../../src/domain/journal/fold.ts';
import { formatLines, parseLines, ofAgent } from '../../../src/domain/journal/events.ts';
import type { SessionLedger } from '../../../src/domain/ledger/claims.ts';
import { ledgersIn, treesIn } from '../../../src/domain/ledger/sub-agents.ts';
import { EVIDENCE, type FileState, WISHES } from '../../../src/domain/ledger/tree-status.ts';
import { sessionOf } from '../../support/chain.ts';
import { blob, oid } from '../ledger/facts.ts';

const [self, peer] = [sessionOf('a'), sessionOf('b')];
const here = (...events: JournalEvent[]) => events.map((event): JournalLine => ({ tree: 'main', event }));
const anywhere = (...events: JournalEvent[]) =>
  events.map((event): JournalLine => ({ tree: undefined, event }));
const facts = { agent: '', named: ['f'], commits: false, merged: '', looked: true };
const command: EventOf<'command'> = { t: 'command', id: 'c', ...facts, look: '{}', at: 1 };

describe('the state after the events of one worktree', () => {
  it.each<[string, JournalEvent[], Partial<SessionLedger>]>([
    ['a command runs until it ends', [command], { commands: new Map([['c', command]]), windows: [] }], // prettier-ignore
    ['its time stays when it is over', [command, { t: 'command-end', id: 'c', from: 1, at: 3 }], { commands: new Map(), windows: [{ session: self, id: 'c', from: 1, to: 3 }] }], // prettier-ignore
    ['one that nobody reports is only forgotten', [command, { t: 'command-end', id: 'c', at: 3 }], { commands: new Map(), windows: [] }], // prettier-ignore
    ['a session is registered under each of its processes, when last', [{ t: 'registered', pid: 7, start: 'x y', at: 1 }, { t: 'registered', pid: 7, start: 'x y', at: 5 }], { registrations: new Map([['7 x y', { t: 'registered', pid: 7, start: 'x y', at: 5 }]]) }], // prettier-ignore
    ['an unregistered one under none', [{ t: 'registered', pid: 7, start: 'x', at: 1 }, { t: 'unregistered', at: 2 }], { registrations: new Map() }], // prettier-ignore
    ['a time alone is paused', [{ t: 'alone', look: 'l', at: 1 }, { t: 'paused', look: 'p', at: 2 }], { lasting: { alone: { t: 'alone', look: 'l', at: 1 }, paused: { t: 'paused', look: 'p', at: 2 } } }], // prettier-ignore
    ['and is over when it is settled', [{ t: 'alone', look: 'l', at: 1 }, { t: 'paused', look: 'p', at: 2 }, { t: 'not-alone', at: 3 }], { lasting: {} }], // prettier-ignore
    ['an operation is on record once', [{ t: 'operation', mark: 'm', merged: oid(1), at: 1 }, { t: 'operation', mark: 'm', at: 2 }], { operations: [{ t: 'operation', mark: 'm', merged: oid(1), at: 1 }] }], // prettier-ignore
    [
      'a visit lasts until its end',
      [{ t: 'visit', top: '/w', at: 1 }],
      { lasting: { visit: { t: 'visit', top: '/w', at: 1 } } },
    ],
    ['and no longer', [{ t: 'visit', top: '/w', at: 1 }, { t: 'visit-end', at: 2 }], { lasting: {} }], // prettier-ignore
    ['a note is due until it is left', [{ t: 'note-due', at: 1 }, { t: 'note-left', process: '7 x', at: 2 }], { lasting: { 'note-left': { t: 'note-left', process: '7 x', at: 2 } } }], // prettier-ignore
    ['what was heard counts from the first time', [{ t: 'notified', ids: ['n'], at: 1 }, { t: 'notified', ids: ['n', 'm'], at: 2 }], { notified: new Map([['n', 1], ['m', 2]]) }], // prettier-ignore
  ])('%s', (_, events, found) => {
    const ledger = foldJournal(self, here(...events)).trees.get('main');
    expect(ledger).toMatchObject(found);
    if (found.lasting !== undefined) expect(ledger?.lasting).toEqual(found.lasting);
  });
});

describe('the state after the events of a session', () => {
  it.each<[string, JournalLine[], Partial<SessionJournal>]>([
    ['its last model counts', anywhere({ t: 'model', name: 'A:1', at: 1 }, { t: 'model', name: 'A:2', at: 2 }), { model: { t: 'model', name: 'A:2', at: 2 } }], // prettier-ignore
    ['it was asked at a stop, now or before', anywhere({ t: 'asked', note: 'a', atStop: true, at: 1 }, { t: 'asked', note: 'b', atStop: false, at: 2 }), { asked: { t: 'asked', note: 'b', atStop: true, at: 2 } }], // prettier-ignore
    ['the first call says it', anywhere({ t: 'notified', ids: ['n'], by: 'x', at: 1 }, { t: 'notified', ids: ['n'], by: 'y', at: 2 }), { notified: new Map([['n', { t: 'notified', ids: ['n'], by: 'x', at: 1 }]]) }], // prettier-ignore
    ['when it ends, what it heard and was asked is over', anywhere({ t: 'asked', note: 'a', atStop: true, at: 1 }, { t: 'notified', ids: ['n'], at: 1 }, { t: 'ended', at: 2 }), { asked: undefined, notified: new Map() }], // prettier-ignore
    ['a command that stashes knows what was there before', anywhere({ t: 'stashing', before: [oid(1)], at: 1 }), { stashing: { t: 'stashing', before: [oid(1)], at: 1 }, stashed: new Set() }], // prettier-ignore
    ['until it is over: what it made is its own', anywhere({ t: 'stashing', before: [oid(1)], at: 1 }, { t: 'stashed', entries: [oid(2)], at: 2 }, { t: 'ended', at: 3 }), { stashing: undefined, stashed: new Set([oid(2)]) }], // prettier-ignore
  ])('%s', (_, lines, found) => {
    const journal = foldJournal(self, lines);
    expect(journal).toMatchObject(found);
    expect(foldJournal(self, compactLines(journal, 0))).toMatchObject(found);
  });

  it('counts a change once that was undone and made again', () => {
    const change = {
      t: 'claim',
      path: 'f',
      base: blob(1),
      before: blob(1),
      after: blob(2),
      weak: false,
    } as const;
    const events = ([1, 2] as const).map((at) => ({ ...change, evidence: 'named', at }) as const);
    const claim = foldJournal(self, here(...events))
      .trees.get('main')
      ?.claims.get('f');
    expect(claim?.changes).toEqual([{ before: blob(1), after: blob(2) }]);
  });

  it('ends what runs in every worktree, and keeps the changes', () => {
    const claim = { t: 'claim', path: 'f', base: null, before: null, after: blob(2) } as const;
    const before: JournalEvent[] = [
      command,
      { t: 'registered', pid: 7, start: 'x', at: 1 },
      { ...claim, evidence: 'explicit', weak: false, at: 1 },
    ];
    const lines = [...here(...before), ...anywhere({ t: 'ended', at: 2 })];
    const ledger = foldJournal(self, lines).trees.get('main');
    expect([ledger?.commands.size, ledger?.registrations.size, ledger?.claims.size]).toEqual([0, 0, 1]);
  });
});

const at = fc.integer({ min: 0, max: 1000 });
const text = fc.string();
const path = fc.constantFrom('a', 'b', 'c d', 'n\nl', 'ü');
const state: fc.Arbitrary<FileState> = fc.oneof(
  fc.constant(null),
  fc.integer({ min: 1, max: 9 }).map((n) => blob(n)),
  fc.constant({ mode: '160000', oid: null }),
);
const paths = fc.array(path, { maxLength: 3 });
const kind = <Kind extends JournalEvent['t']>(t: Kind) => fc.constant(t);
const flags = { commits: fc.boolean(), looked: fc.boolean() };
const event: fc.Arbitrary<JournalEvent> = fc.oneof(
  fc.record({
    ...{ t: kind('claim'), path, base: state, before: state, after: state, at },
    ...{ evidence: fc.constantFrom(...EVIDENCE), weak: fc.boolean() },
  }),
  fc.record({ t: kind('end'), path, why: fc.constantFrom('clean' as const, 'taken' as const), at }),
  fc.record({ t: kind('staged'), path, state, at }),
  fc.record({ t: kind('commit'), parent: fc.constant(oid(3)), paths: fc.array(fc.tuple(path, state)), at }),
  fc.record({ t: kind('head'), ref: text, oid: fc.constant(oid(4)), own: fc.boolean(), at }),
  fc.record({ t: kind('news'), id: text, text, at }),
  fc.record({ t: kind('request'), to: fc.constant(peer), wish: fc.constantFrom(...WISHES), paths, at }),
  fc.record({ t: kind('notified'), ids: fc.array(text), at }),
  fc.record({
    t: kind('command'),
    id: text,
    look: text,
    agent: text,
    named: paths,
    merged: text,
    ...flags,
    at,
  }),
  fc.record({ t: kind('command-end'), id: text, from: at, at }),
  fc.record({ t: kind('registered'), pid: fc.nat(), start: text, at }),
  fc.record({ t: kind('visit'), top: text, at }),
  fc.record({ t: kind('alone'), look: text, at }),
  fc.record({ t: kind('note-left'), process: text, at }),
);
const ofStash = fc.oneof(
  fc.record({ t: kind('stashing'), before: fc.array(fc.constant(oid(5))), at }),
  fc.record({ t: kind('stashed'), entries: fc.array(fc.constant(oid(6))), at }),
  fc.record({ t: kind('refused'), text, at }),
);
const agent = fc.constantFrom('x', 'y');
const ofAgents = fc.oneof(
  fc.record({ t: kind('agent-started'), agent, at }),
  fc.record({ t: kind('agent-ended'), agent, at }),
);
const OF_AGENTS: readonly JournalEvent['t'][] = [
  'claim',
  'end',
  'staged',
  'commit',
  'request',
  'command-end',
];
const named = fc
  .tuple(event, fc.option(agent, { nil: undefined }))
  .map(([one, name]) => (OF_AGENTS.includes(one.t) ? ofAgent(one, name) : one));
const line: fc.Arbitrary<JournalLine> = fc.oneof(
  fc.record({ tree: fc.constantFrom('main', 'linked'), event: named }),
  fc.record({ tree: fc.constant(undefined), event: fc.oneof(ofStash, ofAgents) }),
);

describe('a journal', () => {
  it('returns every event, whatever it contains', () => {
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        expect(parseLines(formatLines(lines))).toEqual(lines);
      }),
    );
  });

  it('loses a torn last line and nothing else', () => {
    fc.assert(
      fc.property(fc.array(line, { minLength: 1 }), fc.nat(), (lines, cut) => {
        const whole = formatLines(lines);
        const torn = whole.slice(0, whole.length - 1 - (cut % (whole.length - 1)));
        const kept = torn.split('\n').length - 1;
        expect(parseLines(torn).slice(0, kept)).toEqual(lines.slice(0, kept));
        expect(parseLines(torn).length).toBeLessThanOrEqual(kept + 1);
      }),
    );
  });

  it.each([
    '',
    '{',
    'null',
    '[]',
    '{"t":"claim","at":1}',
    '{"t":"claim","path":"","at":1}',
    '{"t":"new","at":1}',
    '{"t":"toString","at":1}',
    '{"t":"end","path":"f","why":"x","at":1}',
    '{"t":"claim","path":"f\\u0000g","evidence":"window","at":1}',
  ])('skips what is no event: %s', (one) => {
    expect(parseLines(`${one}\n`)).toEqual([]);
  });

  it('has the same result after it was compacted', () => {
    const shape = ({ claims, head, notified, requests, ...ledger }: SessionLedger) => ({
      claims: [...claims.values()].map((one) => ({ ...one, since: 0, at: 0, changes: one.changes })),
      ...{ head, requests, notified: [...notified].slice(-256) },
      ...{ commands: ledger.commands, registrations: ledger.registrations, lasting: ledger.lasting },
    });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
        const before = foldJournal(self, lines);
        const after = foldJournal(self, compactLines(before, 0));
        expect(after.refusals).toEqual(before.refusals);
        for (const tree of treesIn(after)) {
          expect(ledgersIn(after, tree).map(shape)).toEqual(ledgersIn(before, tree).map(shape));
        }
      }),
    );
  });

  it('is folded in a time proportional to its length', () => {
    const claim = { t: 'claim', path: 'f', base: null, evidence: 'explicit', weak: false, at: 1 } as const;
    const linesOf = (n: number) =>
      here(...Array.from({ length: n }, (_, i): JournalEvent => ({ ...claim, before: blob(i % 7), after: blob((i + 3) % 7) }))); // prettier-ignore
    const claims = foldJournal(self, linesOf(100_000)).trees.get('main')?.claims.get('f');
    expect(claims?.changes.length).toBeGreaterThan(50_000);
  });
});
