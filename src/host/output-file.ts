import { closeSync, openSync, renameSync, rmSync, writeSync, fsyncSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { randomName } from './random-name.ts';

/** Writes a file that programs may read at any time: they have the former text or the new one. A link there is replaced. */
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
