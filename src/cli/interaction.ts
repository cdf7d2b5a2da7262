import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Io, Terminal } from '../host/io.ts';
import { renderNotice } from '../ui/terminal.ts';
import type { Interaction } from '../verbs/interaction.ts';
import { noteSource } from './note-input.ts';
import { homeFolder } from '../host/folders.ts';

/** What a verb may ask of whoever typed it, and show meanwhile. */
export function interaction(io: Io): Interaction {
  const { cwd, env, stdin, stdout, stderr, terminal } = io;
  const ask = terminal?.isInput === true ? asking(terminal) : undefined;
  return {
    note: noteSource(cwd, stdin, ask !== undefined),
    edit: async (text) => (await import('./editor.ts')).editText(cwd, text),
    progress: terminal?.isErrors === true ? (line) => void stderr.write(`\r\x1b[K${line}`) : undefined,
    warn: (text) => void stderr.write(renderNotice(text)),
    show: (text) => stdout.write(text),
    pass: (said) => void stderr.write(said),
    ask,
    installContext: async () => ({
      cwd,
      home: homeFolder(env),
      env,
      packageRoot: dirname(dirname(realpathSync(io.program))),
      nodePath: process.execPath,
      confirm: ask && confirming(ask),
      git: (await import('../git/run.ts')).runGit,
      platform: process.platform,
    }),
  };
}

type Asking = (question: string) => Promise<string>;

function asking(terminal: Terminal): Asking {
  return async (question) => (await import('./question.ts')).askAtTerminal(question, terminal);
}

/** Shows a plan and asks; anything but yes is no. */
function confirming(ask: Asking): (plan: string) => Promise<boolean> {
  return async (plan) => /^y(?:es)?$/i.test((await ask(`${plan}\nApply? [y/N] `)).trim());
}
