/**
 * Text that is known only in part: a character that no guarded name holds stands for a stretch of unknown
 * text. `"$(date)/x"` expands to UNKNOWN + '/x'.
 */
export const UNKNOWN = '\uffff';

/** Whether every character of a text is known. */
export function isKnown(text: string): boolean {
  return !text.includes(UNKNOWN);
}
