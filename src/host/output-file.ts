import { closeSync, openSync, renameSync, rmSync, writeFileSync, writeSync, fsyncSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { randomName } from './disk.ts';
import { share } from './folders.ts';

/** Replaces the text of one of our files in one step: a reader gets the former text or the new one. */
export function putText(file: string, text: string): void {
  const temporary = `${file}.${randomName()}.new`;
  writeFileSync(temporary, text, { mode: 0o600 });
  share(temporary);
  renameSync(temporary, file);
}

/** Replaces any file in the same way, and syncs it to the disk. A link is replaced, not followed. */
export function replaceFile(path: string, content: Uint8Array, mode = 0o666): void {
  const temporary = join(dirname(path), `.git-handoff-${randomName()}`);
  const file = openSync(temporary, 'wx', mode);
  try {
    try {
      for (let at = 0; at < content.length;) at += writeSync(file, content, at);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
