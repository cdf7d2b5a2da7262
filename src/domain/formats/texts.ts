import { isMarkerFileName, markerLine, markerOwner } from '../marker.ts';
import {
  type BranchName,
  type Oid,
  type SessionId,
  type Topic,
  parseBranchName,
  parseClientSessionId,
  parseLongTopic,
  parseOid,
  parseTopic,
} from '../names.ts';
import { splitNote, noteSections } from '../note/sections.ts';
import { slugWords, topicFrom } from '../note/topic-slug.ts';

/** The texts of other programs' files, and of the files that we write for them. */

/** The kinds of files that notes are imported from. */
export type Format = 'guard' | 'handover' | 'structured' | 'markdown';
export const FORMATS: readonly Format[] = ['guard', 'handover', 'structured', 'markdown'];

export type ExportFormat = 'markdown' | 'guard' | 'handover';
export const EXPORT_FORMATS: readonly ExportFormat[] = ['markdown', 'guard', 'handover'];

/** Tells a file's format, from its content first, then from its name. */
export function detectFormat(name: string, text: string): Format {
  if (markerOwner(text) !== undefined) return 'guard';
  if (looksStructured(text)) return 'structured';
  const titles = new Set(
    [...text.slice(0, 65_536).matchAll(/^#{1,3}[ \t]+(\w[\w ]*)/gm)].map(([, title]) =>
      (title ?? '').trim().toLowerCase(),
    ),
  );
  if (name === 'handover.md' || (titles.has('metadata') && titles.has('goal') && titles.has('next action')))
    return 'handover';
  return isMarkerFileName(name) ? 'guard' : 'markdown';
}

/** Whether a text begins with the front matter that structured handoffs have. */
export function looksStructured(text: string): boolean {
  const yaml = splitNote(text).yaml ?? '';
  return /^(?:handoff_id|schema_version):/m.test(yaml) && /^topic:/m.test(yaml);
}

interface NotePlace {
  readonly branch: BranchName;
  readonly topic: Topic;
}

/** What the first line of an exported file says. */
interface ExportOrigin extends NotePlace {
  readonly oid: Oid;
  readonly owner: SessionId | undefined;
  readonly format: ExportFormat;
}

/** What programs that read a handover expect above the note. */
interface HandoverFacts {
  readonly head: string | undefined;
  /** RFC 3339. */
  readonly updated: string;
}

const FIRST_LINE =
  /^(?:<!-- claude-session: ([^ \n]+) --> )?<!-- git-handoff: a copy of ([^ \n]+) at ([0-9a-f]+)(, a handover)?\. /;
const NOTE_BEGINS = '<!-- git-handoff: the note begins -->\n';
/** How much of a file is searched for an `exportHeader`. Characters. */
const MAX_HEADER = 4096;

/**
 * Returns what precedes the note in an exported file: a comment that names the handoff and says that this is a copy.
 * For claude-handoff-guard, the owner's marker stands on the same line; for handover, a Metadata section follows.
 */
export function exportHeader(origin: ExportOrigin, facts: HandoverFacts): string {
  const { branch, topic, oid, owner, format } = origin;
  const place = encodeURI(`${branch}/${topic}`).replace(
    /[>!']/g,
    (one) => `%${one.charCodeAt(0).toString(16)}`,
  );
  const marker = format === 'guard' && owner !== undefined ? `${markerLine(owner)} ` : '';
  const kind = format === 'handover' ? ', a handover' : '';
  const comment = `<!-- git-handoff: a copy of ${place} at ${oid}${kind}. Changes here stay here until git handoff import -->\n`;
  if (format !== 'handover') return marker + comment;
  const fields = [`Updated: ${facts.updated}`, `Branch: ${branch}`, `HEAD: ${facts.head ?? '(not known)'}`];
  const lines = fields.map((field) => `- ${field}\n`).join('');
  return `${comment}# Session Handover\n\n## Metadata\n\n${lines}\n${NOTE_BEGINS}`;
}

/** Reads a file that begins with an `exportHeader`; its note begins at the character `noteAt`. `undefined` for any other. */
export function readExported(text: string): (ExportOrigin & { readonly noteAt: number }) | undefined {
  const beginning = text.slice(0, MAX_HEADER);
  const match = FIRST_LINE.exec(beginning);
  const lineEnd = beginning.indexOf('\n');
  if (match === null || lineEnd < 0) return undefined;
  const [, marker, place = '', oidText = '', handover] = match;
  const named = decode(place);
  const oid = parseOid(oidText);
  if (named === undefined || oid === undefined) return undefined;
  const begins = handover === undefined ? lineEnd + 1 : beginning.indexOf(NOTE_BEGINS) + NOTE_BEGINS.length;
  if (begins < lineEnd + 1) return undefined;
  const format = handover !== undefined ? 'handover' : marker === undefined ? 'markdown' : 'guard';
  return { ...named, oid, owner: parseClientSessionId(marker), format, noteAt: begins };
}

function decode(place: string): NotePlace | undefined {
  let text: string;
  try {
    text = decodeURIComponent(place);
  } catch {
    return undefined;
  }
  const slash = text.lastIndexOf('/');
  const branch = parseBranchName(text.slice(0, Math.max(slash, 0)));
  const topic = parseTopic(text.slice(slash + 1));
  return branch === undefined || topic === undefined ? undefined : { branch, topic };
}

/** What a handover says about itself. */
export interface Handover {
  readonly topic: Topic;
  /** The first line of its Goal; `undefined`: no goal is given. */
  readonly goal: string | undefined;
  /** Taken from its Metadata section, unchecked. */
  readonly branch: string | undefined;
  readonly head: string | undefined;
}

const FALLBACK = 'handover-note';
/** The most words of a topic: more would be a sentence. */
const MAX_WORDS = 6;
/** Words that say nothing in a name. */
const SMALL = new Set('the and for a an of to in on with'.split(' '));
/** How many lines are searched for the Metadata, which the template puts first. */
const MAX_LINES = 200;
const HEADING = /^#{1,6}[ \t]+(\S.*)$/;
const FIELD = /^[ \t]*(?:[-*][ \t]+)?\*{0,2}(branch|head)\*{0,2}:\*{0,2}(.*)$/i;

/** Reads the Goal and the Metadata of a handover.md. */
export function readHandover(text: string): Handover {
  const goal = noteSections(text).goal ?? '';
  const line = goal.split('\n').find((one) => slugWords(one).length > 0) ?? '';
  const unsaid = line === '' || /^\(?not specified\)?\.?$/i.test(line.trim());
  const words = slugWords(unsaid ? '' : line).filter((word) => !SMALL.has(word));
  const topic = topicFrom(words.slice(0, MAX_WORDS), FALLBACK);
  return { topic, goal: unsaid ? undefined : line, ...metadata(text) };
}

function metadata(text: string): Pick<Handover, 'branch' | 'head'> {
  const found = new Map<string, string>();
  let inside = false;
  for (const line of text.split(/\r\n|\n|\r/, MAX_LINES)) {
    const heading = HEADING.exec(line)?.[1];
    if (heading !== undefined) inside = /^metadata\b/i.test(heading);
    const [, name = '', value = ''] = (inside ? FIELD.exec(line) : null) ?? [];
    const key = name.toLowerCase();
    if (key !== '' && !found.has(key)) found.set(key, value.replaceAll('`', '').trim());
  }
  const valueOf = (key: string) => (found.get(key) === '' ? undefined : found.get(key));
  return { branch: valueOf('branch'), head: valueOf('head') };
}

const PREFIX = /^handoff-/i;
const IMPORTED = 'imported-note';

/**
 * Splits `handoff-<branch>-<topic>.md`, a name that does not say where the branch ends. The branch is the longest existing
 * one that leaves a valid topic or, failing that, at least a word. If no existing branch fits, the first word is the branch.
 * A single word is the topic, on the branch `current`.
 */
export function guardPlace(name: string, branches: readonly BranchName[], current: BranchName): NotePlace {
  const words = slugWords(name.replace(PREFIX, '').replace(/\.md$/i, ''));
  const found = branches
    .map((branch) => ({ branch, begin: slugWords(branch) }))
    .filter(({ begin }) => begin.length > 0 && begin.every((word, at) => word === words[at]))
    .sort((a, b) => b.begin.length - a.begin.length || b.branch.length - a.branch.length)
    .map(({ branch, begin }) => ({ branch, rest: words.slice(begin.length) }));
  const best =
    found.find(({ rest }) => parseLongTopic(rest.join('-')) !== undefined) ??
    found.find(({ rest }) => rest.length > 0) ??
    found[0];
  if (best !== undefined) return { branch: best.branch, topic: topicFrom(best.rest, IMPORTED) };
  const [first = '', ...rest] = words;
  const branch = rest.length === 0 ? current : (parseBranchName(first) ?? current);
  return { branch, topic: topicFrom(rest.length === 0 ? words : rest, IMPORTED) };
}

/** Returns the session that the marker on the first line names as owner; `undefined`: it names no valid id. */
export function guardOwner(text: string): SessionId | undefined {
  return parseClientSessionId(markerOwner(text));
}

/** Returns the text without the line of the marker. */
export function withoutMarker(text: string): string {
  if (markerOwner(text) === undefined) return text;
  const end = text.indexOf('\n');
  return end < 0 ? '' : text.slice(end + 1);
}

/** A row in the INDEX.md of structured handoffs. */
interface IndexRow {
  /** `sha256:<64 hex>`, as the index has it; empty if the column is empty. */
  readonly id: string;
  readonly file: string;
}

/** How many rows are read: nobody keeps a longer index. */
const MAX_ROWS = 10_000;

/**
 * Reads the table of an INDEX.md by the names of its columns. Blank lines between rows and blanks before rows do not end
 * the table, because the program that maintains the index leaves both behind. Empty if there is no such table.
 */
export function parseIndex(text: string): IndexRow[] {
  let columns: Map<string, number> | undefined;
  const rows: IndexRow[] = [];
  for (const line of text.split(/\r\n|\n|\r/)) {
    const cells = cellsOf(line);
    if (cells === undefined) continue;
    const names = cells.map((cell) => cell.toLowerCase());
    if (names.includes('handoff_id') && names.includes('file')) {
      columns = new Map(names.map((name, at) => [name, at]));
      continue;
    }
    if (columns === undefined || cells.every((cell) => /^:?-*:?$/.test(cell))) continue;
    const cell = (name: string) => cells[columns?.get(name) ?? -1] ?? '';
    const file = cell('file');
    if (file === '') continue;
    rows.push({ id: cell('handoff_id'), file });
    if (rows.length >= MAX_ROWS) break;
  }
  return rows;
}

/** The cells of `| a | b |`; `undefined` for another line. */
function cellsOf(line: string): string[] | undefined {
  const text = line.trim();
  if (!text.startsWith('|')) return undefined;
  const inner = text.slice(1, text.length > 1 && text.endsWith('|') ? -1 : undefined);
  return inner.split('|').map((cell) => cell.replaceAll('`', '').trim());
}

/** Returns the bare name of a file that an index lists; `undefined` if its path leads out of the index's folder. */
export function indexedName(file: string, folder: string): string | undefined {
  const link = /^\[[^[\]]*\]\(([^()]*)\)$/.exec(file)?.[1] ?? file;
  const slash = link.lastIndexOf('/');
  const parent = link.slice(0, Math.max(slash, 0)).replace(/^\.(?:\/|$)/, '');
  const name = link.slice(slash + 1);
  if (slash === 0 || name === '' || name === '.' || name === '..' || /[\\\0]/.test(name)) return undefined;
  // The program that maintains the index may write the path from the top of the repository.
  return parent === '' || folder === parent || folder.endsWith(`/${parent}`) ? name : undefined;
}
