import { relative } from 'node:path';
import { jsonFields } from '../../domain/json-fields.ts';
import { type Oid, parseOid } from '../../domain/names.ts';
import { changedPaths } from '../../git/commits.ts';
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
import { readTreeStatus } from '../../git/work-tree.ts';
import { dropWork } from './work-refs.ts';

/** Records what was unpacked, in which worktree and on which HEAD: once it is committed, the work is settled. */
export async function noteUnpacked(
  repository: Repository,
  path: HandoffPath,
  oid: Oid,
  what: {
    readonly head: Oid | null;
    /** The new content of each path; `null`: the path was removed. */
    readonly paths: Readonly<Record<string, Oid | null>>;
  },
): Promise<void> {
  const { cwd } = repository;
  const batch = new ObjectBatch(await objectFormat({ cwd }, oid));
  const next = batch.blob(Buffer.from(`${JSON.stringify({ ...what, worktree: worktreeOf(repository) })}\n`));
  const ref = unpackedRef(path, oid);
  const former = (await listRefNames(repository, [ref]))[0]?.oid;
  await batch.store({ cwd });
  await updateRefs(repository, [{ ref, next, old: former }]);
}

/** The worktree's folder relative to the common directory; empty for the main worktree. */
const worktreeOf = ({ commonDir, gitDir }: Repository) => relative(commonDir, gitDir);

/** Work that was unpacked in this worktree and then committed. */
interface SettledWork extends WorkPath {
  readonly record: RefValue;
}

/**
 * Deletes this clone's copy of work that was unpacked in this worktree and has since been committed unchanged. The caller
 * deletes the record once remotes have deleted theirs.
 */
export async function settleUnpacked(
  repository: Repository,
  top: string,
  now: number,
): Promise<SettledWork[]> {
  const records = await listRefs(repository, [UNPACKED], { content: true });
  if (records.length === 0) return [];
  const { head, dirty } = await readTreeStatus(top, { now, namesOnly: true });
  const settled: SettledWork[] = [];
  for (const record of records) {
    const path = parseWorkRef(record.name, UNPACKED);
    const { base, paths, worktree } = parseRecord(record);
    const unpacked = Object.entries(paths);
    if (path === undefined || head.oid === null || unpacked.some(([one]) => dirty.has(one))) continue;
    // This worktree's files say nothing about another's.
    if (worktree !== worktreeOf(repository)) continue;
    const changes = await changedPaths(top, base, head.oid).catch(() => []);
    const atHead = new Map(changes.map((change) => [change.path, change.index?.oid ?? null]));
    // A path that somebody else changed instead does not count as committed.
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
