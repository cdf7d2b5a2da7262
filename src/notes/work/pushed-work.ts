import { parseTrailers } from '../../domain/handoff.ts';
import { CommitText } from '../../git/commit-text.ts';
import { parseWorkRef, refBelow, remoteWorkPrefix } from '../../git/namespace.ts';
import type { PushedRef } from '../../git/push-range.ts';
import { listRefs } from '../../git/refs.ts';
import type { InRepository } from '../../git/repository.ts';
import { readWork } from './work-commit.ts';

/** A pushed ref below the prefix for work, well named or not. */
export interface PushedWork {
  readonly ref: PushedRef;
  /** The prefix of the notes that the work belongs to. */
  readonly prefix: string;
}

/** Finds the pushed refs that are work, given the prefixes of the notes. */
export function workIn(refs: readonly PushedRef[], prefixes: readonly string[]): PushedWork[] {
  return refs.flatMap((ref): PushedWork[] => {
    const prefix = prefixes.find((each) => `${ref.remoteRef}/`.startsWith(remoteWorkPrefix(each)));
    return prefix === undefined ? [] : [{ ref, prefix }];
  });
}

/**
 * Why this push of work is refused; `undefined`: it is allowed. Work may only be created, under its own name and within the
 * bounds of its format.
 *
 * @param maxBytes the limit for the size of all contents together
 */
export async function judgeWork(
  { cwd }: InRepository,
  { ref: { local, remote, remoteRef }, prefix }: PushedWork,
  maxBytes: number,
): Promise<string | undefined> {
  const path = parseWorkRef(remoteRef, remoteWorkPrefix(prefix));
  // A badly named ref may be deleted.
  if (local === undefined) return path === undefined || remote === undefined ? undefined : 'deleted';
  if (path === undefined || path.oid !== local) return 'badly named: work is <branch>/<topic>/<object name>';
  if (remote !== undefined) return remote === local ? undefined : 'work may only be created, never moved';
  const work = await readWork({ cwd }, local, maxBytes);
  return typeof work === 'object' ? undefined : `not the work of a note: ${work ?? 'it is missing'}`;
}

/** Whether an open note carries this work here: then it must not be deleted. */
export async function isCarried({ cwd }: InRepository, { ref, prefix }: PushedWork): Promise<boolean> {
  const path = parseWorkRef(ref.remoteRef, remoteWorkPrefix(prefix));
  if (path === undefined) return false;
  const note = refBelow(prefix, path);
  const found = await listRefs({ cwd }, [note], { content: true });
  return found.some(
    ({ name, content }) =>
      name === note && parseTrailers(new CommitText(content).message)?.state !== 'closed',
  );
}
