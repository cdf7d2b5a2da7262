import { isMarkerFileName, markerOwner } from '../marker.ts';
import { splitNote } from '../note/document.ts';

/** Tells whose format a file is in, by what stands in it before what it is called. */
export function detectFormat(name: string, text: string): Format {
  if (markerOwner(text) !== undefined) return 'guard';
  if (looksStructured(text)) return 'structured';
  const titles = new Set(
    [...text.slice(0, 65_536).matchAll(/^#{1,3}[ \t]+(\w[\w ]*)/gm)].map(([, title]) =>
      (title ?? '').trim().toLowerCase(),
    ),
  );
  if (name === 'handover.md' || (titles.has('metadata') && titles.has('goal') && titles.has('next action')))
    return 'handover';
  return isMarkerFileName(name) ? 'guard' : 'markdown';
}

/** Whether a text begins with front matter that could be that of a structured handoff. */
export function looksStructured(text: string): boolean {
  const yaml = splitNote(text).yaml ?? '';
  return /^(?:handoff_id|schema_version):/m.test(yaml) && /^topic:/m.test(yaml);
}

/** The kinds of files that notes are imported from. */
export type Format = 'guard' | 'handover' | 'structured' | 'markdown';
export const FORMATS: readonly Format[] = ['guard', 'handover', 'structured', 'markdown'];

/** What an export looks like. */
export type ExportFormat = 'markdown' | 'guard' | 'handover';
export const EXPORT_FORMATS: readonly ExportFormat[] = ['markdown', 'guard', 'handover'];
