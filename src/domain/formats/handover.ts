import { markerOwner } from '../marker.ts';
import {
  type Topic,
  type BranchName,
  type SessionId,
  parseClientSessionId,
  parseBranchName,
  parseTopic,
} from '../names.ts';
import { noteSections } from '../note/sections.ts';
import { slugWords, topicFrom } from './topic-name.ts';

/** What a handover says about itself. */
export interface Handover {
  readonly topic: Topic;
  /** Its first line; `undefined` where none is given. */
  readonly goal: string | undefined;
  /** As its Metadata say; not checked. */
  readonly branch: string | undefined;
  readonly head: string | undefined;
}

const FALLBACK = 'handover-note';
/** Words that a topic is made of: more would be a sentence. */
const MAX_WORDS = 6;
/** They say nothing in a name. */
const SMALL = new Set('the and for a an of to in on with'.split(' '));
/** The template puts its Metadata first; a long note is not searched to its end. */
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
  const said = (key: string) => (found.get(key) === '' ? undefined : found.get(key));
  return { branch: said('branch'), head: said('head') };
}

/** Where a note of claude-handoff-guard belongs. */
interface GuardPlace {
  readonly branch: BranchName;
  readonly topic: Topic;
}

const PREFIX = /^handoff-/i;
const IMPORTED = 'imported-note';

/**
 * Tells branch and topic of `handoff-<branch>-<topic>.md`, a name that does not say where one ends and the other
 * begins: the longest of the existing branches that leaves a topic; else the longest that leaves a word at all; else
 * the first word is the branch, even if no branch has that name. `current` is for a name of one word.
 */
export function guardPlace(name: string, branches: readonly BranchName[], current: BranchName): GuardPlace {
  const words = slugWords(name.replace(PREFIX, '').replace(/\.md$/i, ''));
  const found = branches
    .map((branch) => ({ branch, begin: slugWords(branch) }))
    .filter(({ begin }) => begin.length > 0 && begin.every((word, at) => word === words[at]))
    .sort((a, b) => b.begin.length - a.begin.length || b.branch.length - a.branch.length)
    .map(({ branch, begin }) => ({ branch, rest: words.slice(begin.length) }));
  const best =
    found.find(({ rest }) => parseTopic(rest.join('-')) !== undefined) ??
    found.find(({ rest }) => rest.length > 0) ??
    found[0];
  if (best !== undefined) return { branch: best.branch, topic: topicFrom(best.rest, IMPORTED) };
  const [first = '', ...rest] = words;
  const branch = rest.length === 0 ? current : (parseBranchName(first) ?? current);
  return { branch, topic: topicFrom(rest.length === 0 ? words : rest, IMPORTED) };
}

/** The session whose file it is by the marker on its first line; `undefined` where that names none that could be one. */
export function guardOwner(text: string): SessionId | undefined {
  return parseClientSessionId(markerOwner(text));
}

/** The text without the marker's line: what a reader would call the note. */
export function withoutMarker(text: string): string {
  if (markerOwner(text) === undefined) return text;
  const end = text.indexOf('\n');
  return end < 0 ? '' : text.slice(end + 1);
}
