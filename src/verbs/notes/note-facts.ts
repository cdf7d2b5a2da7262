import { splitNote } from '../../domain/note/document.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { hash } from '../../git/hash.ts';
import { decodeNote } from '../../notes/front-matter/prepare.ts';

/** What a stored note's front matter says, and what is wrong with it: notes come from elsewhere, too. */
export interface NoteFacts {
  readonly shape: StructureShape;
  readonly notices: readonly string[];
}

const PLAIN: StructureShape = { structured: false, handoffId: null, tags: [], references: [] };

/** Reads the front matter of a note that is shown. `now` in milliseconds since the epoch. */
export async function noteFacts(note: Uint8Array, now: number): Promise<NoteFacts> {
  const text = decodeNote(note);
  const { yaml, body } = text === undefined ? { yaml: undefined, body: '' } : splitNote(text);
  if (yaml === undefined) return { shape: PLAIN, notices: [] };
  const { readFrontMatter } = await import('../../domain/note/front-matter.ts');
  const read = readFrontMatter(yaml, now);
  if (read.kind === 'foreign') return { shape: PLAIN, notices: [] };
  if (read.kind === 'invalid')
    return { shape: PLAIN, notices: [`${read.problem.message}: nothing in it counts`] };
  const { handoffId } = await import('../../domain/note/handoff-id.ts');
  const { fields } = read;
  const id = handoffId(fields, body, (content) => hash('sha256', content));
  const differs = fields.handoffId !== undefined && fields.handoffId !== id;
  const { to, from, tags, references } = fields;
  return {
    shape: { structured: true, handoffId: id, to, from, tags, references },
    notices: differs ? [`its handoff_id is ${escapeLine(fields.handoffId)}, but its content has ${id}`] : [],
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
