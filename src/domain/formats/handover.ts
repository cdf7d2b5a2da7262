import { noteSections } from '../note/sections.ts';
import type { Topic } from '../names.ts';
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
