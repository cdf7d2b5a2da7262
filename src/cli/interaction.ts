import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import type { Io } from '../host/io.ts';
import { renderNotice } from '../ui/terminal.ts';
import { noteSource } from './note-input.ts';
import type { Interaction } from '../verbs/interaction.ts';

export function interaction(io: Io): Interaction {
  const { cwd, env, stdin, stdout, stderr } = io;
  const isTerminal = stdin.isTerminal();
  const ask = async (question: string) => (await import('./question.ts')).askAtTerminal(question, io);
  // Anything but yes is no.
  const confirm = async (plan: string) => /^y(?:es)?$/i.test((await ask(`${plan}\nApply? [y/N] `)).trim());
  return {
    note: noteSource(cwd, stdin),
    edit: async (text) => (await import('./editor.ts')).editText(cwd, text),
    progress: stderr.isTerminal() ? (line) => void stderr.write(`\r\x1b[K${line}`) : undefined,
    warn: (text) => void stderr.write(renderNotice(text)),
    show: (text) => stdout.write(text),
    pass: (said) => void stderr.write(said),
    ask: isTerminal ? ask : undefined,
    installContext: async () => ({
      cwd,
      home: env['HOME'] ?? homedir(),
      env,
      packageRoot: dirname(dirname(realpathSync(io.program))),
      nodePath: process.execPath,
      confirm: isTerminal ? confirm : undefined,
      git: (await import('../git/run.ts')).runGit,
    }),
  };
}
