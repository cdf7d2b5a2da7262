import { type FrontMatter, readFrontMatter } from '../../domain/note/front-matter.ts';
import { handoffId } from '../../domain/note/handoff-id.ts';
import { splitNote } from '../../domain/note/sections.ts';
import { hash } from '../../git/hash.ts';

/**
 * Reads the front matter of a note, wherever it comes from. `id` is computed from the content; `otherId` is the id that the
 * front matter states, if it differs. `now` in milliseconds since the epoch.
 */
export function readNote(text: string, now: number) {
  const { yaml, body } = splitNote(text);
  if (yaml === undefined) return { kind: 'none' } as const;
  const read = readFrontMatter(yaml, now);
  if (read.kind !== 'structured') return read;
  const { fields } = read;
  const id = noteId(fields, body);
  return { ...read, body, id, otherId: fields.handoff_id === id ? undefined : fields.handoff_id };
}

/** The id of a structured note, computed from its content. */
export function noteId(fields: FrontMatter, body: string): string {
  return handoffId(fields, body, (content) => hash('sha256', content));
}
