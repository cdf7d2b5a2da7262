import { splitNote } from '../note/document.ts';

/** Whether a text begins with front matter that could be that of a structured handoff. */
export function looksStructured(text: string): boolean {
  const yaml = splitNote(text).yaml ?? '';
  return /^(?:handoff_id|schema_version):/m.test(yaml) && /^topic:/m.test(yaml);
}
