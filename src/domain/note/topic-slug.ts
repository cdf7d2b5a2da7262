/** A text as a ref's topic would spell it: lower case, everything else but letters and digits as one `-`. */
export function topicSlug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Whether front matter's topic may stand in a note of that topic: it is it, or is it by its slug. */
export function isTopicOf(text: string, topic: string): boolean {
  const slug = topicSlug(text);
  return text === topic || slug === topic || `${slug}-work` === topic;
}
