import type { Program } from '../machine.ts';

/** The names of programs that run what is written in a language of their own, by what reads it (`languages.ts`). */
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

export type LanguageName = keyof typeof LANGUAGES;

/** A table of these programs by name. */
export function languageTable(programOf: (language: LanguageName) => Program): ReadonlyMap<string, Program> {
  return new Map(
    Object.entries(LANGUAGES).flatMap(([language, names]) =>
      names.split(' ').map((name) => [name, programOf(language as LanguageName)] as const),
    ),
  );
}
