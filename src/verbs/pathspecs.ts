import { isShellIn } from '../changes/windows.ts';
import { Failure, shellWord } from '../domain/messages.ts';
import { openRepository } from '../git/repository.ts';
import { type Context, findSession } from '../sessions/caller.ts';
import { listSessions } from '../sessions/records.ts';
import type { Interaction } from './verb.ts';
import { type Arguments, type OptionTable, flag, option } from './options.ts';

/** The options by which a verb reads its pathspecs from a file, as git's own commands do. */
export const PATHSPEC_OPTIONS: OptionTable = {
  'pathspec-from-file': option('<file>', 'read the paths from a file, one per line'),
  'pathspec-file-nul': flag('the paths in that file end in NUL'),
};

/**
 * Returns the pathspecs of a command line.
 *
 * @param words the words of the command line that are pathspecs
 * @throws Failure `usage` when both a file and the words name paths, or the file names none
 */
export async function readPathspecs(
  args: Arguments,
  { read }: Pick<Interaction, 'read'>,
  words: readonly string[] = args.words,
): Promise<readonly string[]> {
  const file = args.text('pathspec-from-file');
  if (file === undefined) return words;
  const hint = 'git commit -h';
  if (words.length > 0) {
    throw new Failure('usage', '--pathspec-from-file and pathspecs exclude each other', { hint });
  }
  const text = Buffer.from(await read(file)).toString('utf8');
  const found = text.split(args.flag('pathspec-file-nul') ? '\0' : /\r?\n/).filter((line) => line !== '');
  if (found.length === 0) throw new Failure('usage', `${file} names no path`, { hint });
  return found;
}

/**
 * Runs a verb that works on uncommitted changes. A failure's hint names the folder, unless the caller's shell is in it: after
 * `git -C <folder> …` or `cd <folder> && …` the caller's next command may run elsewhere.
 */
export async function anchored<T>(context: Context, run: () => Promise<T>): Promise<T> {
  const { cwd } = context;
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Failure) || (await isCallersShellIn(context))) throw error;
    const { code, message, hint, otherHint, lostRef, cause } = error;
    const placed = {
      ...(hint === undefined ? {} : { hint: placedAt(cwd, hint) }),
      ...(otherHint === undefined ? {} : { otherHint: placedAt(cwd, otherHint) }),
    };
    throw new Failure(code, message, { ...placed, cause, ...(lostRef === undefined ? {} : { lostRef }) });
  }
}

async function isCallersShellIn(context: Context): Promise<boolean> {
  try {
    const { commonDir } = await openRepository(context.cwd);
    const session = findSession(context, await listSessions(context), undefined)?.id;
    return session !== undefined && isShellIn(commonDir, session, context.cwd);
  } catch {
    return false;
  }
}

const placedAt = (cwd: string, hint: string) =>
  /^git (?!-C )/.test(hint) ? `git -C ${shellWord(cwd)}${hint.slice('git'.length)}` : hint;
