import { escapeLine, Failure } from '../../domain/messages.ts';
import { summarise } from '../../domain/handoff.ts';
import {
  type Address,
  type NoteScene,
  type PreparedNote,
  isAddressed,
  splitNote,
} from '../../domain/note/sections.ts';

/** Whether a note may have front matter, judging by its first bytes; a byte order mark may come before it. */
export function mayHaveFrontMatter(note: Uint8Array): boolean {
  return /^(?:\xef\xbb\xbf)?---/.test(Buffer.from(note.subarray(0, 6)).toString('latin1'));
}

/** A note's text; `undefined` when its bytes are not UTF-8. A byte order mark stays. */
export function decodeNote(note: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(note);
  } catch {
    return undefined;
  }
}

/**
 * Checks and completes a note before it is written. The code for front matter is loaded only for a note that has some, or is to
 * get some.
 *
 * @throws Failure `usage` or `integrity` for wrong front matter of our kind.
 */
export async function prepareNote(
  note: Uint8Array,
  address: Address,
  scene: NoteScene,
): Promise<PreparedNote> {
  const text = decodeNote(note) ?? Buffer.from(note).toString('utf8');
  const { yaml, body } = splitNote(text);
  const plain = { note, summary: summarise(body, escapeLine), to: undefined, from: undefined };
  if (yaml === undefined && !isAddressed(address)) return plain;
  const { structuredNote } = await import('./structured.ts');
  const structured = structuredNote(text, address, scene);
  if (structured === undefined) return plain;
  if (decodeNote(note) !== undefined) return { ...plain, ...structured };
  throw new Failure('usage', 'a note with front matter must be UTF-8', { hint: 'iconv -t UTF-8 <file>' });
}
