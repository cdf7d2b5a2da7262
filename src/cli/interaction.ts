import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { isatty } from 'node:tty';
import { renderNotice } from '../ui/terminal.ts';
import { noteSource } from './note-input.ts';
import type { Interaction } from './verbs/interaction.ts';

export function interaction(cwd: string, env: NodeJS.ProcessEnv): Interaction {
  // `process.stdin` would make a pipe non-blocking, and a note that comes late could not be read.
  const isTerminal = isatty(0);
  return {
    note: noteSource(cwd, isTerminal),
    edit: async (text) => (await import('./editor.ts')).editText(cwd, text),
    progress: isatty(2) ? (line) => process.stderr.write(`\r\x1b[K${line}`) : undefined,
    warn: (text) => process.stderr.write(renderNotice(text)),
    ask: isTerminal ? ask : undefined,
    installContext: async () => ({
      cwd,
      home: env['HOME'] ?? homedir(),
      env,
      packageRoot: dirname(dirname(realpathSync(process.argv[1] ?? ''))),
      nodePath: process.execPath,
      confirm: isTerminal ? confirm : undefined,
      git: (await import('../git/run.ts')).runGit,
    }),
  };
}

/** Shows a plan and asks; anything but yes is no. */
async function confirm(plan: string): Promise<boolean> {
  const answer = await ask(`${plan}\nApply? [y/N] `);
  return /^y(?:es)?$/i.test(answer.trim());
}

async function ask(question: string): Promise<string> {
  const { askAtTerminal } = await import('./question.ts');
  return askAtTerminal(question);
}
