import { closeSync, openSync, fstatSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { FileState } from '../domain/ledger/file-state.ts';
import { type Oid, parseOid } from '../domain/names.ts';
import { entriesOf, runGit } from './run.ts';
import { RAW_DIFF, parseRaw } from './staged.ts';

/** A move of HEAD that the index may not have followed, because no commit, merge or switch made it. */
export interface IndexMove {
  readonly from: Oid;
  readonly to: Oid;
  /** Milliseconds since the epoch, to the second. */
  readonly at: number;
}

interface Place {
  readonly cwd: string;
  readonly gitDir: string;
}

interface Logged {
  readonly oid: Oid;
  readonly parent: Oid | undefined;
  readonly subject: string;
  readonly at: number;
}

/** Most reflog entries that are read, and most moves that are returned. */
const ENTRIES = 32;
const MOVES = 8;

/** Reflog messages of commands that move the index together with HEAD. */
const BRINGS = /^(?:commit|merge|pull|rebase|checkout|cherry-pick|revert|am|clone|branch|initial)\b/;

/**
 * Finds the last moves of HEAD that may have left the index behind, newest first, in its reflog: `reset`, `update-ref`,
 * `fetch`, a push into the branch; and gaps between two entries, where another worktree moved the branch.
 *
 * @param seen where the session saw HEAD, for a repository without reflogs
 */
export async function indexMoves(
  place: Place,
  head: Oid | null,
  seen: readonly (Oid | null)[],
): Promise<{ readonly moves: IndexMove[]; readonly since: number }> {
  if (head === null) return { moves: [], since: 0 };
  const logged = await readLog(place);
  const [newest] = logged;
  const moves: IndexMove[] = [];
  const add = (from: Oid | undefined | null, to: Oid | undefined, at: number) => {
    if (from && to && from !== to) moves.push({ from, to, at });
  };
  if (newest === undefined) for (const oid of seen) add(oid, head, 0);
  else add(newest.oid, head, newest.at);
  for (const [n, { oid, parent, subject, at }] of logged.entries()) {
    const before = logged[n + 1]?.oid;
    if (!BRINGS.test(subject)) add(before, oid, at);
    else if (/^commit(?:: | \(merge\))/.test(subject)) add(before, parent, at);
  }
  return { moves: moves.slice(0, MOVES), since: newest?.at ?? 0 };
}

/** Bytes to read from the end of the reflog, enough for `ENTRIES` entries. */
const BYTES = 32_768;

/** Reads the reflog, newest first; as a file if possible (gitrepository-layout(5)), because every commit needs it. */
async function readLog({ cwd, gitDir }: Place): Promise<Logged[]> {
  const text = readEnd(join(gitDir, 'logs', 'HEAD'));
  if (text === undefined) return askLog(cwd);
  return text.split('\n').flatMap(parseLine).slice(-ENTRIES).reverse();
}

/** The last bytes of a file; `undefined` when there is none. */
function readEnd(file: string): string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const buffer = Buffer.alloc(BYTES);
    const start = Math.max(0, fstatSync(descriptor).size - BYTES);
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, BYTES, start));
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Parses `<old> <new> <name> <mail> <seconds> <zone>[TAB<subject>]`; a mail address contains no `>`. */
function parseLine(line: string): Logged[] {
  const [, old = '', next = '', seconds, subject = ''] =
    /^([0-9a-f]+) ([0-9a-f]+) [^>\t]*> (\d+) [+-]\d+(?:\t(.*))?$/.exec(line) ?? [];
  const oid = parseOid(next);
  // A commit's parent is the old value of HEAD; all zeros mean that there is none.
  const parent = /^0+$/.test(old) ? undefined : parseOid(old);
  return oid === undefined ? [] : [{ oid, parent, subject, at: Number(seconds) * 1000 }];
}

async function askLog(cwd: string): Promise<Logged[]> {
  const format = '--format=%gd %H %P%n%gs';
  const args = ['log', '--walk-reflogs', `--max-count=${ENTRIES}`, '-z', '--date=unix', format, 'HEAD', '--'];
  const result = await runGit(args, { cwd });
  if (result.code !== 0) return [];
  return entriesOf(result).flatMap((record) => {
    const match = /^\S*@\{(\d+)\} ([0-9a-f]+) ?([0-9a-f]*)[^\n]*\n?([^]*)$/.exec(record);
    const oid = parseOid(match?.[2] ?? '');
    if (match === null || oid === undefined) return [];
    return [{ oid, parent: parseOid(match[3] ?? ''), subject: match[4] ?? '', at: Number(match[1]) * 1000 }];
  });
}

/** What a move changed at some paths: everything since the merge base of its two ends. */
export async function movedPaths(
  cwd: string,
  { from, to }: IndexMove,
  paths: readonly string[],
): Promise<{ path: string; from: FileState; to: FileState }[]> {
  const args = ['--literal-pathspecs', 'diff', ...RAW_DIFF, `${from}...${to}`, '--', ...paths];
  const result = await runGit(args, { cwd });
  if (result.code !== 0) return [];
  return parseRaw(result.stdout.toString('utf8')).map(({ path, head, index }) => ({
    path,
    from: head,
    to: index,
  }));
}
