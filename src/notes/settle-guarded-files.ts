import { mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { markerOwner } from '../domain/marker.ts';
import { type SessionId, ownerName } from '../domain/names.ts';
import { escapeLine } from '../domain/surfacing.ts';
import type { Ref } from '../git/refs.ts';
import { linkTarget } from '../host/disk.ts';
import {
  type FileCopy,
  blobName,
  changedCopies,
  listCopies,
  forgetCopy,
  putCopies,
  readOnDisk,
} from './guarded-files.ts';

/**
 * Checks whether handoff files were changed without the guard (by a build script, by a program that names
 * no file) and restores those that lost their owner's mark. Returns the notices, each change once.
 */
export async function checkGuardedFiles(
  cwd: string,
  session: SessionId | undefined,
  timeoutMs?: number,
): Promise<string[]> {
  return settleCopies(cwd, await listCopies({ cwd }, timeoutMs), session, timeoutMs);
}

/** Does the same as `checkGuardedFiles` for copies that were listed already (with content). */
export async function settleCopies(
  cwd: string,
  copies: readonly Ref[],
  session: SessionId | undefined,
  timeoutMs?: number,
): Promise<string[]> {
  const notices: string[] = [];
  for (const copy of await changedCopies({ cwd }, copies, timeoutMs)) {
    notices.push(...(await settle(cwd, copy, session)));
  }
  return notices;
}

async function settle(cwd: string, copy: FileCopy, session: SessionId | undefined): Promise<string[]> {
  const disk = readOnDisk(copy.path);
  const found = disk ?? Buffer.alloc(0);
  const before = copy.content.toString('utf8');
  const reportedBefore = copy.found !== undefined && blobName(found, copy.found) === copy.found;
  const decision = decideGuardedChange({ before, now: disk?.toString('utf8'), reportedBefore }, session);
  const repository = { cwd };
  const { path } = copy;
  if (decision === 'accept') {
    if (disk === undefined) await forgetCopy(repository, copy);
    else await putCopies(repository, [{ path, content: disk, found: undefined }]);
    return [];
  }
  const who = `\`${escapeLine(basename(path))}\` of ${ownerName(markerOwner(before) ?? '')}`;
  if (decision === 'tell') {
    await putCopies(repository, [{ path, content: found, found: copy.content }]);
    return [
      `${who} was changed without the guard seeing it. Its previous text: git cat-file -p ${copy.ref}:found`,
    ];
  }
  await putCopies(repository, [{ path, content: copy.content, found }]);
  mkdirSync(dirname(path), { recursive: true });
  // A link in the file's place leads to a file of somebody else's.
  if (linkTarget(path) !== undefined) unlinkSync(path);
  writeFileSync(path, copy.content);
  const what = disk === undefined ? 'removed' : 'overwritten';
  return [
    `${who} was ${what} without the guard seeing it; its text was put back. What was there: git cat-file -p ${copy.ref}:found`,
  ];
}

/** A guarded file that no longer has the content that was seen last. */
interface GuardedChange {
  /** The content that was seen last. */
  readonly before: string;
  /** The content now; `undefined` when the file is gone. */
  readonly now: string | undefined;
  /** Whether the same change was reported before: then somebody means it. */
  readonly reportedBefore: boolean;
}

/**
 * `accept`: the owner's own change, or nobody's file · `tell`: changed outside the guard, the owner still named ·
 * `restore`: the owner's mark or the whole file is gone, so the former text is put back.
 */
type GuardedChangeDecision = 'accept' | 'tell' | 'restore';

/** What to do about such a change when `session` (or a person) is the first to notice it. */
export function decideGuardedChange(
  change: GuardedChange,
  session: SessionId | undefined,
): GuardedChangeDecision {
  const owner = markerOwner(change.before);
  if (owner === undefined || owner === session || change.reportedBefore) return 'accept';
  return change.now !== undefined && markerOwner(change.now) === owner ? 'tell' : 'restore';
}
