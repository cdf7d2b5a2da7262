import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { runGit } from '../git/run.ts';
import type { InstallContext } from '../install/context.ts';
import { type NoteSource, noteSource } from './note-input.ts';

/** What a command may ask of the person or the process; commands themselves see neither. */
export interface Interaction {
  readonly note: NoteSource;
  installContext(): InstallContext;
}

export function interaction(cwd: string, env: NodeJS.ProcessEnv): Interaction {
  const isTerminal = process.stdin.isTTY;
  return {
    note: noteSource(cwd, isTerminal),
    installContext: () => ({
      cwd,
      home: env['HOME'] ?? homedir(),
      env,
      packageRoot: dirname(dirname(realpathSync(process.argv[1] ?? ''))),
      nodePath: process.execPath,
      confirm: isTerminal ? confirm : undefined,
      git: runGit,
    }),
  };
}

/** Shows a plan and asks; anything but yes is no. */
async function confirm(plan: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${plan}\nApply? [y/N] `);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
