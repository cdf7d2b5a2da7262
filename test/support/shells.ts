import { findShell, listedShells, shellUnderTest } from '../../scripts/shells.mjs';

/** A shell that may be somebody's `/bin/sh`: its binary, to be called by the name `sh`. */
export interface Shell {
  readonly name: string;
  readonly binary: string;
}

/** What the one-shell-after-the-other tests take: those that nearly every machine has, and those that are asked for (all: npm run test:shells). */
const words = ['dash', 'bash', ...listedShells()];

/** The shells of this machine that scripts of ours are run by; with `GIT_HANDOFF_TEST_SHELL` that one. */
export const shells: readonly Shell[] =
  shellUnderTest === undefined
    ? [...new Set(words)].flatMap((word) => findShell(word) ?? [])
    : [shellUnderTest];

/** Yash ends a text at a byte that its locale does not know: there Node gets every call of the guard as it comes. */
export const isYash = (one: Shell | undefined = shellUnderTest): boolean => one?.name === 'yash';
