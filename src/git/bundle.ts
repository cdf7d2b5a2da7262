import { escapeLine, Failure, shellWord } from '../domain/messages.ts';
import type { RefValue } from './refs.ts';
import { gitFailure, runGit } from './run.ts';

/**
 * Writes refs and every object that they reach into a file (git-bundle(1)), and verifies the file. Refs may point at
 * trees and blobs.
 *
 * @throws Failure `environment` when the file cannot be written, `integrity` when it does not contain every ref
 */
export async function createBundle(cwd: string, file: string, refs: readonly RefValue[]): Promise<void> {
  const input = refs.map(({ name }) => name);
  const made = await runGit(['bundle', 'create', '--quiet', file, '--stdin'], { cwd, input });
  if (made.code !== 0) {
    const { code, hint, message } = gitFailure('bundle', made);
    const known = code === 'internal' ? 'git fsck --connectivity-only' : hint;
    throw new Failure('environment', `the backup failed, nothing was removed: ${escapeLine(message)}`, {
      ...(known === undefined ? {} : { hint: known }),
    });
  }
  const [listed, verified] = await Promise.all([
    runGit(['bundle', 'list-heads', file], { cwd }),
    runGit(['bundle', 'verify', '--quiet', file], { cwd }),
  ]);
  const held = new Set(listed.stdout.toString('utf8').split('\n'));
  const missing = refs.find(({ name, oid }) => !held.has(`${oid} ${name}`));
  if (verified.code === 0 && missing === undefined) return;
  const what = missing === undefined ? 'is not sound' : `lacks ${escapeLine(missing.name)}`;
  throw new Failure('integrity', `the backup ${escapeLine(file)} ${what}, nothing was removed`, {
    hint: `git bundle verify ${shellWord(file)}`,
  });
}
