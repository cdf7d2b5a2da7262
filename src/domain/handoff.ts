import { jsonFields } from './journal/events.ts';
import { isSectionHeading } from './note/sections.ts';
import {
  type BranchName,
  type Oid,
  type SessionId,
  type Topic,
  parseOid,
  parseSessionId,
  parseTopic,
} from './names.ts';
import { cutToCharacters } from './messages.ts';

/** Format of `state.json`; a tip with another version is shown but never rewritten. */
export const FORMAT_VERSION = 1;
/** Notes above this size are refused (and kept as lost text). Bytes. */
export const MAX_NOTE_BYTES = 1024 * 1024;
/** Commit objects above this size are not ours (those that we write stay below 8 KiB), and are never read. Bytes. */
export const MAX_COMMIT_BYTES = 16 * 1024;
/** The same limit for the tree, which names two files. Bytes. */
export const MAX_TREE_BYTES = 4 * 1024;
/** The same limit for `state.json`. Bytes. */
export const MAX_STATE_BYTES = 64 * 1024;
export const NOTE_FILE = 'handoff.md';
export const STATE_FILE = 'state.json';

export type HandoffState = 'open' | 'closed';

/** The trailers of a handoff commit: who owns the note, how the owner came to own it, and which commit the note is about. */
export interface HandoffTrailers {
  readonly owner: SessionId;
  readonly base: Oid | undefined;
  readonly client: string | undefined;
  /** The id of a sub-agent; git-handoff itself writes none. */
  readonly agent?: string | undefined;
  readonly state: HandoffState;
  /** The former owner, if the handoff was taken explicitly. */
  readonly takenFrom: SessionId | undefined;
  /** The former owner, if its conversation continues under a new id. */
  readonly succeeds?: SessionId | undefined;
  /** The operator whom the note's front matter addresses; repeated here so that a list need not read notes. */
  readonly to: string | undefined;
  /** The operator that the note is from, according to its front matter. */
  readonly from?: string | undefined;
  /** Why git-handoff left the note; `undefined`: somebody wrote it. */
  readonly automatic?: AutomaticReason | undefined;
  /** The former topic of this history, if `sync` renamed it because two machines had written to that topic at once. */
  readonly divergedFrom?: Topic | undefined;
  /** The file of another program that the note was imported from, as `<format>:<place>`; `undefined`: it was written here. */
  readonly importedFrom?: string | undefined;
  /** The scanner rules whose findings somebody allowed in this note (domain/secrets.ts reads the list). */
  readonly secretAllowed?: string | undefined;
  /** The commit with the uncommitted work that the note carries (notes/work/work-commit.ts). */
  readonly work?: Oid | undefined;
  /** The size of that work, for readers who have not fetched it (`parseWorkSize`). */
  readonly workSize?: string | undefined;
  /** The commands that the session tried before it wrote the note (domain/tried.ts reads the list). */
  readonly tried?: string | undefined;
}

/** When git-handoff leaves a note for a session that wrote none. */
export type AutomaticReason = 'compaction' | 'session-end' | 'death';
const AUTOMATIC_REASONS: readonly string[] = ['compaction', 'session-end', 'death'];

/** `state.json`: the state of the repository when the commit was made. `checkMove` compares it with the ref. */
export interface RecordedState {
  readonly version: number;
  readonly branch: string;
  readonly topic: string;
  readonly head: string | null;
  readonly upstream: string | null;
  readonly dirty: number;
  readonly client: string | null;
  readonly worktree: string | null;
}

/** One commit of a handoff's history, with everything that the rules of `transition.ts` judge it by. */
export interface HandoffCommit {
  readonly oid: Oid;
  readonly parents: readonly Oid[];
  /** `undefined` when the message's trailers do not parse. */
  readonly trailers: HandoffTrailers | undefined;
  /** `undefined` when `state.json` is missing or no JSON object of the known shape. */
  readonly recorded: RecordedState | undefined;
  readonly hasNote: boolean;
  /** Sizes of the commit object, of its tree and of its note in bytes, if they were read. */
  readonly bytes?: number;
  readonly treeBytes?: number;
  readonly noteBytes?: number;
  readonly summary: string;
  /** Committer date, seconds since the epoch. */
  readonly seconds: number;
  /** Committer's name and address. */
  readonly name: string;
  readonly mail: string;
}

const KEYS = {
  owner: 'Claude-Session-Id',
  base: 'Handoff-Base',
  client: 'Handoff-Client',
  agent: 'Handoff-Agent-Id',
  state: 'Handoff-State',
  takenFrom: 'Handoff-Taken-From',
  succeeds: 'Handoff-Succeeds',
  to: 'Handoff-To',
  from: 'Handoff-From',
  automatic: 'Handoff-Automatic',
  importedFrom: 'Handoff-Imported-From',
  divergedFrom: 'Handoff-Diverged-From',
  secretAllowed: 'Handoff-Secret-Allowed',
  work: 'Handoff-Work',
  workSize: 'Handoff-Work-Size',
  tried: 'Handoff-Tried',
} as const;

type Field = keyof typeof KEYS;
const FIELDS = Object.keys(KEYS) as Field[];
/** Keys compare without regard to case, as git's do. */
const BY_LOWER_CASE = new Map<string, Field>();
for (const field of FIELDS) BY_LOWER_CASE.set(KEYS[field].toLowerCase(), field);

const MAX_SUMMARY = 72;

/** The message of a handoff commit: the summary, and the trailers as the last paragraph. */
export function formatMessage(summary: string, trailers: HandoffTrailers): string {
  const lines = FIELDS.flatMap((field) => {
    const value = trailers[field];
    return value === undefined ? [] : [`${KEYS[field]}: ${value}`];
  });
  return `${summary}\n\n${lines.join('\n')}\n`;
}

/**
 * Reads the trailers of a commit message: `Key: value` lines of the last paragraph, keys without regard to case. A
 * repeated key, an unknown state or an invalid id makes them unreadable: ownership is never guessed.
 */
export function parseTrailers(message: string): HandoffTrailers | undefined {
  const common = commonTrailers(message);
  if (common !== undefined) return common;
  const found = lastParagraph(message);
  if (found === undefined) return undefined;
  const { state, base, takenFrom, succeeds, divergedFrom } = found;
  const owner = parseSessionId(found.owner);
  if (owner === undefined || (state !== 'open' && state !== 'closed')) return undefined;
  const trailers = {
    ...found,
    owner,
    state,
    base: parseOid(base ?? ''),
    client: found.client,
    takenFrom: parseSessionId(takenFrom),
    succeeds: parseSessionId(succeeds),
    to: found.to,
    automatic: parseAutomatic(found.automatic),
    divergedFrom: parseTopic(divergedFrom ?? ''),
    // An invalid object name means no work and is no error, because version 0.1.0 lets any value pass.
    work: parseOid(found.work ?? ''),
  } as const;
  const checked = ['base', 'takenFrom', 'succeeds', 'divergedFrom'] as const;
  const isUnreadable = checked.some((field) => found[field] !== undefined && trailers[field] === undefined);
  return isUnreadable ? undefined : trailers;
}

/** Reads the reason. A reason that only a later version knows still says that nobody wrote the note. */
function parseAutomatic(text: string | undefined): AutomaticReason | undefined {
  if (text === undefined) return undefined;
  return AUTOMATIC_REASONS.includes(text) ? (text as AutomaticReason) : 'session-end';
}

type Fields = Readonly<Partial<Record<Field, string | undefined>>>;

/** The trailers of most notes, as `formatMessage` writes them. Named groups would be slow. */
const COMMON = new RegExp(
  `\\n\\n${KEYS.owner}: ([\\w.-]+)\\n(?:${KEYS.base}: (\\w+)\\n)?` +
    `(?:${KEYS.client}: ([\\w.-]+)\\n)?${KEYS.state}: (\\w+)\\n*$`,
);

/** Reads the trailers of most notes four times faster: a list may read thousands of them. */
function commonTrailers(message: string): HandoffTrailers | undefined {
  const found = COMMON.exec(message);
  if (found === null) return undefined;
  const state = found[4];
  const owner = parseSessionId(found[1]);
  if (owner === undefined || (state !== 'open' && state !== 'closed')) return undefined;
  const base = found[2] === undefined ? undefined : parseOid(found[2]);
  if (base === undefined && found[2] !== undefined) return undefined;
  return { owner, state, base, client: found[3], takenFrom: undefined, to: undefined };
}

const TRAILER_KEY = /^[A-Za-z0-9-]+$/;

/** Reads the `Key: value` lines of the last paragraph; `undefined` if it holds anything else. */
function lastParagraph(message: string): Fields | undefined {
  let end = message.length;
  while (end > 0 && message[end - 1] === '\n') end--;
  const start = message.lastIndexOf('\n\n', end - 1);
  if (start < 0) return undefined;
  const found: Partial<Record<Field, string>> = {};
  const keys = new Set<string>();
  for (const line of message.slice(start + 2, end).split('\n')) {
    const colon = line.indexOf(':');
    const key = line.slice(0, Math.max(colon, 0)).trimEnd();
    const lower = key.toLowerCase();
    if (!TRAILER_KEY.test(key) || keys.has(lower)) return undefined;
    keys.add(lower);
    const field = BY_LOWER_CASE.get(lower);
    if (field !== undefined) found[field] = line.slice(colon + 1).trim();
  }
  return found;
}

/** Returns the text of `state.json`: stable key order, one line feed at the end. */
export function formatState(state: RecordedState): string {
  return `${JSON.stringify(state, null, 2)}\n`;
}

type StateFields = { readonly [Name in keyof RecordedState]?: unknown };

/** Reads `state.json`. It checks only what `transition.ts` needs, so that later versions parse. */
export function parseState(text: string): RecordedState | undefined {
  const fields: StateFields = jsonFields<keyof RecordedState>(text);
  const { version, branch, topic } = fields;
  if (typeof version !== 'number' || typeof branch !== 'string' || typeof topic !== 'string')
    return undefined;
  return { version, branch, topic, ...factsOf(fields) };
}

/** Returns what `state.json` records of a write: no absolute path, no host name, no file names. */
export function recordState(
  facts: StateFields & { readonly branch: BranchName; readonly topic: string },
): RecordedState {
  return { version: FORMAT_VERSION, branch: facts.branch, topic: facts.topic, ...factsOf(facts) };
}

function factsOf({ head, upstream, dirty, client, worktree }: StateFields) {
  const text = (field: unknown) => (typeof field === 'string' ? field : null);
  return {
    head: text(head),
    upstream: text(upstream),
    dirty: typeof dirty === 'number' ? dirty : 0,
    client: text(client),
    worktree: text(worktree),
  };
}

/**
 * Returns the one-line summary of a note: its first non-empty line without `#`, escaped, at most 72 characters. The heading
 * of a handover's section says nothing by itself: under `# Goal`, the next line is the summary.
 */
export function summarise(note: string, escape: (text: string) => string): string {
  let heading: string | undefined;
  for (const line of note.split(/\r?\n|\r/)) {
    const text = line.replace(/^\uFEFF?[\s#]+/, '').trim();
    if (text === '') continue;
    if (!isSectionHeading(line)) return shortSummary(escape(text));
    heading ??= text;
  }
  return heading === undefined ? '(no summary)' : shortSummary(escape(heading));
}

/** Cuts a summary to the length that a list has room for; a commit from another machine may have a longer one. */
export function shortSummary(text: string): string {
  return cutToCharacters(text, MAX_SUMMARY);
}
