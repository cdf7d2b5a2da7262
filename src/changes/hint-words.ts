import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { plainWord, shellWord } from '../domain/messages.ts';
import { type CommitWords, hasSource } from '../shell/commit-words.ts';
import { hash } from '../git/hash.ts';
import { ensureFolder, repositoryFolder, share } from '../host/folders.ts';
import { onceJudged } from '../host/io.ts';
import { TOP_LITERAL } from './dirty-work.ts';

/**
 * The words of a command that a refusal suggests. The command must work in any shell, so text that cannot be typed on
 * one line is kept in a file, `<common dir>/handoff/typed/<name>`, which the command names.
 */

/** The most paths that a command lists; if there are more, it reads them from a file. */
const MAX_TYPED = 5;
/** How long to keep the file that a hint names: nobody types an older hint. Milliseconds. */
const KEEP_MS = 7 * 86_400_000;

/** Returns ` -- <path>...`, or the option that reads the paths from a file. `typed` returns the word for a path from the top. */
export function pathWords(
  commonDir: string,
  paths: readonly string[],
  typed: (path: string) => string = literal,
): string {
  const words = typedPaths(paths.map(typed));
  if (words !== undefined) return ` -- ${words}`;
  const list = paths.map((path) => `${TOP_LITERAL}${path}\0`).join('');
  return ` --pathspec-from-file=${fileWord(commonDir, list)} --pathspec-file-nul`;
}

/** Returns paths as words of a command line; `undefined` when they have to come from a file. */
export function typedPaths(paths: readonly string[]): string | undefined {
  const words = paths.map(plainPath);
  return paths.length <= MAX_TYPED && words.every((word) => word !== undefined) ? words.join(' ') : undefined;
}

/** Returns a path as a word, unless it has a line feed or tab: what follows could pass for our own output. */
function plainPath(path: string): string | undefined {
  return /[\n\t]/.test(path) ? undefined : plainWord(path);
}

/** Returns a pathspec (gitglossary(7)) that matches only this path. */
export function literal(path: string): string {
  return /[*?[\\]/.test(path) || path.startsWith(':') ? `:(literal)${path}` : path;
}

/** Returns ` -m` for each message, or ` -F` with a file if one of them cannot be typed. */
export function messageWords(commonDir: string, messages: readonly string[]): string {
  const words = messages.map(plainWord);
  if (words.every((word) => word !== undefined)) return words.map((word) => ` -m ${word}`).join('');
  return textWords(commonDir, `${messages.join('\n\n')}\n`);
}

/** Returns ` -F` with a file that holds the message. */
export function textWords(commonDir: string, text: string | Uint8Array): string {
  return ` -F ${fileWord(commonDir, text)}`;
}

export interface Source {
  /** The folder where `git commit` was typed; absolute. */
  readonly folder: string;
  /** The text that `-F` read, if its file will be gone when the hint is typed. */
  readonly text: string | undefined;
  readonly amend: boolean;
}

/** Returns the options that repeat the refused commit's message, because a session's shell cannot open an editor. */
export function sourceWords(
  commonDir: string,
  words: CommitWords | undefined,
  { folder, text, amend }: Source,
): string {
  const { messages = [], file, kept = [] } = words ?? {};
  if (messages.length > 0) return messageWords(commonDir, messages);
  if (file !== undefined && text !== undefined)
    return /\n./s.test(text) ? textWords(commonDir, text) : messageWords(commonDir, [text.trimEnd()]);
  const read = file === undefined || file === '-' ? undefined : plainWord(resolve(folder, file));
  if (read !== undefined) return ` -F ${read}`;
  if (hasSource({ kept })) return kept.some((word) => word.startsWith('--squash')) ? ' --no-edit' : '';
  return amend ? ' --no-edit' : " -m '<message>'";
}

/** Returns what to type after `git handoff` to repeat the refused `git commit`; the caller adds paths. */
export function commitWords(commonDir: string, words: CommitWords | undefined, source: Source): string {
  const kept = otherWords(words?.kept.filter((word) => OUR_OPTIONS.test(word)) ?? []);
  return `commit${source.amend ? ' --amend' : ''}${sourceWords(commonDir, words, source)}${kept}`;
}

/** Options of `git commit` that `git handoff commit` has, too. */
const OUR_OPTIONS =
  /^--(?:author|date|trailer|fixup|reuse-message|signoff|gpg-sign|no-verify|allow-empty)(?:=|$)/;

/** Returns options of a command as they were typed, without those that a message must not show. */
export function otherWords(words: readonly string[]): string {
  return words.flatMap((word) => plainOption(word) ?? []).join('');
}

/** Quotes only the value of an option, so that its name stays easy to read. */
function plainOption(word: string): string | undefined {
  const [, name = '', value] = /^(--[a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
  if (value === undefined) return ` ${name}`;
  const plain = plainWord(value);
  return plain === undefined ? undefined : ` ${name}=${plain}`;
}

/** Keeps a text that a hint needs, and returns the word that names its file. Equal texts share one file. */
export function fileWord(commonDir: string, text: string | Uint8Array): string {
  const folder = join(resolve(repositoryFolder(commonDir)), 'typed');
  const file = join(folder, hash('sha256', text).slice(0, 16));
  onceJudged(() => {
    ensureFolder(folder);
    writeFileSync(file, text, { mode: 0o600 });
    share(file);
    const now = statSync(file).mtimeMs;
    for (const name of readdirSync(folder)) removeOld(join(folder, name), now);
  });
  return shellWord(file);
}

function removeOld(file: string, now: number): void {
  const changed = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now;
  if (changed < now - KEEP_MS) rmSync(file, { force: true });
}
