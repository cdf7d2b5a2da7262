/** Spells a text as a ref's topic: in lower case, with one `-` for each run of anything but letters and digits. */
export function topicSlug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Whether a topic in front matter fits the note's topic: it is the same, or its slug is. */
export function isTopicOf(text: string, topic: string): boolean {
  const slug = topicSlug(text);
  return text === topic || slug === topic || `${slug}-work` === topic;
}
