import { describe, expect, it } from 'vitest';
import { compactLines } from '../../../src/domain/journal/compact.ts';
import type { JournalEvent, JournalLine } from '../../../src/domain/journal/events.ts';
import { ofAgent } from '../../../src/domain/journal/events.ts';
import { foldJournal } from '../../../src/domain/journal/fold.ts';
import type { SessionLedger } from '../../../src/domain/ledger/claims.ts';
import { ledgersIn, runningOwners } from '../../../src/domain/ledger/sub-agents.ts';
import { ownerId } from '../../../src/domain/names.ts';
import { type JudgedSession, groupSessions } from '../../../src/sessions/records.ts';
import { sessionOf } from '../../support/chain.ts';
import { blob, claim, oid } from './facts.ts';

const [self, peer] = [sessionOf('a'), sessionOf('b')];
const [x, y] = [ownerId(self, 'x'), ownerId(self, 'y')];

const start = (agent: string): JournalLine => ({
  tree: undefined,
  event: { t: 'agent-started', agent, at: 1 },
});
const end = (agent?: string): JournalLine => ({
  tree: undefined,
  event: { t: 'agent-ended', ...(agent === undefined ? {} : { agent }), at: 9 },
});
const by = (agent: string | undefined, event: JournalEvent): JournalLine => ({
  tree: 'main',
  event: ofAgent(event, agent),
});
const change = (agent: string | undefined, path: string, from: number, to: number, at = to): JournalLine =>
  by(agent, claim(path, blob(from), blob(to), { base: blob(1), at }));

/** Each owner with a path and how its content changed. */
const whose = (ledgers: readonly SessionLedger[]) =>
  ledgers.flatMap(({ session, claims }) =>
    [...claims.values()].map((one) => {
      expect(one.session).toBe(session);
      const steps = one.changes.map(
        ({ before, after }) => `${before?.oid?.slice(-1) ?? '-'}${after?.oid?.slice(-1) ?? '-'}`,
      );
      return `${session.split('/')[1] ?? 'main'} ${one.path} ${steps.join(' ')}`;
    }),
  );

describe('owners of changes, by what the journal says about sub-agents', () => {
  it.each<[string, JournalLine[], string[]]>([
    ['its own while it runs', [start('x'), change('x', 'f', 1, 2)], ['x f 12']],
    ['its session’s when it has ended', [start('x'), change('x', 'f', 1, 2), end('x')], ['main f 12']],
    ['its own again when it runs again', [start('x'), change('x', 'f', 1, 2), end(), start('x')], ['x f 12']],
    ['its session’s if it never began as an owner', [change('x', 'f', 1, 2)], ['main f 12']],
    ['each one’s own in a file of several', [start('x'), start('y'), change(undefined, 'f', 1, 2), change('x', 'f', 2, 3), change('y', 'f', 3, 4)], ['main f 12', 'x f 23', 'y f 34']],
    ['one chain of the session when all have ended', [start('x'), start('y'), change('y', 'f', 1, 2), change('x', 'f', 2, 3), change(undefined, 'f', 3, 4), end()], ['main f 14']],
    ['two parts when somebody else changed it in between', [start('x'), change('x', 'f', 1, 2), change(undefined, 'f', 3, 4), end()], ['main f 12 34']],
    ['over where the session’s claim ends, but not a running one’s', [start('x'), start('y'), change('x', 'f', 1, 2), change('y', 'f', 2, 3), end('x'), by(undefined, { t: 'end', path: 'f', why: 'committed', at: 9 })], ['y f 23']],
    ['over where its own claim ends, and nobody else’s', [start('x'), change(undefined, 'f', 1, 2), change('x', 'f', 2, 3), by('x', { t: 'end', path: 'f', why: 'committed', at: 9 })], ['main f 12']],
    ['its session’s when that has ended', [start('x'), change('x', 'f', 1, 2), { tree: undefined, event: { t: 'ended', at: 9 } }], ['main f 12']],
  ])('%s', (_, lines, found) => {
    const journal = foldJournal(self, lines);
    expect(whose(ledgersIn(journal, 'main'))).toEqual(found);
    expect(whose(ledgersIn(foldJournal(self, compactLines(journal, 0)), 'main'))).toEqual(found);
  }); // prettier-ignore

  it('separate commits: a sub-agent’s is not its sibling’s', () => {
    const commit: JournalEvent = { t: 'commit', parent: oid(1), paths: [['f', blob(7)]], at: 5 };
    const changes = [change(undefined, 'f', 1, 2), change('x', 'f', 2, 3), change('y', 'f', 3, 4)];
    const journal = foldJournal(self, [start('x'), start('y'), ...changes, by('x', commit)]);
    const committed = ledgersIn(journal, 'main').map(({ claims }) => claims.get('f')?.committed);
    expect(committed).toEqual([[blob(7)], [blob(7)], []]);
  });

  it('end a sub-agent’s command when it reports its end, not when only its session continues', () => {
    const facts = { named: [], commits: true, merged: '', looked: true, look: '{}' };
    const command: JournalEvent = { t: 'command', id: 'c', agent: 'x', ...facts, at: 1 };
    const running = (...lines: JournalLine[]) =>
      ledgersIn(foldJournal(self, [start('x'), by('x', command), ...lines]), 'main').flatMap(
        ({ session, commands }) => [...commands.keys()].map((id) => [session, id]),
      );
    expect(running()).toEqual([[x, 'c']]);
    expect(running(end('x'))).toEqual([]);
    expect(running(end())).toEqual([[self, 'c']]);
    expect(running(end(), by(undefined, { t: 'command-end', id: 'c', from: 1, at: 3 }))).toEqual([]);
  });

  it('let a sub-agent know what its session knows, and report its own news', () => {
    const head: JournalEvent = { t: 'head', ref: 'refs/heads/main', oid: oid(1), own: true, at: 1 };
    const news: JournalEvent = { t: 'news', id: 'n', text: 'news', at: 1 };
    const request: JournalEvent = { t: 'request', to: y, wish: 'edit', paths: ['f'], at: 1 };
    const lines = [start('x'), start('y'), by(undefined, head), by(undefined, news), by('x', request)];
    const [whole, ofX, ofY] = ledgersIn(foldJournal(self, lines), 'main');
    for (const ledger of [whole, ofX, ofY]) expect(ledger?.head).toEqual(head);
    expect([whole, ofX, ofY].map((one) => one?.news.length)).toEqual([1, 0, 0]);
    expect([whole, ofX, ofY].map((one) => one?.requests.length)).toEqual([0, 1, 0]);
    expect(runningOwners(foldJournal(self, lines))).toEqual([x, y]);
  });

  it('separate where a sub-agent saw HEAD, and what it heard, until it has ended', () => {
    const head = (branch: string, own: boolean, at: number): JournalEvent => {
      return { t: 'head', ref: `refs/heads/${branch}`, oid: oid(1), own, at };
    };
    const heard: JournalEvent = { t: 'notified', ids: ['n'], at: 3 };
    const lines = [
      ...[start('x'), start('y'), by(undefined, head('main', false, 1)), by('y', head('main', false, 1))],
      ...[by('x', head('feat', true, 2)), by('x', heard)],
    ];
    const known = (more: readonly JournalLine[], forgetBefore: number) => {
      const journal = foldJournal(self, [...lines, ...more]);
      const found = [journal, foldJournal(self, compactLines(journal, forgetBefore))].map((one) =>
        ledgersIn(one, 'main').map(({ head: seen, moves, notified }) => {
          return [seen?.ref.slice(11), moves.map(({ by: mover }) => mover ?? 'itself'), [...notified.keys()]];
        }),
      );
      return found;
    };
    const running = [['main', [], []], ['feat', ['itself'], ['n']], ['main', [], []]]; // prettier-ignore
    const ended = [['feat', [x], ['n']], ['main', [], []]]; // prettier-ignore
    expect(known([], 9)).toEqual([running, running]);
    expect(known([end('x')], 0)).toEqual([ended, ended]);
    const began = (agent: string | undefined, mark: string, at: number) =>
      by(agent, { t: 'operation', mark, at });
    const marks = [began('x', 'one', 1), began('x', 'two', 2), began(undefined, 'own', 3)];
    let journal = foldJournal(self, [...lines, ...marks, end('x')]);
    for (let times = 0; times < 3; times += 1) {
      journal = foldJournal(self, compactLines(journal, 9));
      expect(ledgersIn(journal, 'main')[0]?.operations.map(({ mark }) => mark)).toEqual([
        'own',
        'one',
        'two',
      ]);
    }
    const over = foldJournal(self, [...lines, end('x')]);
    expect(foldJournal(self, compactLines(over, 0)).agents.get('x')?.hasEnded).toBe(true);
    // Its session still knows what the sub-agent knew.
    expect(known([end('x')], 9)).toEqual([ended, [['feat', [], ['n']], ['main', [], []]]]); // prettier-ignore
  });
});

describe('who works beside whom, with running sub-agents', () => {
  const other = ownerId(peer, 'z');
  const session = (id: typeof self): JudgedSession =>
    ({
      worktreeId: 'main',
      liveness: 'live',
      isAtWork: true,
      record: { session: id, client: 'claude', parent: null, succeeds: null },
    }) as JudgedSession;

  it.each([
    ['a session', self, [self, x, y], [peer, other]],
    ['a sub-agent', x, [self, x], [peer, y, other]],
    ['another session', peer, [peer, other], [self, x, y]],
    ['a person', undefined, [], [self, peer, x, y, other]],
  ])('%s', (_, asking, own, foreign) => {
    const groups = groupSessions(asking, [session(self), session(peer)], [x, y, other]);
    expect([...groups.own].sort()).toEqual([...own].sort());
    expect([...groups.foreign].sort()).toEqual([...foreign].sort());
    expect([...(groups.idle ?? [])]).toEqual([]);
  });
});
