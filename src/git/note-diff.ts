import { NOTE_FILE } from '../domain/handoff.ts';
import type { Oid } from '../domain/names.ts';
import type { InRepository } from './repository.ts';
import { gitFailure, runGit } from './run.ts';

/**
 * The hunks between the notes of two handoff commits, as git-diff(1) prints them without its header; empty when the
 * notes are the same. No program that the repository or the user names for diffs is run.
 *
 * @throws Failure when git cannot read one of them
 */
export async function noteHunks(repository: InRepository, from: Oid, to: Oid): Promise<Buffer> {
  const quiet = [
    '--no-ext-diff',
    '--no-textconv',
    '--no-color',
    '--no-renames',
    '--no-relative',
    '--text',
    '--unified=3',
  ];
  const notes = [`${from}:${NOTE_FILE}`, `${to}:${NOTE_FILE}`];
  const result = await runGit(['diff', ...quiet, '--end-of-options', ...notes], { cwd: repository.cwd });
  if (result.code !== 0) throw gitFailure('diff', result);
  const at = result.stdout.indexOf('\n@@ ');
  return at < 0 ? Buffer.alloc(0) : result.stdout.subarray(at + 1);
}
