import { jsonFields } from '../json-fields.ts';
import { EVIDENCE, type FileState, WISHES } from '../ledger/tree-status.ts';
import { parseOid, parseOwner, parseSessionId } from '../names.ts';
import { ABOUT, type EventOf, type JournalEvent, type JournalLine } from './events.ts';

/** Formats the lines of a journal. */
export function formatLines(lines: readonly JournalLine[]): string {
  return lines.map(({ tree, event }) => formatLine(tree, event)).join('');
}

function formatLine(tree: string | undefined, event: JournalEvent): string {
  const { t, ...fields } = event;
  return `${JSON.stringify(tree === undefined ? event : { t, tree, ...fields })}\n`;
}

/** Reads the events of a journal, in order. It skips lines that it cannot read: torn, or of a later version. */
export function parseLines(text: string): JournalLine[] {
  return text.split('\n').flatMap((line) => {
    const found = line === '' ? undefined : parseLine(line);
    return found === undefined ? [] : [found];
  });
}

function parseLine(line: string): JournalLine | undefined {
  const value: Readonly<Record<string, unknown>> = jsonFields(line);
  const { t, tree, at } = value;
  if (typeof t !== 'string' || typeof at !== 'number' || !Object.hasOwn(KINDS, t)) return undefined;
  const event: Record<string, unknown> = { t };
  for (const [name, { read, isOptional }] of Object.entries(KINDS[t as JournalEvent['t']])) {
    const field: unknown = read(value[name]);
    if (field !== undefined) event[name] = field;
    else if (!isOptional) return undefined;
  }
  event['at'] = at;
  return {
    tree: typeof tree === 'string' ? tree : undefined,
    event: event as unknown as JournalEvent,
  };
}

/** How to read one field of an event; `read` returns `undefined` for a value of another kind. */
interface Field<Value> {
  readonly read: (value: unknown) => Value | undefined;
  readonly isOptional: boolean;
}

const required = <Value>(read: Field<Value>['read']): Field<Value> => ({ read, isOptional: false });
const optional = <Value>(read: Field<Value>['read']): Field<Value> => ({ read, isOptional: true });

const asText = (value: unknown) => (typeof value === 'string' ? value : undefined);
const asNumber = (value: unknown) => (typeof value === 'number' ? value : undefined);
const asFlag = (value: unknown) => value === true;
const asMark = (value: unknown) => (value === true ? true : undefined);
const asOid = (value: unknown) => (typeof value === 'string' ? (parseOid(value) ?? null) : null);
const asPath = (value: unknown) =>
  typeof value === 'string' && value !== '' && !value.includes('\0') ? value : undefined;
const asTexts = (value: unknown) =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : undefined;

const text = required(asText);
const path = required(asPath);
const flag = required(asFlag);
const state = required(parseFileState);
const oid = required(asOid);
const texts = required((value) => asTexts(value) ?? []);
const oids = required((value) => (asTexts(value) ?? []).flatMap((one) => parseOid(one) ?? []));
const session = required(parseSessionId);
const owner = required(parseOwner);
const someText = optional(asText);
const someNumber = optional(asNumber);
const someMark = optional(asMark);
const someTexts = optional(asTexts);
const someOwner = optional(parseOwner);

function oneOf<Word extends string>(words: readonly Word[]): Field<Word> {
  return required((value) => words.find((word) => word === value));
}

type Fields<Kind extends JournalEvent['t']> = {
  readonly [Name in Exclude<keyof EventOf<Kind>, 't' | 'at'>]-?: Field<unknown>;
};

/** Every kind of event, with its fields. */
const KINDS: { readonly [Kind in JournalEvent['t']]: Fields<Kind> } = {
  claim: {
    ...{ path, base: state, before: state, after: state, evidence: oneOf(EVIDENCE), weak: flag },
    ...{ agent: someText, began: someNumber },
  },
  end: { path, why: oneOf(['clean', 'committed', 'taken']), by: someOwner, agent: someText },
  revived: { path, agent: someText },
  commit: { parent: oid, paths: required(asPathStates), agent: someText },
  staged: {
    path,
    state,
    agent: someText,
    head: optional((value) => (value === undefined ? undefined : parseFileState(value))),
  },
  announced: { paths: texts, agent: someText },
  answered: { paths: someTexts, agent: someText },
  command: {
    ...{ id: text, look: text, agent: text, named: texts, commits: flag, merged: text, looked: flag },
    shell: someText,
  },
  'command-end': { id: text, from: someNumber, goesOn: someMark, agent: someText },
  head: { ref: text, oid, own: flag, agent: someText },
  tried: { command: text, status: required(asNumber), on: required((value) => asOid(value) ?? undefined) },
  operation: { mark: text, merged: optional((value) => asOid(value) ?? undefined), agent: someText },
  news: {
    ...{ id: text, text, to: someOwner, paths: someTexts, agent: someText },
    about: optional((value) => ABOUT.find((word) => word === value)),
  },
  request: { agent: someText, to: owner, wish: oneOf(WISHES), paths: texts },
  notified: { ids: texts, by: someText, agent: someText },
  registered: { pid: required(asNumber), start: text },
  unregistered: {},
  visit: { top: text },
  'visit-end': {},
  alone: { look: text },
  paused: { look: text },
  'not-alone': {},
  'note-due': {},
  'note-left': { process: someText },
  asked: { note: text, atStop: flag },
  model: { name: text },
  refused: { text, agent: someText },
  took: { topic: text, from: session },
  stashing: { before: oids },
  stashed: { entries: oids },
  'agent-started': { agent: text },
  'agent-ended': { agent: someText },
  ended: {},
};

/** Reads a state; anything invalid counts as "nothing there". */
export function parseFileState(value: unknown): FileState {
  if (typeof value !== 'object' || value === null) return null;
  const { mode, oid: name } = value as Readonly<Record<string, unknown>>;
  return typeof mode === 'string' && /^[0-7]{6}$/.test(mode) ? { mode, oid: asOid(name) } : null;
}

function asPathStates(value: unknown): (readonly [string, FileState])[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    const [name, left] = Array.isArray(item) ? (item as unknown[]) : [];
    return typeof name === 'string' ? [[name, parseFileState(left)] as const] : [];
  });
}

/** Returns an event as one of a sub-agent; without `agent`, as it is. */
export function ofAgent<Event extends JournalEvent>(event: Event, agent: string | undefined): Event {
  return agent === undefined ? event : { ...event, agent };
}
