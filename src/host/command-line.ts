import { existsSync, readFileSync } from 'node:fs';

/** The words that a process was started with. */
interface CommandLine {
  readonly words: readonly string[];
  /** False if the system joins the words with blanks, so that a word with a blank in it looks like several. */
  readonly exact: boolean;
}

/** A process's command line; `undefined` when the process is gone or we may not look at it. */
export function commandLine(pid: number): CommandLine | undefined {
  try {
    if (existsSync('/proc/self/stat')) {
      const text = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return text === '' ? undefined : { words: text.replace(/\0$/, '').split('\0'), exact: true };
    }
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    const options = { encoding: 'utf8', timeout: 300 } as const;
    const text = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], options).trim();
    return { words: text.split(/\s+/), exact: false };
  } catch {
    return undefined;
  }
}
