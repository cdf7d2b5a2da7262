import { type SessionJournal, addChange, emptyLedger } from '../journal/fold.ts';
import { type SessionId, ownerId } from '../names.ts';
import type { OpenClaim, PathChange, SessionLedger } from './claims.ts';
import { chainChanges } from './ownership.ts';
import { strongest } from './tree-status.ts';

/**
 * Sub-agents as owners. A running sub-agent has a ledger of its own, under the owner `<session>/<agent>`: its changes, where
 * it saw HEAD and what it heard. Once it has stopped, all this belongs to its session.
 */

/** Returns a session's running sub-agents, as owners. */
export function runningOwners({ session, agents }: SessionJournal): SessionId[] {
  return [...agents].flatMap(([agent, { isRunning }]) => (isRunning ? [ownerId(session, agent)] : []));
}

/** The worktrees in which a session or one of its sub-agents did something. */
export function treesIn({ trees, agents }: SessionJournal): string[] {
  return [
    ...new Set([trees, ...[...agents.values()].map((one) => one.trees)].flatMap((one) => [...one.keys()])),
  ];
}

/** A session's ledgers in a worktree: its own, joined with those of stopped sub-agents, and one for each running sub-agent. */
export function ledgersIn({ session, trees, agents }: SessionJournal, tree: string): SessionLedger[] {
  const own = trees.get(tree);
  if (agents.size === 0) return own === undefined ? [] : [own];
  const parts = [...agents].map(([agent, { isRunning, trees: known }]) => {
    const owner = ownerId(session, agent);
    return { isRunning, owner, ledger: known.get(tree) };
  });
  if (own === undefined && parts.every(({ ledger }) => ledger === undefined)) return [];
  const left = parts.flatMap(({ isRunning, ledger }) => (isRunning || ledger === undefined ? [] : [ledger]));
  const whole = joined(own ?? emptyLedger(session), left);
  const running = parts.filter(({ isRunning }) => isRunning);
  return [whole, ...running.map(({ owner, ledger }) => ledgerOfAgent(whole, ledger ?? emptyLedger(owner)))];
}

function ledgerOfAgent(whole: SessionLedger, part: SessionLedger): SessionLedger {
  const { head = whole.head, ...own } = part;
  const staged = merged([whole.staged, part.staged], (states) => states.flat());
  return { ...own, head, staged, tried: whole.tried, registrations: whole.registrations };
}

/** Joins a session's ledger with those of its stopped sub-agents. */
function joined(own: SessionLedger, left: readonly SessionLedger[]): SessionLedger {
  if (left.length === 0) return own;
  const { session } = own;
  const all = [own, ...left];
  const join = (maps: readonly SessionLedger['claims'][]) =>
    merged(maps, (claims) => ({ ...joinedClaim(session, claims), session }));
  const claims = join(all.map((one) => one.claims));
  const ended = join(all.map((one) => one.ended));
  const heads = all.flatMap(({ head }) => head ?? []);
  const done = <Event>(events: (ledger: SessionLedger) => readonly Event[]) =>
    left.flatMap((one) => events(one).map((event) => ({ ...event, by: one.session })));
  return {
    ...own,
    claims,
    ended: new Map([...ended].filter(([path]) => !claims.has(path))),
    head: heads.sort((a, b) => b.at - a.at)[0],
    moves: [...own.moves, ...done(({ moves }) => moves)],
    news: [...own.news, ...done(({ news }) => news)],
    notified: new Map(all.flatMap(({ notified }) => [...notified])),
    taken: new Map(all.flatMap(({ taken }) => [...taken])),
    announced: new Map(all.flatMap(({ announced }) => [...announced])),
    commands: new Map(all.flatMap(({ commands }) => [...commands])),
    windows: all.flatMap(({ windows }) => windows.map((one) => ({ ...one, session }))),
    requests: all.flatMap(({ requests }) => requests),
    operations: all.flatMap(({ operations }) => operations),
    staged: merged(
      all.map((one) => one.staged),
      (states) => states.flat(),
    ),
  };
}

function joinedClaim(session: SessionId, claims: readonly OpenClaim[]): OpenClaim {
  return claims.reduce((one, other) => {
    const [first, last] = [one.since <= other.since ? one : other, one.at <= other.at ? other : one];
    const changes: PathChange[] = [];
    for (const change of chainChanges(first.base, [one, other])) addChange(changes, change);
    return {
      ...{ ...last, session, base: first.base, changes, since: first.since },
      committed: [...one.committed, ...other.committed],
      evidence: strongest(one.evidence, other.evidence),
      weak: one.weak && other.weak,
    };
  });
}

function merged<Value>(
  maps: readonly ReadonlyMap<string, Value>[],
  join: (values: readonly Value[]) => Value,
): ReadonlyMap<string, Value> {
  const found = new Map<string, Value[]>();
  for (const map of maps) for (const [key, value] of map) found.set(key, [...(found.get(key) ?? []), value]);
  return new Map([...found].map(([key, values]) => [key, join(values)]));
}
