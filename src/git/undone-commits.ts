import type { Oid } from '../domain/names.ts';
import { SESSIONS, sessionsIn } from './output.ts';
import { gitFailure, runGit } from './run.ts';
import { RAW_DIFF } from './staged.ts';

/** Older ones are not looked at. */
const MAX_COMMITS = 100;

/**
 * The paths of the commits that `to` has and `from` has not, each with the sessions that the newest of these commits names
 * in its trailers. What a merge brought along is its session's.
 */
export async function undonePaths(
  cwd: string,
  from: Oid,
  to: Oid,
  timeoutMs?: number,
): Promise<Map<string, readonly string[]>> {
  const format = `--format=%x01${SESSIONS}`;
  const plain = ['--first-parent', '--diff-merges=first-parent', '--no-show-signature', '--no-notes'];
  const args = ['log', `--max-count=${MAX_COMMITS}`, ...RAW_DIFF, ...plain, format, to, `^${from}`, '--'];
  const result = await runGit(args, { cwd, timeoutMs });
  if (result.code !== 0) throw gitFailure('log', result);
  const paths = new Map<string, readonly string[]>();
  const words = result.stdout.toString('utf8').split('\0');
  let sessions: readonly string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word.startsWith('\x01')) sessions = sessionsIn(word.slice(1));
    else if (/^\n?:\d{6} /.test(word)) {
      const path = words[(at += 1)] ?? '';
      if (!paths.has(path)) paths.set(path, sessions);
    }
  }
  return paths;
}
