import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UnknownValue } from '../../domain/settings.ts';
import { unknownValueText } from '../../domain/unknown-value.ts';
import { readText } from '../../host/disk.ts';
import { repositoryFolder } from '../../host/folders.ts';

/** The lines about values that no setting knows; each is told to one session, and again when it changes. */
export function newUnknownSettings(commonDir: string, unknown: readonly UnknownValue[]): string[] {
  const file = join(repositoryFolder(commonDir), 'settings-told');
  const known = readText(file).split('\n').filter(Boolean);
  const lines = unknown.map(unknownValueText);
  const fresh = lines.filter((line) => !known.includes(line));
  if (fresh.length > 0 || known.length > lines.length) put(file, lines);
  return fresh;
}

function put(file: string, lines: readonly string[]): void {
  try {
    writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  } catch {
    // Then they are told once more.
  }
}
