import { relative } from 'node:path';
import { jsonFields } from '../../domain/json-fields.ts';
import { type Oid, parseOid } from '../../domain/names.ts';
import { changedPaths } from '../../git/commit-paths.ts';
import {
  type HandoffPath,
  UNPACKED,
  WORK,
  type WorkPath,
  parseWorkRef,
  unpackedRef,
} from '../../git/namespace.ts';
import { ObjectBatch } from '../../git/object-batch.ts';
import { updateRefs } from '../../git/ref-updates.ts';
import { type Ref, type RefValue, listRefNames, listRefs } from '../../git/refs.ts';
import { type Repository, objectFormat } from '../../git/repository.ts';
import { takeSnapshot } from '../../git/work-tree.ts';
import { dropWork } from './work-refs.ts';

/** Remembers what was unpacked in which worktree on which HEAD: once that is committed, the work is over. */
export async function noteUnpacked(
  repository: Repository,
  path: HandoffPath,
  oid: Oid,
  what: {
    readonly head: Oid | null;
    /** What each path became; `null`: it was removed. */
    readonly paths: Readonly<Record<string, Oid | null>>;
  },
): Promise<void> {
  const { cwd } = repository;
  const batch = new ObjectBatch(await objectFormat({ cwd }, oid));
  const next = batch.blob(Buffer.from(`${JSON.stringify({ ...what, worktree: worktreeOf(repository) })}\n`));
  const ref = unpackedRef(path, oid);
  const former = (await listRefNames(repository, [ref]))[0]?.oid;
  await updateRefs(repository, [{ ref, next, old: former }], { after: batch.store({ cwd }) });
}

/** The worktree's name below the clone's own folder; empty for the main one. */
const worktreeOf = ({ commonDir, gitDir }: Repository) => relative(commonDir, gitDir);

/** Work that was unpacked in this clone and is committed. */
interface SettledWork extends WorkPath {
  readonly record: RefValue;
}

/**
 * Lets go of work that was unpacked in this worktree and is committed by now as it was: of what this clone keeps. The caller lets go of
 * the record when remotes have let go, too.
 */
export async function settleUnpacked(
  repository: Repository,
  top: string,
  now: number,
): Promise<SettledWork[]> {
  const records = await listRefs(repository, [UNPACKED], { content: true });
  if (records.length === 0) return [];
  const { head, dirty } = await takeSnapshot(top, { now, namesOnly: true });
  const settled: SettledWork[] = [];
  for (const record of records) {
    const path = parseWorkRef(record.name, UNPACKED);
    const { base, paths, worktree } = parseRecord(record);
    const unpacked = Object.entries(paths);
    if (path === undefined || head.oid === null || unpacked.some(([one]) => dirty.has(one))) continue;
    // Of another worktree's files this one's say nothing.
    if (worktree !== worktreeOf(repository)) continue;
    const changes = await changedPaths(top, base, head.oid).catch(() => []);
    const atHead = new Map(changes.map((change) => [change.path, change.index?.oid ?? null]));
    // What somebody else changed there instead is no commit of it.
    if (unpacked.every(([one, oid]) => atHead.get(one) === oid)) settled.push({ ...path, record });
  }
  const over = new Set(settled.map(({ oid }) => oid));
  if (over.size === 0) return [];
  await dropWork(
    repository,
    (await listRefNames(repository, [WORK])).filter(({ oid }) => over.has(oid)),
  );
  return settled;
}

function parseRecord({ content }: Ref): {
  base: Oid | null;
  paths: Readonly<Record<string, unknown>>;
  worktree: string | undefined;
} {
  const { head, paths, worktree } = jsonFields<'head' | 'paths' | 'worktree'>(
    Buffer.from(content, 'latin1').toString('utf8'),
  );
  const base = typeof head === 'string' ? (parseOid(head) ?? null) : null;
  return {
    base,
    paths: typeof paths === 'object' && paths !== null ? { ...paths } : {},
    worktree: typeof worktree === 'string' ? worktree : undefined,
  };
}
