import { describe, expect, it } from 'vitest';
import type { WorktreeEvent } from '../../../src/domain/journal/events.ts';
import { type SessionJournal, foldJournal, foldLedger } from '../../../src/domain/journal/fold.ts';
import { compactLines } from '../../../src/domain/journal/compact.ts';
import { formatLines, parseLines } from '../../../src/domain/journal/events.ts';
import { carriesOn, conversationOf, openRequests, wishText } from '../../../src/domain/ledger/ownership.ts';
import { WISHES } from '../../../src/domain/ledger/tree-status.ts';
import { sessionOf } from '../../support/chain.ts';
import { blob, claim } from './facts.ts';

const [a, b, c] = [sessionOf('a'), sessionOf('b'), sessionOf('c')];

/** The request to A when a session was refused, at this time, to protect A's work. */
const asks = (at: number, ...paths: string[]): WorktreeEvent => ({
  t: 'request',
  to: a,
  wish: 'edit',
  paths,
  at,
});
const claims = (path: string, at: number) => claim(path, blob(1), blob(2), { at });
const ends = (path: string, why: 'clean' | 'committed' | 'taken', at: number): WorktreeEvent => ({
  t: 'end',
  path,
  why,
  at,
});
const open = (ofA: WorktreeEvent[], ofB: WorktreeEvent[], ofC: WorktreeEvent[] = []) =>
  openRequests([foldLedger(a, ofA), foldLedger(b, ofB), foldLedger(c, ofC)]);
const inTree = (...events: WorktreeEvent[]) => events.map((event) => ({ tree: 'main', event }));
const ledgersOf = (journals: readonly SessionJournal[]) =>
  journals.flatMap(({ trees }) => [...trees.values()]);
const shown = (...ledgers: Parameters<typeof open>) =>
  open(...ledgers).map(({ from, path, at }) => [from === b ? 'b' : 'c', path, at]);

describe('a request', () => {
  it.each<[string, Parameters<typeof open>, unknown[]]>([
    ['is open while its path is claimed', [[claims('f', 1)], [asks(2, 'f')]], [['b', 'f', 2]]],
    ['names each path apart', [[claims('f', 1), claims('g', 1)], [asks(2, 'f', 'g')]], [['b', 'f', 2], ['b', 'g', 2]]], // prettier-ignore
    ['is one for a pair and a path', [[claims('f', 1)], [asks(2, 'f'), asks(3, 'f')]], [['b', 'f', 2]]],
    ['is another one of another session', [[claims('f', 1)], [asks(3, 'f')], [asks(2, 'f')]], [['c', 'f', 2], ['b', 'f', 3]]], // prettier-ignore
    ['ends with the commit', [[claims('f', 1), ends('f', 'committed', 3)], [asks(2, 'f')]], []],
    ['ends when the change is undone', [[claims('f', 1), ends('f', 'clean', 3)], [asks(2, 'f')]], []],
    ['ends when it is taken', [[claims('f', 1), ends('f', 'taken', 3)], [asks(2, 'f')]], []],
    ['ends for the paths that are done', [[claims('f', 1), claims('g', 1), ends('f', 'committed', 3)], [asks(2, 'f', 'g')]], [['b', 'g', 2]]], // prettier-ignore
    ['does not hold for a later change', [[claims('f', 1), ends('f', 'committed', 3), claims('f', 4)], [asks(2, 'f')]], []], // prettier-ignore
    [
      'goes on while the same change grows',
      [[claims('f', 1), claims('f', 9)], [asks(2, 'f')]],
      [['b', 'f', 2]],
    ],
    ['is of nobody who claims nothing', [[], [asks(2, 'f')]], []],
  ])('%s', (_, ledgers, found) => {
    expect(shown(...ledgers)).toEqual(found);
  });

  it('is delivered once even if a session asks twice, and again for a later change', () => {
    const ofA = [claims('f', 1)];
    const [request] = open(ofA, [asks(2, 'f')]);
    expect(request?.handedAt).toBeUndefined();
    const handed: WorktreeEvent = { t: 'notified', ids: [request?.id ?? ''], at: 5 };
    expect(open([...ofA, handed], [asks(2, 'f'), asks(6, 'f')])).toMatchObject([{ at: 2, handedAt: 5 }]);
    const again = [...ofA, handed, ends('f', 'committed', 7), claims('f', 8)];
    expect(open(again, [asks(2, 'f'), asks(9, 'f')])).toMatchObject([{ at: 9, handedAt: undefined }]);
  });

  it('is the same after both ledgers were rewritten', () => {
    const handed: WorktreeEvent = { t: 'notified', ids: [`request:${b}:1:f`], at: 5 };
    const journals = [foldJournal(a, inTree(claims('f', 1), handed)), foldJournal(b, inTree(asks(2, 'f')))];
    const before = ledgersOf(journals);
    const after = ledgersOf(journals.map((one) => foldJournal(one.session, compactLines(one, 0))));
    expect(openRequests(before)).toMatchObject([{ handedAt: 5 }]);
    expect(openRequests(after)).toEqual(openRequests(before));
  });

  it('that was cut off in the middle does not count, and is made again', () => {
    const ofA = foldLedger(a, [claims('f', 1)]);
    const text = formatLines(inTree(asks(2, 'f')));
    for (let cut = 0; cut <= text.length; cut += 1) {
      const read = (more: string) => {
        const [ledger] = ledgersOf([foldJournal(b, parseLines(text.slice(0, cut) + more))]);
        return ledger ?? foldLedger(b, []);
      };
      expect(openRequests([ofA, read('')]).length).toBe(cut >= text.length - 1 ? 1 : 0);
      expect(openRequests([ofA, read(`\n${text}`)])).toHaveLength(1);
    }
  });

  it('says in our own words what was wanted', () => {
    expect(WISHES.map((wish) => wishText('codex bbbbbbbb', wish, 'src/a.ts'))).toEqual([
      'codex bbbbbbbb wants to edit src/a.ts',
      'codex bbbbbbbb wants to commit src/a.ts',
      'codex bbbbbbbb wants to discard changes in src/a.ts',
      'codex bbbbbbbb wants to stash src/a.ts',
      'codex bbbbbbbb wants to switch branches and would take along src/a.ts',
    ]);
  });
});

describe('a conversation that continues under other ids', () => {
  const heir = (id: typeof a, former: typeof a) =>
    foldLedger(id, [{ t: 'notified', ids: [carriesOn(former)], at: 1 }]);

  it('includes all its sessions up to this one, and no others', () => {
    const ledgers = [foldLedger(a, []), heir(b, a), heir(c, b), foldLedger(sessionOf('d'), [])];
    expect([...conversationOf(c, ledgers)]).toEqual([c, b, a]);
    expect([...conversationOf(a, ledgers)]).toEqual([a]);
  });
});
