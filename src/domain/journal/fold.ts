import { LASTING, type OpenClaim, type PathChange, type SessionLedger } from '../ledger/claims.ts';
import { type FileState, sameState, strongest } from '../ledger/tree-status.ts';
import { type Oid, type SessionId, ownerId } from '../names.ts';
import type { ProcessId } from '../session.ts';
import type { EventOf, JournalEvent, JournalLine, WorktreeEvent } from './events.ts';

/** The state that a session's events add up to. */
export interface SessionJournal {
  readonly session: SessionId;
  /** The session's ledgers, by worktree. `ledgersIn` adds what its sub-agents did. */
  readonly trees: ReadonlyMap<string, SessionLedger>;
  readonly agents: ReadonlyMap<string, AgentWork>;
  /** The client and model that the session's commits name. */
  readonly model: EventOf<'model'> | undefined;
  /** The last request to write a note; `atStop`: it or an earlier request came at the end of a turn. */
  readonly asked: EventOf<'asked'> | undefined;
  /** What the session has heard in any worktree, with the event that was the first to record it. */
  readonly notified: ReadonlyMap<string, EventOf<'notified'>>;
  /** The running command that may add stash entries. */
  readonly stashing: EventOf<'stashing'> | undefined;
  readonly stashed: ReadonlySet<Oid>;
  readonly refusals: readonly EventOf<'refused'>[];
}

/** What a sub-agent did, by worktree. */
export interface AgentWork {
  readonly isRunning: boolean;
  /** Whether the sub-agent's end was reported; after that, its session may have heard more. */
  readonly hasEnded: boolean;
  readonly trees: ReadonlyMap<string, SessionLedger>;
}

/** Folds a session's events, in the order in which they were written. */
export function foldJournal(session: SessionId, lines: readonly JournalLine[]): SessionJournal {
  const trees: Trees = new Map();
  const agents: Agents = new Map();
  const notified = new Map<string, EventOf<'notified'>>();
  const stashed = new Set<Oid>();
  const refusals: EventOf<'refused'>[] = [];
  let stashing: SessionJournal['stashing'];
  let model: SessionJournal['model'];
  let asked: SessionJournal['asked'];
  for (const { tree, event } of lines) {
    if (tree !== undefined) {
      for (const ledger of ledgersOf(session, { trees, agents }, tree, event)) foldInto(ledger, event);
      continue;
    }
    switch (event.t) {
      case 'model':
        model = event;
        break;
      case 'asked':
        asked = { ...event, atStop: event.atStop || asked?.atStop === true };
        break;
      case 'notified':
        for (const id of event.ids) if (!notified.has(id)) notified.set(id, event);
        break;
      case 'stashing':
        stashing = event;
        break;
      case 'stashed':
        for (const oid of event.entries) stashed.add(oid);
        stashing = undefined;
        break;
      case 'refused':
        refusals.push(event);
        break;
      case 'agent-started':
        agents.set(event.agent, { ...agentIn(agents, event.agent), isRunning: true, hasEnded: false });
        break;
      case 'agent-ended':
        endAgents(agents, event.agent);
        break;
      case 'ended':
        notified.clear();
        [asked, stashing] = [undefined, undefined];
        endAgents(agents);
        for (const one of [{ trees }, ...agents.values()]) one.trees.forEach(endIn);
        break;
      default:
    }
  }
  return { session, trees, agents, model, asked, notified, stashing, stashed, refusals };
}

type Trees = Map<string, Ledger>;
type Agents = Map<string, Omit<AgentWork, 'trees'> & { readonly trees: Trees }>;

/** Ends all sub-agents. With `only`, ends just the sub-agent of that name, and its calls. */
function endAgents(agents: Agents, only?: string): void {
  for (const [name, one] of agents) {
    if (only !== undefined && name !== only) continue;
    agents.set(name, { ...one, isRunning: false, hasEnded: one.hasEnded || name === only });
    if (name === only) one.trees.forEach(endIn);
  }
}

/** Events that change only the ledger of the session or sub-agent that made them. */
const OF_MAKER: readonly JournalEvent['t'][] = [
  ...(['claim', 'announced', 'staged', 'command', 'request', 'operation'] as const),
  ...(['head', 'news', 'notified'] as const),
];
/** Events that end something that a session, or one of its stopped sub-agents, has begun. */
const ENDING: readonly JournalEvent['t'][] = ['end', 'revived', 'answered', 'command-end'];

/**
 * Returns the ledgers that an event changes. A sub-agent's event changes the sub-agent's ledger. A session's event changes
 * the ledgers of the session and of its stopped sub-agents, whose changes now belong to the session.
 */
function ledgersOf(
  session: SessionId,
  { trees, agents }: { readonly trees: Trees; readonly agents: Agents },
  tree: string,
  event: JournalEvent,
): Ledger[] {
  const name = ('agent' in event ? event.agent : undefined) ?? '';
  const agent = name === '' ? undefined : agentIn(agents, name);
  const own = () => ledgerIn(trees, tree, session);
  const part = () => (agent === undefined ? own() : ledgerIn(agent.trees, tree, ownerId(session, name)));
  const joined = () => [
    own(),
    ...[...agents.values()].flatMap(({ isRunning, trees }) => (isRunning ? [] : (trees.get(tree) ?? []))),
  ];
  if (event.t === 'commit') return [...new Set([...joined(), part()])];
  if (OF_MAKER.includes(event.t)) return [part()];
  if (!ENDING.includes(event.t)) return [own()];
  if (agent !== undefined) return [part()];
  if (event.t !== 'command-end') return joined();
  return [joined().find(({ commands }) => commands.has(event.id)) ?? own()];
}

function agentIn(agents: Agents, name: string) {
  const known = agents.get(name) ?? { isRunning: false, hasEnded: false, trees: new Map<string, Ledger>() };
  agents.set(name, known);
  return known;
}

function ledgerIn(trees: Trees, tree: string, owner: SessionId): Ledger {
  const known = trees.get(tree) ?? emptyLedger(owner);
  trees.set(tree, known);
  return known;
}

/** Folds a session's events in one worktree. */
export function foldLedger(session: SessionId, events: readonly WorktreeEvent[]): SessionLedger {
  const ledger = emptyLedger(session);
  for (const event of events) foldInto(ledger, event);
  return ledger;
}

/** Returns the ledger of a session whose journal says nothing of a worktree. */
export function emptyLedger(session: SessionId): Ledger {
  return {
    session,
    claims: new Map(),
    ended: new Map(),
    taken: new Map(),
    announced: new Map(),
    staged: new Map(),
    commits: [],
    head: undefined,
    moves: [],
    news: [],
    requests: [],
    notified: new Map(),
    windows: [],
    commands: new Map(),
    registrations: new Map(),
    operations: [],
    tried: new Map(),
    lasting: {},
  };
}

type Ledger = { -readonly [Name in keyof SessionLedger]: Mutable<SessionLedger[Name]> };
type Mutable<T> =
  T extends ReadonlyMap<infer Key, infer Value>
    ? Map<Key, Value>
    : T extends ReadonlySet<infer Item>
      ? Set<Item>
      : T extends readonly (infer Item)[]
        ? Item[]
        : T;

function foldInto(ledger: Ledger, event: JournalEvent): void {
  switch (event.t) {
    case 'head':
      ledger.head = event;
      if (event.own) ledger.moves.push(event);
      break;
    case 'news':
      ledger.news.push(event);
      break;
    case 'request':
      ledger.requests.push(event);
      break;
    case 'notified':
      for (const id of event.ids) if (!ledger.notified.has(id)) ledger.notified.set(id, event.at);
      break;
    case 'tried':
      ledger.tried.delete(event.command);
      ledger.tried.set(event.command, event);
      break;
    case 'operation':
      if (!ledger.operations.some(({ mark }) => mark === event.mark)) ledger.operations.push(event);
      break;
    case 'command':
      ledger.commands.set(event.id, event);
      break;
    case 'command-end': {
      const { id, from, at: to, goesOn } = event;
      ledger.commands.delete(id);
      if (from !== undefined) ledger.windows.push({ session: ledger.session, id, from, to, goesOn });
      break;
    }
    default:
      foldPresence(ledger, event);
      foldPath(ledger, event);
  }
}

/** The lasting events that each of these events ends. */
const ENDS: { readonly [Kind in JournalEvent['t']]?: readonly (keyof SessionLedger['lasting'])[] } = {
  'visit-end': ['visit'],
  'not-alone': ['alone', 'paused'],
  'note-left': ['note-due'],
};

function foldPresence(ledger: Ledger, event: JournalEvent): void {
  const { registrations, lasting } = ledger;
  if (event.t === 'registered') registrations.set(processKey(event), event);
  if (event.t === 'unregistered') registrations.clear();
  if (ENDS[event.t] !== undefined) ledger.lasting = without(lasting, ENDS[event.t] ?? []);
  if (!LASTING.some((kind) => kind === event.t)) return;
  const known = event.t === 'note-left' ? lasting['note-left'] : undefined;
  ledger.lasting = { ...ledger.lasting, [event.t]: { ...known, ...event } };
}

function without(lasting: SessionLedger['lasting'], kinds: readonly string[]): SessionLedger['lasting'] {
  return Object.fromEntries(Object.entries(lasting).filter(([kind]) => !kinds.includes(kind)));
}

/** Folds an event about paths. */
function foldPath(ledger: Ledger, event: JournalEvent): void {
  const { claims, ended, taken, announced, staged } = ledger;
  switch (event.t) {
    case 'claim':
      claims.set(event.path, withClaim(ledger.session, claims.get(event.path), event));
      ended.delete(event.path);
      taken.delete(event.path);
      break;
    case 'end':
      endClaim(ledger, event);
      break;
    case 'revived':
      moveClaim(event.path, ended, claims);
      break;
    case 'announced':
      for (const path of event.paths) announced.set(path, event);
      break;
    case 'answered':
      for (const [path, one] of announced) if (isAnswered(path, one, event)) announced.delete(path);
      break;
    case 'commit':
      ledger.commits.push(event);
      // The session has committed without the refused paths, so it no longer waits for them.
      ledger.requests = ledger.requests.filter(({ wish, at }) => wish !== 'commit' || at > event.at);
      for (const [path, state] of event.paths) {
        const claim = claims.get(path);
        if (claim !== undefined) claims.set(path, { ...claim, committed: [...claim.committed, state] });
      }
      break;
    case 'staged':
      staged.set(event.path, [...(staged.get(event.path) ?? []), event]);
      break;
    default:
  }
}

function endClaim({ claims, ended, staged, taken }: Ledger, event: EventOf<'end'>): void {
  const { path, why, by, at } = event;
  // The path was clean then, but the session has changed it since.
  if (why === 'clean' && (claims.get(path)?.at ?? 0) > at) return;
  moveClaim(path, claims, why === 'clean' ? ended : undefined);
  staged.delete(path);
  if (why === 'taken' && by !== undefined) taken.set(path, by);
}

/** Ends a session in a ledger: none of its calls runs any more, and it may come back as another process. */
function endIn(ledger: Ledger): void {
  ledger.commands.clear();
  ledger.announced.clear();
  ledger.registrations.clear();
  ledger.lasting = without(ledger.lasting, ['visit']);
}

/** Returns a process as the key of a map: a pid may be reused, but not with the same start time. */
const processKey = ({ pid, start }: ProcessId): string => `${pid} ${start}`;

function moveClaim(path: string, from: Map<string, OpenClaim>, to: Map<string, OpenClaim> | undefined): void {
  const claim = from.get(path);
  if (claim !== undefined) to?.set(path, claim);
  from.delete(path);
}

function isAnswered(path: string, { agent, at }: EventOf<'announced'>, event: EventOf<'answered'>): boolean {
  const isAgents = event.agent === undefined || event.agent === (agent ?? '');
  return isAgents && at <= event.at && event.paths?.includes(path) !== false;
}

function withClaim(session: SessionId, known: OpenClaim | undefined, event: EventOf<'claim'>): OpenClaim {
  const { path, base, before, after, evidence, weak, at } = event;
  const began = event.began === undefined && known?.began === undefined ? undefined : (event.began ?? at);
  // Once the session has committed its claim, a further change begins another claim.
  if (known === undefined || known.committed.some((state) => sameState(state, base))) {
    const changes = [{ before, after }];
    const { agent } = event;
    const proof = { evidence, weak, agent, began };
    return { session, path, base, changes, after, committed: [], ...proof, since: at, at };
  }
  addChange(known.changes as PathChange[], { before, after });
  return {
    ...known,
    began,
    agent: event.agent ?? known.agent,
    after,
    evidence: strongest(known.evidence, evidence),
    weak: known.weak && weak,
    at,
  };
}

/**
 * Changes the list in place: a copy for each change would make a long journal take quadratic time. A change that was undone
 * and restored is in the journal twice, but the list keeps it once: otherwise the changes would not form a chain.
 */
export function addChange(changes: PathChange[], next: PathChange): void {
  const last = changes.at(-1);
  const isKnown = sameState(last?.before ?? null, next.before) && sameState(last?.after ?? null, next.after);
  if (last === undefined || !(isKnown || sameState(last.after, next.before))) changes.push(next);
  else changes[changes.length - 1] = { before: last.before, after: next.after };
}

/** Whether HEAD's state of a path ends a claim on it: it is the claim's last state, or one that the session itself committed. */
export function isCommitted(claim: OpenClaim, head: FileState): boolean {
  return sameState(head, claim.after) || claim.committed.some((state) => sameState(state, head));
}
