import { escapeLine, shellWord } from './messages.ts';

/**
 * The names of the domain, parsed once where they come in and carried as branded types afterwards (gitglossary(7): ref,
 * branch, object name). Every `parse…` returns `undefined` for what it refuses.
 */

declare const brand: unique symbol;
type Brand<T, B> = T & { readonly [brand]: B };

/** The most characters of a path: no system call takes a longer one. */
export const MAX_PATH = 4096;

/** Id of one run of an agent, as its client reports it, or `person-<12 hex>` for a person. */
export type SessionId = Brand<string, 'SessionId'>;
/** The thread of work a handoff is about; one ref component. */
export type Topic = Brand<string, 'Topic'>;
/** A branch as people type it (`feature/x`), or `HEAD` when detached. */
export type BranchName = Brand<string, 'BranchName'>;
/** A full ref name (`refs/…`) that this program built or git printed. */
export type RefName = Brand<string, 'RefName'>;
/** A full object name, 40 or 64 hex digits. */
export type Oid = Brand<string, 'Oid'>;

/**
 * Variables that tell a client's shell commands which session they are in, in order of precedence, each with its client.
 * Codex gives each sub-agent a thread id of its own; the session is the root thread.
 */
export const SESSION_VARIABLES: Readonly<Record<string, string>> = {
  GIT_HANDOFF_SESSION: 'unknown',
  CLAUDE_CODE_SESSION_ID: 'claude',
  CODEX_SESSION_ID: 'codex',
  CODEX_THREAD_ID: 'codex',
  GEMINI_SESSION_ID: 'gemini',
  QWEN_CODE_SESSION_ID: 'qwen',
};

/** Names the agent that runs a command (empty: the session itself). It is set if two agents of a session commit at once. */
export const AGENT_VARIABLE = 'GIT_HANDOFF_AGENT';

/** The variables of each client, in order of precedence. */
const VARIABLES_OF_CLIENTS = [...new Set(Object.values(SESSION_VARIABLES))].map((client) =>
  Object.keys(SESSION_VARIABLES).filter((name) => SESSION_VARIABLES[name] === client),
);

/**
 * An sh expression for the session that the environment names: the session ids of all clients, joined without a separator.
 * Of one client's variables, the first that is set counts. git-hooks/ask.sh has the same expression.
 */
export const NAMED_SESSION = VARIABLES_OF_CLIENTS.map((own) =>
  own.reduceRight((rest, name) => `\${${name}${rest === '' ? '-' : ':-'}${rest}}`, ''),
).join('');

/** Returns the ids of `NAMED_SESSION` as a list, unchecked. */
export function namedSessions(variable: (name: string) => string | undefined): string[] {
  return VARIABLES_OF_CLIENTS.flatMap((own) => own.map(variable).find((value) => value) ?? []);
}

const OID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const TOPIC = /^[a-z0-9]+(?:-[a-z0-9]+)+$/;
const SESSION = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const PLACEHOLDER = /^(?:undefined|null|unknown|current|none)$/i;
const STOPWORD = '(?:fix|feat|chore|docs|refactor|test|main|master|the|and|for|a)';
const NEXT_WORD = `(?:${STOPWORD}-)*(?!${STOPWORD}(?:-|$))([a-z0-9]+)`;
/** The first two meaningful words of a topic, if there is a second. */
const WORDS = new RegExp(`^${NEXT_WORD}(?:-${NEXT_WORD})?`);
const MAX_TOPIC_BYTES = 100;

/** Parses an object name; even git's output is checked like this. */
export function parseOid(text: string): Oid | undefined {
  return OID.test(text) ? (text as Oid) : undefined;
}

/** Shortens an object name for a sentence; a command to type has more digits. */
export function shortOid(oid: string | null): string {
  return oid === null ? 'nothing' : oid.slice(0, 7);
}

/** Whether an object name is git's "no object" (all zeros). */
export function isZeroOid(oid: string): boolean {
  return /^0+$/.test(oid);
}

/** A word that says nothing of what a note is about, a file name that Windows reserves, or a short id. */
const EMPTY_WORD =
  /^(?:all|and|branch|bugs?|bugfix|changes?|chore|code|commits?|con|aux|nul|prn|(?:com|lpt)\d|continue|default|dev|develop|docs?|done|draft|feat|features?|final|fix|fixed|fixes|for|handoffs?|handover|head|help|hotfix|issues?|latest|main|master|misc|new|next|none|notes?|null|open|pr|prod|progress|project|refactor|release|repo|review|save|sessions?|src|stage|staging|state|status|stuff|summary|tasks?|temp|tests?|that|the|thing|this|tmp|todo|topics?|trunk|undefined|unknown|updates?|wip|work|(?=.*\d)[\da-f]{7,})$/;
const ONE_WORD = /^[a-z][a-z0-9]{2,29}$/;

/** Parses a topic: lower-case words joined by `-`, not all of them stopwords. A single word must not be an `EMPTY_WORD`. */
export function parseTopic(text: string): Topic | undefined {
  if (ONE_WORD.test(text) && !EMPTY_WORD.test(text)) return text as Topic;
  return parseLongTopic(text);
}

/** Parses a topic of two or more words. Only such topics are made from the names of branches and imported notes. */
export function parseLongTopic(text: string): Topic | undefined {
  if (text.length > MAX_TOPIC_BYTES || !TOPIC.test(text)) return undefined;
  return WORDS.test(text) ? (text as Topic) : undefined;
}

/** Whether two topics are probably one piece of work: their first two meaningful words are the same. */
export function topicsOverlap(a: string, b: string): boolean {
  const [[, ...first], [, ...second]] = [WORDS.exec(a) ?? [], WORDS.exec(b) ?? []];
  return a !== b && first[1] !== undefined && first.join('-') === second.join('-');
}

/** Parses a session id; placeholders that models invent (`current`, `null`) are refused. */
export function parseSessionId(text: unknown): SessionId | undefined {
  if (typeof text !== 'string' || !SESSION.test(text)) return undefined;
  if (text.includes('..') || text.endsWith('.lock')) return undefined;
  return PLACEHOLDER.test(text) ? undefined : (text as SessionId);
}

/** Parses the session id that a client's payload claims: no client may claim a person's id. */
export function parseClientSessionId(text: unknown): SessionId | undefined {
  const id = parseSessionId(text);
  return id === undefined || isPerson(id) ? undefined : id;
}

/**
 * Returns the owner of a running sub-agent's changes: `<session>/<agent>`. This is no session id: refs, records and commits
 * name the session. An agent whose name is no plain word counts as the session itself.
 */
export function ownerId(session: SessionId, agent: string | undefined): SessionId {
  return agent !== undefined && SESSION.test(agent) ? (`${session}/${agent}` as SessionId) : session;
}

/** Returns an owner's session: the owner itself or, for a sub-agent, the session that it works for. */
export function sessionOfOwner(owner: SessionId): SessionId {
  return owner.split('/', 1)[0] as SessionId;
}

/** Returns the sub-agent's name if an owner is one; `undefined` for a session. */
export function agentOfOwner(owner: string): string | undefined {
  return owner.split('/')[1];
}

/** Parses an owner: a session, or a sub-agent of one. */
export function parseOwner(text: unknown): SessionId | undefined {
  const [session, agent, ...more] = typeof text === 'string' ? text.split('/') : [];
  const id = parseSessionId(session);
  if (id === undefined || agent === undefined) return id;
  return more.length === 0 && SESSION.test(agent) ? ownerId(id, agent) : undefined;
}

/** Whether an id, or a short one, is a person's and not a session's. No client may claim such an id for its session. */
export function isPerson(id: string): boolean {
  return id.startsWith('person-');
}

/** UUIDs of version 7 and OpenCode's ids begin with the time, so all ids of one minute begin alike. */
const TIMED_ID = /^.{8}-.{4}-7.{3}-.{4}-.{12}$|^ses_.{26}$/;

/**
 * Returns the eight characters of an id that messages, trailers and topics show: the last eight if it begins with the time,
 * else the first. A person's id keeps `person-` before them. A sub-agent's own id is added (its end, if it is long).
 */
export function shortId(id: string): string {
  const [session = '', agent] = id.split('/');
  if (agent !== undefined) return `${shortId(session)}/${agent.length > 8 ? agent.slice(-4) : agent}`;
  if (isPerson(id)) return id.slice(0, 15);
  return TIMED_ID.test(id) ? id.slice(-8) : id.slice(0, 8);
}

/** Whether a text can mean an id: it is the id, or its short form. In version 0.1.0, that was its first eight characters. */
export function canMean(text: string, id: string): boolean {
  if (text === id || text === shortId(id)) return true;
  return text.length === 8 && id.startsWith(text) && !id.includes('/');
}

/** Returns which of these ids a text means; `undefined` if it means none, or if a short form fits several. */
export function meantId<T extends string>(text: string, ids: Iterable<T>): T | undefined {
  const fitting = new Set<T>();
  for (const id of ids) {
    if (id === text) return id;
    if (canMean(text, id)) fitting.add(id);
  }
  const [only, ...more] = fitting;
  return more.length === 0 ? only : undefined;
}

/** Parses a branch name by git-check-ref-format(1). It refuses names that look like options, which only very old git allows. */
export function parseBranchName(text: string): BranchName | undefined {
  if (text === '' || text.startsWith('-') || text.endsWith('/') || text === '@') return undefined;
  // eslint-disable-next-line no-control-regex -- control characters must be refused
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.$/.test(text)) return undefined;
  for (const part of text.split('/')) {
    if (part === '' || part.startsWith('.') || part.endsWith('.lock')) return undefined;
  }
  return text as BranchName;
}

/** Folds a name like file systems that ignore case or invisible characters (macOS, Windows). Equal results may be one file. */
export function foldedName(name: string): string {
  return (
    name
      .normalize('NFKC')
      .replace(/\p{Cf}/gu, '')
      // Upper case first: it maps the long s and ligatures to plain letters.
      .toUpperCase()
      .toLowerCase()
  );
}

/** Returns a branch as a message names it: without `refs/heads/`, or "a detached HEAD". */
export function refName(ref: string): string {
  return ref === 'HEAD' ? 'a detached HEAD' : escapeLine(branchOf(ref));
}

/** Returns a ref without `refs/heads/`. */
export const branchOf = (ref: string): string => ref.replace(/^refs\/heads\//, '');

/** Returns the command that switches back to where HEAD was: to a branch or, detached, to a commit. */
export function switchBack(ref: string, oid: Oid | null | undefined): string {
  return `git switch ${ref === 'HEAD' ? `--detach ${oid ?? ''}`.trimEnd() : shellWord(branchOf(ref))}`;
}

/** What is known of an owner besides its id: a session's client, a person's name. */
interface Known {
  readonly client?: string | null | undefined;
  readonly name?: string | null | undefined;
}

/** The clients of sessions that are on record. */
export interface WithClients {
  readonly clients?: ReadonlyMap<string, string> | undefined;
}

/**
 * Returns an owner as messages name it: "claude a1f0c3d2", or "session a1f0c3d2" if no record has the client; a person
 * by name, because a person's id is a hash that tells nobody anything.
 */
export function ownerName(id: string, { client, name }: Known = {}): string {
  if (isPerson(id)) return escapeLine(name ?? 'a person');
  const known = client ?? 'unknown';
  return escapeLine(`${known === 'unknown' ? 'session' : known} ${shortId(id)}`);
}

/** Names an owner, with the client that the records have. `id` may be the short form from a commit's trailer. */
export function peerName(id: string, { clients = new Map() }: WithClients): string {
  const [session = id] = id.split('/');
  return ownerName(id, { client: clients.get(meantId(session, clients.keys()) ?? session) });
}

/** Names several sessions, each once. */
export function peerNames(ids: Iterable<string>, records: WithClients): string {
  return [...new Set(ids)].map((id) => peerName(id, records)).join(', ');
}
