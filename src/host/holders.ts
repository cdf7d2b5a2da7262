import { readdirSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { commandLine } from './command-line.ts';
import { entries, realPath } from './disk.ts';

/** A process that has a file open. */
export interface FileHolder {
  readonly pid: number;
  /** The program's name and its first word, as in "git gc". */
  readonly name: string;
}

/**
 * Who has each of these files open, by the file descriptors that Linux shows in /proc (proc(5)); those of other
 * users only for root. `undefined` where that cannot be told.
 */
export function holdersOf(files: readonly string[]): ReadonlyMap<string, FileHolder> | undefined {
  if (process.platform !== 'linux') return undefined;
  const holders = new Map<string, FileHolder>();
  if (files.length === 0) return holders;
  const wanted = new Map(files.map((file) => [realPath(file), file]));
  for (const pid of entries('/proc').filter((name) => /^\d+$/.test(name))) {
    for (const open of openFiles(pid)) {
      const file = wanted.get(open);
      if (file !== undefined) holders.set(file, { pid: Number(pid), name: nameOf(Number(pid)) });
    }
  }
  return holders;
}

function openFiles(pid: string): string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).flatMap((descriptor) => {
      try {
        return readlinkSync(`${folder}/${descriptor}`);
      } catch {
        return [];
      }
    });
  } catch {
    // Another user's, or gone meanwhile.
    return [];
  }
}

function nameOf(pid: number): string {
  const words = commandLine(pid)?.words ?? [];
  const [program = 'unknown', ...rest] = words;
  return [basename(program), ...rest.filter((word) => /^[a-z][a-z-]*$/.test(word)).slice(0, 1)].join(' ');
}
