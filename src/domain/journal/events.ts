import { EVIDENCE, type FileState, WISHES } from '../ledger/tree-status.ts';
import { type Oid, parseOid, parseOwner, parseSessionId } from '../names.ts';

/**
 * Every event of a session's journal, `<common dir>/handoff/sessions/<session>.jsonl`: one line each, in the order in which
 * they were written. Times (`at`, `from`, `began`) are milliseconds since the epoch, paths are relative to the top of the
 * working tree as git prints them. An event of a worktree has the worktree's id on its line, as `tree`. `foldJournal` turns
 * a session's events into its state.
 *
 * The tables below say how each field is read; the types of the events follow from them. A new kind of event also needs code
 * in `fold.ts` (what it changes) and in `compact.ts` (what a compaction keeps of it).
 */

/** Reads a field; `undefined` for a value of another kind: the line is then skipped. */
type Field<Value> = (value: unknown) => Value | undefined;
/** A field that may be left out; a value of another kind counts as left out. */
interface Optional<Value> {
  readonly optional: Field<Value>;
}

const optional = <Value>(field: Field<Value>): Optional<Value> => ({ optional: field });

const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
const number = (value: unknown) => (typeof value === 'number' ? value : undefined);
const flag = (value: unknown) => value === true;
const path = (value: unknown) =>
  typeof value === 'string' && value !== '' && !value.includes('\0') ? value : undefined;
const list = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? value : undefined);
const textsIn = (value: unknown) => list(value)?.filter((one) => typeof one === 'string');
const texts = (value: unknown): readonly string[] => textsIn(value) ?? [];
const object = (value: unknown) => parseOid(text(value) ?? '');
const oid = (value: unknown) => object(value) ?? null;
const oids = (value: unknown): readonly Oid[] => texts(value).flatMap((one) => parseOid(one) ?? []);
const state = parseFileState;
const oneOf =
  <const Word extends string>(words: readonly Word[]): Field<Word> =>
  (value) =>
    words.find((word) => word === value);

const someText = optional(text);
const someTexts = optional<readonly string[]>(textsIn);
const someOwner = optional(parseOwner);
/** The sub-agent that an event is about, if the client names it. */
const agent = someText;

/** What a session did, or has yet to hear, in one worktree. */
const OF_WORKTREE = {
  /**
   * This session changed a path. `base`: what HEAD had there when the session first changed it · `weak`: the claim only warns,
   * because somebody else may have made this change · `began`: when the command that changed the path began; left out for a
   * file tool, which takes no time.
   */
  claim: {
    ...{ path, base: state, before: state, after: state, evidence: oneOf(EVIDENCE), weak: flag },
    ...{ agent, began: optional(number) },
  },
  /** The claim on a path is over. `by`: who took it. */
  end: { path, why: oneOf(['clean', 'committed', 'taken']), by: someOwner, agent },
  /** A claim that had ended because the path was clean is open again: its change is back. */
  revived: { path, agent },
  /** An allowed commit of this session: its parent, and the state that it gives each path. */
  commit: { parent: oid, paths: pathStates, agent },
  /** What this session put into the index at a path (`stage --mine`, `git rm --cached`). `head`: what HEAD had, if known. */
  staged: {
    ...{ path, state, agent },
    head: optional((value) => (value === undefined ? undefined : parseFileState(value))),
  },
  /** A file tool of this session is about to write these paths. No call is refused because of it. */
  announced: { paths: texts, agent },
  /** The calls that `agent` announced on `paths` until `at` are over. Without `paths`: any path's; without `agent`: anybody's. */
  answered: { paths: someTexts, agent },
  /**
   * A shell command begins. `look`: the working tree before it, as `formatTreeStatus` writes it · `agent`: the sub-agent that
   * runs it; empty for the session itself · `named`: paths that it names and writes or removes · `commits`: whether it runs
   * `git commit`, whose hooks may put the whole tree aside for a while · `merged`: the tree that git had last merged; empty if
   * there was none · `looked`: whether `look` was taken for this command; otherwise it is an older status · `shell`: the folder
   * of the client's shell, without symbolic links, if the shell's next command runs there, too.
   */
  command: {
    ...{ id: text, look: text, agent: text, named: texts, commits: flag, merged: text, looked: flag },
    shell: someText,
  },
  /**
   * The command is over. Without `from`: nobody reported its end, so the command is only forgotten. `goesOn`: a program that the
   * command started in the background may still run.
   */
  'command-end': {
    id: text,
    from: optional(number),
    goesOn: optional((value): boolean | undefined => flag(value) || undefined),
    agent,
  },
  /** Where HEAD was when this session, or sub-agent, last looked; `own`: a tool call of its own moved HEAD there. */
  head: { ref: text, oid, own: flag, agent },
  /** The session ran a command on the tree `on`, which is HEAD plus the session's changes (`git handoff try`). */
  tried: { command: text, status: number, on: object },
  /** The session began the merge, rebase … that `mark` identifies; `merged`: the tree that git merged, if known. */
  operation: { mark: text, merged: optional(object), agent },
  /**
   * News for the other sessions of the worktree (or for `to` alone); each hears it once. Only news with `about` goes to
   * subscribers: about a take, about lost or changed work, or about what a person let through.
   */
  news: {
    ...{ id: text, text, to: someOwner, paths: someTexts, agent },
    about: optional(oneOf(['take', 'loss', 'bypass'])),
  },
  /** This session was refused something because `to` claims these paths. The request counts while they are claimed. */
  request: { agent, to: parseOwner, wish: oneOf(WISHES), paths: texts },
  /** This session has heard the news `ids`. `by`: a call that wants to report them; the first in the journal does. */
  notified: { ids: texts, by: someText, agent },
  /** The session was put on record here, under this process. */
  registered: { pid: number, start: text },
  unregistered: {},
  /** The session works in this worktree from a folder outside. `top`: the worktree's top. */
  visit: { top: text },
  'visit-end': {},
  /** The session begins to work alone; `look` is what was dirty then (`formatTreeStatus`). */
  alone: { look: text },
  /** The session ended, or was found dead, while it worked alone. */
  paused: { look: text },
  /** The session's time alone is over, and its start list is no longer needed. */
  'not-alone': {},
  /** The session has ended, and its automatic note is still due. */
  'note-due': {},
  /** The automatic note was left, or was not needed; `process`: the process that the session had when it died. */
  'note-left': { process: someText },
};

/** What a session did or heard, in whatever worktree. */
const OF_SESSION = {
  /** The session was asked to write a note. `note`: its last note until then; `atStop`: whether a turn was ending. */
  asked: { note: text, atStop: flag },
  /** The session's client and model, as its commits name them; empty: they must name neither. */
  model: { name: text },
  refused: { text, agent },
  /** The session took a note (`<branch>/<topic>`) over from another session. */
  took: { topic: text, from: parseSessionId },
  /** The session's command may make stash entries; `before`: the entries that exist already. */
  stashing: { before: oids },
  /** The command of `stashing` is over, and made these entries. */
  stashed: { entries: oids },
  /** A sub-agent runs. All its changes, also those of earlier runs, now belong to it and not to the session. */
  'agent-started': { agent: text },
  /** The sub-agent (without `agent`: every sub-agent) has ended: its changes are now the session's. */
  'agent-ended': { agent },
  /** The session has ended. If it comes back, what it had heard and been asked no longer counts. */
  ended: {},
  notified: OF_WORKTREE.notified,
};

const KINDS = { ...OF_WORKTREE, ...OF_SESSION };
type Kinds = typeof KINDS;

type ValueOf<Read> = Read extends Field<infer Value> ? Exclude<Value, undefined> : never;
type FieldsOf<Fields> = {
  readonly [Name in keyof Fields as Fields[Name] extends Optional<unknown> ? never : Name]: ValueOf<
    Fields[Name]
  >;
} & {
  readonly [Name in keyof Fields as Fields[Name] extends Optional<unknown> ? Name : never]?:
    (Fields[Name] extends Optional<infer Value> ? Value : never) | undefined;
};

export type EventOf<Kind extends keyof Kinds> = { readonly t: Kind; readonly at: number } & FieldsOf<
  Kinds[Kind]
>;
type OneOf<Kind extends keyof Kinds> = { [One in Kind]: EventOf<One> }[Kind];
export type WorktreeEvent = OneOf<keyof typeof OF_WORKTREE>;
export type SessionEvent = OneOf<keyof typeof OF_SESSION>;
export type JournalEvent = WorktreeEvent | SessionEvent;

/** What is known of a command when it begins. */
export type StartedCommand = Omit<EventOf<'command'>, 't' | 'at' | 'id' | 'look'>;

/** An event as it stands in the journal. */
export interface JournalLine {
  /** The id of the worktree that it is about; `undefined`: it is about the session as a whole. */
  readonly tree: string | undefined;
  readonly event: JournalEvent;
}

/** Formats the lines of a journal. */
export function formatLines(lines: readonly JournalLine[]): string {
  return lines
    .map(({ tree, event: { t, ...fields } }) => `${JSON.stringify({ t, tree, ...fields })}\n`)
    .join('');
}

/** Reads the events of a journal, in order. It skips lines that it cannot read: torn, or of a later version. */
export function parseLines(journal: string): JournalLine[] {
  return journal.split('\n').flatMap((line) => (line === '' ? [] : (parseLine(line) ?? [])));
}

function parseLine(line: string): JournalLine | undefined {
  const value: Readonly<Record<string, unknown>> = jsonFields(line);
  const { t, tree, at } = value;
  if (typeof t !== 'string' || typeof at !== 'number' || !Object.hasOwn(KINDS, t)) return undefined;
  const event: Record<string, unknown> = { t };
  const fields: Readonly<Record<string, Field<unknown> | Optional<unknown>>> = KINDS[t as keyof Kinds];
  for (const [name, field] of Object.entries(fields)) {
    const found = typeof field === 'function' ? field(value[name]) : field.optional(value[name]);
    if (found !== undefined) event[name] = found;
    else if (typeof field === 'function') return undefined;
  }
  event['at'] = at;
  return { tree: text(tree), event: event as unknown as JournalEvent };
}

/** Reads a state; anything invalid counts as "nothing there". */
export function parseFileState(value: unknown): FileState {
  if (typeof value !== 'object' || value === null) return null;
  const { mode, oid: name } = value as Readonly<Record<string, unknown>>;
  return typeof mode === 'string' && /^[0-7]{6}$/.test(mode) ? { mode, oid: oid(name) } : null;
}

function pathStates(value: unknown): readonly (readonly [path: string, state: FileState])[] {
  return (list(value) ?? []).flatMap((item) => {
    const [name, left] = list(item) ?? [];
    return typeof name === 'string' ? [[name, parseFileState(left)] as const] : [];
  });
}

/** Marks an event as a sub-agent's; without `agent`, returns it as it is. */
export function ofAgent<Event extends JournalEvent>(event: Event, agent: string | undefined): Event {
  return agent === undefined ? event : { ...event, agent };
}

type Fields<K extends string> = Readonly<Partial<Record<K, unknown>>>;

/** Returns the fields of a JSON object, and none for any other text. The caller checks the type of each. */
export function jsonFields<K extends string = string>(text: string): Fields<K> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Fields<K>) : ({} as Fields<K>);
  } catch {
    return {} as Fields<K>;
  }
}
