import { parseTrailers } from '../../domain/handoff.ts';
import { parseCommit } from '../../git/commit-text.ts';
import { parseWorkRef, refBelow, remoteWorkPrefix } from '../../git/namespace.ts';
import type { PushedRef } from '../../git/push-range.ts';
import { listRefs } from '../../git/refs.ts';
import type { InRepository } from '../../git/repository.ts';
import { readWork } from './work-commit.ts';

/** A ref of a push that is work's, or would be if it were named like it. */
export interface PushedWork {
  readonly ref: PushedRef;
  /** Below which the notes are whose work it is. */
  readonly prefix: string;
}

/** Finds the refs of a push that are work's, by the folders of the notes. */
export function workIn(refs: readonly PushedRef[], prefixes: readonly string[]): PushedWork[] {
  return refs.flatMap((ref): PushedWork[] => {
    const prefix = prefixes.find((each) => `${ref.remoteRef}/`.startsWith(remoteWorkPrefix(each)));
    return prefix === undefined ? [] : [{ ref, prefix }];
  });
}

/**
 * Why work may not be pushed like that; `undefined` where it may: it is created under its own name, within the bounds of the
 * format, and never moved.
 *
 * @param maxBytes the most that all contents may have together
 */
export async function judgeWork(
  { cwd }: InRepository,
  { ref: { local, remote, remoteRef }, prefix }: PushedWork,
  maxBytes: number,
): Promise<string | undefined> {
  const path = parseWorkRef(remoteRef, remoteWorkPrefix(prefix));
  // What is badly named may go.
  if (local === undefined) return path === undefined || remote === undefined ? undefined : 'deleted';
  if (path === undefined || path.oid !== local)
    return 'not the name of work, which is <branch>/<topic>/<object name>';
  if (remote !== undefined) return remote === local ? undefined : 'work is created, and never moved';
  const work = await readWork({ cwd }, local, maxBytes);
  return typeof work === 'object' ? undefined : `not the work of a note: ${work ?? 'it is missing'}`;
}

/** Whether a note that is open carries such work here: then nobody deletes it. */
export async function isCarried({ cwd }: InRepository, { ref, prefix }: PushedWork): Promise<boolean> {
  const path = parseWorkRef(ref.remoteRef, remoteWorkPrefix(prefix));
  if (path === undefined) return false;
  const note = refBelow(prefix, path);
  const found = await listRefs({ cwd }, [note], { content: true });
  return found.some(
    ({ name, content }) => name === note && parseTrailers(parseCommit(content).message)?.state !== 'closed',
  );
}
