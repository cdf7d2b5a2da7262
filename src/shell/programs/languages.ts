import type { Program } from '../machine.ts';
import { awk } from './awk.ts';
import { ed, emacs, sqlite, vim } from './editors.ts';
import { INTERPRETERS } from './interpreters.ts';
import { type LanguageName, languageTable } from './language-names.ts';

const PROGRAMS: Readonly<Record<LanguageName, Program>> = { ...INTERPRETERS, awk, ed, vim, emacs, sqlite };

/** What `analyse.ts` loads when a command calls one of them. */
export const LANGUAGE_PROGRAMS = languageTable((language) => PROGRAMS[language]);
