// The shells that may be somebody's /bin/sh, and how the tests and the demo run our scripts in one of them.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/**
 * A shell of this machine, to be run under the name `sh`; undefined if it is not installed.
 * @param {string} word its name, or the path of its binary
 * @returns {{ name: string, binary: string } | undefined}
 */
export function findShell(word) {
  const found = spawnSync('/bin/sh', ['-c', 'command -v -- "$1"', 'sh', word], { encoding: 'utf8' });
  const binary = found.stdout.trim();
  const runs = binary.startsWith('/') && spawnSync(binary, ['-c', ':'], { argv0: 'sh' }).status === 0;
  return runs ? { name: basename(word), binary } : undefined;
}

/** The shells that `GIT_HANDOFF_SHELLS` lists: names or paths, separated by colons. */
export const listedShells = () =>
  (process.env.GIT_HANDOFF_SHELLS ?? '').split(':').filter((word) => word !== '');

/** The shell that must run all scripts, if `npm run test:shells` has set one. */
export const shellUnderTest = findShell(process.env.GIT_HANDOFF_TEST_SHELL ?? '');

/**
 * Makes a folder for the front of PATH in which `sh` is this shell. Busybox also provides its own head, grep, readlink …
 * @param {{ binary: string }} shell
 */
export function shellFolder({ name, binary }) {
  // In the first line of a script, a blank would end the folder's path.
  const folder = mkdtempSync(join(tmpdir(), 'git-handoff-sh-'));
  if (name === 'busybox') spawnSync(binary, ['--install', '-s', folder]);
  else symlinkSync(binary, join(folder, 'sh'));
  return folder;
}

/**
 * Makes another shell run the scripts of a folder that begin with `#!/bin/sh`.
 * @param {string} folder
 * @param {string} sh
 */
export function interpretBy(folder, sh) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const text = lstatSync(path).isFile() ? readFileSync(path, 'latin1') : '';
    if (text.startsWith('#!/bin/sh\n')) writeFileSync(path, text.replace('/bin/sh', sh), 'latin1');
  }
}
