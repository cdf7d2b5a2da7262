import { possibleRules } from '../../domain/secrets/literals.ts';
import type { SecretFinding } from '../../domain/secrets/verdict.ts';

/**
 * Finds what looks like a secret in a note, by the rules of secretlint. A note that holds none of the words that a rule
 * needs costs microseconds; a mebibyte of hostile text a tenth of a second.
 */
export async function findSecrets(note: Uint8Array): Promise<readonly SecretFinding[]> {
  const text = textOf(note);
  const rules = possibleRules(text);
  if (rules.length === 0) return [];
  const { scanText } = await import('./scanner.ts');
  return scanText(text, rules);
}

/** The text of a note: bytes that are not UTF-8 are replaced, and NULs removed, so that UTF-16 is readable. */
function textOf(note: Uint8Array): string {
  const text = Buffer.from(note.buffer, note.byteOffset, note.byteLength).toString('utf8');
  return text.includes('\0') ? text.replaceAll('\0', '') : text;
}
