import { type Topic, parseLongTopic } from '../names.ts';

/** Returns the words of a text as a topic has them: in lower case, without accents, split at everything else. */
export function slugWords(text: string): string[] {
  return text
    .slice(0, 1024)
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .split(/[^a-z0-9]/)
    .filter((word) => word !== '');
}

/** Spells a text as a ref's topic. */
export const topicSlug = (text: string): string => slugWords(text).join('-');

/** Longer names are cut at a word, because people type them. */
const MAX_CHARACTERS = 60;

/** Makes a topic of the words that fit in `most` characters; `fix` alone gives `fix-work`. Returns `fallback` if all fails. */
export function topicFrom(words: readonly string[], fallback: string, most = MAX_CHARACTERS): Topic {
  let name = '';
  for (const word of words) {
    const longer = name === '' ? word.slice(0, most) : `${name}-${word}`;
    if (longer.length > most) break;
    name = longer;
  }
  return parseLongTopic(name) ?? parseLongTopic(`${name}-work`) ?? (fallback as Topic);
}

/** Whether a topic in front matter fits the note's topic: it is the same, or its slug is. */
export function isTopicOf(text: string, topic: string): boolean {
  const slug = topicSlug(text);
  return text === topic || slug === topic || `${slug}-work` === topic;
}
