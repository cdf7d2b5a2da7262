import { type Topic, parseTopic } from '../names.ts';

/** Longer names are cut at a word: they are typed by people. */
const MAX_CHARACTERS = 60;
/** `parseTopic` allows a hundred; a number and its dash must fit behind. */
const MAX_NUMBERED = 95;

/** The words of a text in lower case, as a topic has them: accents go, everything else separates. */
export function slugWords(text: string): string[] {
  return text
    .slice(0, 1024)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .split(/[^a-z0-9]/)
    .filter((word) => word !== '');
}

/**
 * A topic made of a text's words: as many as fit, `-work` after a single one. `fallback` where there is none that
 * carries meaning.
 */
export function topicFrom(words: readonly string[], fallback: string): Topic {
  let name = '';
  for (const word of words) {
    const longer = name === '' ? word.slice(0, MAX_CHARACTERS) : `${name}-${word}`;
    if (longer.length > MAX_CHARACTERS) break;
    name = longer;
  }
  return parseTopic(name) ?? parseTopic(`${name}-work`) ?? (fallback as Topic);
}

/** The name to try when a topic is somebody's already: `auth-refresh-2`. */
export function numberedTopic(topic: Topic, number: number): Topic {
  if (number < 2) return topic;
  return parseTopic(`${topic.slice(0, MAX_NUMBERED).replace(/-$/, '')}-${number}`) ?? topic;
}
