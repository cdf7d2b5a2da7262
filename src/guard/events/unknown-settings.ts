import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unknownValueText, type UnknownValue } from '../../domain/settings.ts';
import { repositoryFolder } from '../../host/folders.ts';

/** The lines about values that no setting knows; each is told to one session, and again when it changes. */
export function newUnknownSettings(commonDir: string, unknown: readonly UnknownValue[]): string[] {
  const file = join(repositoryFolder(commonDir), 'settings-told');
  const known = linesIn(file);
  const lines = unknown.map(unknownValueText);
  const fresh = lines.filter((line) => !known.includes(line));
  const isKept = fresh.length === 0 && known.length === lines.length;
  // Told again, where that cannot be remembered.
  if (!isKept) put(file, lines);
  return fresh;
}

function linesIn(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
}

function put(file: string, lines: readonly string[]): void {
  try {
    writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  } catch {
    // Said above.
  }
}
