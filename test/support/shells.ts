import { findShell, listedShells, shellUnderTest } from '../../scripts/shells.mjs';

/** A shell that may be somebody's `/bin/sh`. Its binary runs under the name `sh`. */
export interface Shell {
  readonly name: string;
  readonly binary: string;
}

/** Shells that tests try: those of nearly every machine, and those that GIT_HANDOFF_SHELLS lists. */
const words = ['dash', 'bash', ...listedShells()];

/** The shells of this machine in which tests run our scripts; only one if `GIT_HANDOFF_TEST_SHELL` names it. */
export const shells: readonly Shell[] =
  shellUnderTest === undefined
    ? [...new Set(words)].flatMap((word) => findShell(word) ?? [])
    : [shellUnderTest];

/** Yash cuts a text off at a byte that is invalid in its locale, so under yash the launcher leaves all guard calls to Node. */
export const isYash = (one: Shell | undefined = shellUnderTest): boolean => one?.name === 'yash';
