import type { Program } from '../machine.ts';
import { awk } from './awk.ts';
import { ed, emacs, sqlite, vim } from './editors.ts';
import { INTERPRETERS } from './interpreters.ts';

/** The names of programs that run what is written in a language of their own, by what reads it. */
const LANGUAGES = {
  python: 'python pypy ipython',
  node: 'node nodejs bun tsx ts-node',
  deno: 'deno',
  php: 'php',
  perl: 'perl',
  ruby: 'ruby',
  lua: 'lua luajit',
  r: 'Rscript R',
  other: 'julia elixir groovy osascript scala jshell',
  awk: 'awk gawk mawk nawk original-awk',
  ed: 'ed red',
  vim: 'vim vi nvim ex view rvim gvim',
  emacs: 'emacs',
  sqlite: 'sqlite3 sqlite',
};

const READERS: Readonly<Record<keyof typeof LANGUAGES, Program>> = {
  ...INTERPRETERS,
  awk,
  ed,
  vim,
  emacs,
  sqlite,
};

/** Programs that run what is written in a language of their own, by name. */
export const LANGUAGE_PROGRAMS: ReadonlyMap<string, Program> = new Map(
  Object.entries(LANGUAGES).flatMap(([language, names]) =>
    names.split(' ').map((name) => [name, READERS[language as keyof typeof LANGUAGES]] as const),
  ),
);
