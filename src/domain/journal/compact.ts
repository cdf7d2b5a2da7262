import { MAX_TRIED } from '../tried.ts';
import type { OpenClaim, SessionLedger } from '../ledger/claims.ts';
import { type EventOf, type JournalLine, type SessionEvent, type WorktreeEvent, ofAgent } from './events.ts';
import { type AgentWork, type SessionJournal, emptyLedger } from './fold.ts';
import { ledgersIn, treesIn } from '../ledger/sub-agents.ts';

/** How many heard notices, refusals (which `board` shows) and stash entries are remembered. */
const MAX_NOTIFIED = 256;
const MAX_REFUSALS = 100;
const MAX_STASHED = 500;

/** Returns the events that fold to a claim. */
export function claimEvents(claim: OpenClaim): EventOf<'claim'>[] {
  const { path, base, changes, evidence, weak, agent, began, since, at } = claim;
  return changes.map((change, n) => {
    return { t: 'claim', path, base, ...change, evidence, weak, agent, began, at: n === 0 ? since : at };
  });
}

/**
 * Returns fewer lines that fold to the same journal, except that news, finished commands and commits from before `forgetBefore`
 * are gone: they matter only for a while.
 */
export function compactLines(journal: SessionJournal, forgetBefore: number): JournalLine[] {
  const known = [...journal.agents]
    .map(([agent, work]) => ({ agent, ...work, lines: agentLines(agent, work, forgetBefore) }))
    .filter(({ isRunning, lines }) => isRunning || lines.length > 0);
  const running = known.filter(({ isRunning }) => isRunning);
  const own = treesIn(journal).flatMap((tree) => {
    const ledger = knowingLedger(journal, tree);
    return inTree(tree, [...pathEvents(ledger, forgetBefore), ...otherEvents(ledger, forgetBefore)]);
  });
  const over = known.flatMap(({ agent, hasEnded }) => (hasEnded ? [agent] : []));
  const ends = [...over, undefined].map((agent) => anywhere({ t: 'agent-ended', agent, at: 0 }));
  // Before these lines, all known sub-agents count as running, so that the session's lines do not change their ledgers.
  const ended = known.length === running.length ? [] : [...ends, ...running.map(startOf)];
  const whole = sessionEvents(journal).map(anywhere);
  return [...whole, ...known.map(startOf), ...known.flatMap(({ lines }) => lines), ...own, ...ended];
}

const anywhere = (event: SessionEvent): JournalLine => ({ tree: undefined, event });
const inTree = (tree: string, events: readonly WorktreeEvent[]): JournalLine[] =>
  events.map((event) => ({ tree, event }));
const startOf = ({ agent }: { readonly agent: string }) => anywhere({ t: 'agent-started', agent, at: 0 });

/** A session's own ledger, with what its stopped sub-agents knew. */
function knowingLedger(journal: SessionJournal, tree: string): SessionLedger {
  const own = journal.trees.get(tree) ?? emptyLedger(journal.session);
  const { head, notified } = ledgersIn(journal, tree)[0] ?? own;
  const plain = head === own.head ? head : head && { ...head, own: false, agent: undefined };
  return { ...own, head: plain, notified };
}

/** A sub-agent's lines. If it no longer runs, its session knows the same: of old lines, only paths and operations are kept. */
function agentLines(agent: string, { isRunning, trees }: AgentWork, forgetBefore: number): JournalLine[] {
  const isKept = ({ t, at }: WorktreeEvent) => isRunning || t === 'operation' || at >= forgetBefore;
  return [...trees].flatMap(([tree, ledger]) => {
    const others = otherEvents(ledger, forgetBefore).filter(isKept);
    const events = [...pathEvents(ledger, forgetBefore), ...others];
    return inTree(
      tree,
      events.map((event) => ofAgent(event, agent)),
    );
  });
}

function sessionEvents(journal: SessionJournal): SessionEvent[] {
  const { model, asked, notified, stashing, refusals } = journal;
  const entries = [...journal.stashed].slice(-MAX_STASHED);
  return [
    ...(entries.length === 0 ? [] : [{ t: 'stashed', entries, at: 0 } as const]),
    ...[stashing, model, asked].flatMap((event) => event ?? []),
    ...refusals.slice(-MAX_REFUSALS),
    ...new Set([...notified.values()].slice(-MAX_NOTIFIED)),
  ];
}

function pathEvents(ledger: SessionLedger, forgetBefore: number): WorktreeEvent[] {
  const events: WorktreeEvent[] = [];
  for (const claim of ledger.ended.values()) {
    const { path, at } = claim;
    if (at >= forgetBefore) events.push(...claimEvents(claim), { t: 'end', path, why: 'clean', at });
  }
  for (const claim of ledger.claims.values()) {
    const { path, at, committed } = claim;
    events.push(...claimEvents(claim));
    for (const state of committed) events.push({ t: 'commit', parent: null, paths: [[path, state]], at });
  }
  for (const [path, by] of ledger.taken) events.push({ t: 'end', path, why: 'taken', by, at: forgetBefore });
  for (const states of ledger.staged.values()) events.push(...states.slice(-4));
  for (const commit of ledger.commits.slice(-8)) {
    // A path with an open claim must not look committed.
    const paths = commit.paths.filter(([path]) => !ledger.claims.has(path));
    if (commit.at >= forgetBefore) events.push({ t: 'commit', parent: commit.parent, paths, at: commit.at });
  }
  for (const [path, event] of ledger.announced) events.push({ ...event, paths: [path] });
  return events;
}

function otherEvents(ledger: SessionLedger, forgetBefore: number): WorktreeEvent[] {
  const isRecent = ({ at }: { readonly at: number }) => at >= forgetBefore;
  const isMove = ledger.head === ledger.moves.at(-1);
  return [
    ...ledger.moves.slice(-8),
    ...(ledger.head === undefined || isMove ? [] : [ledger.head]),
    ...ledger.news.filter(isRecent),
    ...ledger.windows.flatMap(({ id, from, to = 0, goesOn }): WorktreeEvent[] =>
      to >= forgetBefore ? [{ t: 'command-end', id, from, goesOn, at: to }] : [],
    ),
    ...ledger.commands.values(),
    ...ledger.requests.filter(isRecent),
    ...[...ledger.notified]
      .slice(-MAX_NOTIFIED)
      .map(([id, at]) => ({ t: 'notified', ids: [id], at }) as const),
    ...[...ledger.tried.values()].slice(-MAX_TRIED),
    ...ledger.operations.slice(-2),
    ...ledger.registrations.values(),
    ...Object.values(ledger.lasting),
  ];
}
