import { escapeLine } from '../../domain/surfacing.ts';
import { decodeNote, mayHaveFrontMatter } from '../../notes/front-matter/prepare.ts';

/** What a stored note's front matter says, and what is wrong with it: notes come from elsewhere, too. */
interface NoteFacts {
  readonly shape: StructureShape;
  readonly notices: readonly string[];
}

const PLAIN: StructureShape = { structured: false, handoffId: null, tags: [], references: [] };

/** Reads the front matter of a note that is shown. `now` in milliseconds since the epoch. */
export async function noteFacts(note: Uint8Array, now: number): Promise<NoteFacts> {
  const text = decodeNote(note);
  if (text === undefined || !mayHaveFrontMatter(note)) return { shape: PLAIN, notices: [] };
  const { readNote } = await import('../../notes/front-matter/read.ts');
  const read = readNote(text, now);
  if (read.kind === 'none' || read.kind === 'foreign') return { shape: PLAIN, notices: [] };
  if (read.kind === 'invalid') return { shape: PLAIN, notices: [`${read.problem.message}: it is ignored`] };
  const { id, otherId } = read;
  const { to, from, tags, references } = read.fields;
  return {
    shape: { structured: true, handoffId: id, to, from, tags, references },
    notices:
      otherId === undefined ? [] : [`its handoff_id is ${escapeLine(otherId)}, but its content has ${id}`],
  };
}

/** What a note's front matter says; `to` and `from` there stand for those of the trailers. */
export interface StructureShape {
  /** There is front matter of ours, and it is valid. */
  readonly structured: boolean;
  /** Of the content as it stands. */
  readonly handoffId: string | null;
  readonly to?: string | null;
  readonly from?: string | null;
  readonly tags: readonly string[];
  readonly references: readonly string[];
}
