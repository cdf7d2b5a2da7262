import { markerOwner } from '../marker.ts';
import {
  type BranchName,
  type SessionId,
  type Topic,
  parseClientSessionId,
  parseBranchName,
  parseTopic,
} from '../names.ts';
import { slugWords, topicFrom } from './topic-name.ts';

/** Where a note of claude-handoff-guard belongs. */
interface GuardPlace {
  readonly branch: BranchName;
  readonly topic: Topic;
}

const PREFIX = /^handoff-/i;
const FALLBACK = 'imported-note';

/**
 * Tells branch and topic of `handoff-<branch>-<topic>.md`, a name that does not say where one ends and the other
 * begins: the longest of the existing branches that leaves a topic; else the longest that leaves a word at all; else
 * the first word is the branch, also when there is none of that name (any more). `current` is for a name of one word.
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
  if (best !== undefined) return { branch: best.branch, topic: topicFrom(best.rest, FALLBACK) };
  const [first = '', ...rest] = words;
  const branch = rest.length === 0 ? current : (parseBranchName(first) ?? current);
  return { branch, topic: topicFrom(rest.length === 0 ? words : rest, FALLBACK) };
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
