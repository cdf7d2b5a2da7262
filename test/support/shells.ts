import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';

/** A shell that may be somebody's `/bin/sh`: its binary, to be called by the name `sh`. */
export interface Shell {
  readonly name: string;
  readonly binary: string;
}

const COMMON = ['dash', 'bash', 'busybox'];

/** What `GIT_HANDOFF_SHELLS` lists besides, names or paths, apart by colons: `npm run test:shells` lists what is installed. */
const listed = (process.env['GIT_HANDOFF_SHELLS'] ?? '').split(':').filter((one) => one !== '');

/** The shells of this machine that every script of ours is run by. */
export const shells: readonly Shell[] = [...new Set([...COMMON, ...listed])].flatMap((word) => {
  const found = spawnSync('/bin/sh', ['-c', 'command -v -- "$1"', 'sh', word], { encoding: 'utf8' });
  const binary = found.stdout.trim();
  if (!binary.startsWith('/')) return [];
  const runs = spawnSync(binary, ['-c', ':'], { argv0: 'sh' }).status === 0;
  return runs ? [{ name: basename(word), binary }] : [];
});
