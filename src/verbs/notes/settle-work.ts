import { basename } from 'node:path';
import { asFailure } from '../../domain/messages.ts';
import type { SessionId } from '../../domain/names.ts';
import { contentOf } from '../../domain/snapshot.ts';
import { readSettings } from '../../git/config.ts';
import { decodeBranch, workPrefix } from '../../git/namespace.ts';
import { formatOf } from '../../git/hash.ts';
import { ObjectBatch, readObjects } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import { worktreeId } from '../../host/folders.ts';
import { commitOwner } from '../../notes/person-name.ts';
import {
  type LoadedWork,
  readWork,
  type KeptWork,
  dropWork,
  leftWork,
} from '../../notes/work/work-commit.ts';
import type { TopicState } from '../../notes/topic.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import type { Caller } from '../../sessions/caller.ts';
import { listRescues } from '../../snapshot/rescues.ts';
import { keepSnapshot } from '../../snapshot/take.ts';

interface Settling {
  /** The sessions whose work is deleted rather than rescued. */
  readonly authors: readonly SessionId[];
  /** The session that runs the command; `null`: unknown, or a person. */
  readonly session: SessionId | null;
  readonly command: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

interface SettledWork {
  readonly kind: 'gone' | 'kept' | 'stays';
  /** What to report; empty if the author deleted their own work. */
  readonly text: string;
}

/** Removes the work of a topic that the caller has just closed. Returns what to report. */
export async function settleClosed(
  repository: Repository,
  { path, branch, topic, tip }: TopicState,
  caller: Caller,
  now: number,
): Promise<string[]> {
  // After a merge of two machines' versions, the work may still be kept under the former name.
  const left = (await leftWork(repository)).filter(
    (one) => workPrefix(one.path) === workPrefix(path) || one.oid === tip?.trailers?.work,
  );
  const settled = await settleWork(repository, left, {
    authors: [caller.id, ...caller.succeeded],
    session: caller.isPerson ? null : caller.id,
    command: `git handoff close ${typedTopic(branch, topic)}`,
    now,
  });
  return settled.flatMap(({ text }) => (text === '' ? [] : [text]));
}

/** Deletes the authors' own work and moves others' to the rescues, so that nobody loses work by another's command. */
export async function settleWork(
  repository: Repository,
  left: readonly KeptWork[],
  settling: Settling,
): Promise<SettledWork[]> {
  const settled: SettledWork[] = [];
  for (const one of left) {
    const done = await settleOne(repository, one, settling).catch((error: unknown): SettledWork => {
      return { kind: 'stays', text: `the work ${one.oid} stays: ${asFailure(error).message}` };
    });
    settled.push(done);
  }
  return settled;
}

async function settleOne(repository: Repository, one: KeptWork, settling: Settling): Promise<SettledWork> {
  const { cwd } = repository;
  const loaded = await readWork({ cwd }, one.oid, Infinity);
  if (typeof loaded !== 'object') {
    const why = loaded ?? 'it is missing';
    return { kind: 'stays', text: `the work ${one.oid} of ${one.path.topic} cannot be read: ${why}` };
  }
  const { work, trailers } = loaded;
  if (settling.authors.includes(trailers.owner)) {
    await dropWork(repository, [one]);
    return { kind: 'gone', text: '' };
  }
  const isKept = work.items.some((item) => contentOf(item) !== null);
  const number = isKept ? await rescueWork(repository, one, loaded, settling) : undefined;
  await dropWork(repository, [one]);
  const carried = `${one.path.topic} carried uncommitted work of ${commitOwner(loaded) ?? ''}`;
  return number === undefined
    ? { kind: 'gone', text: `${carried} that only deleted files; that work was removed` }
    : { kind: 'kept', text: `${carried}, which is kept: git handoff rescue show ${number}` };
}

async function rescueWork(
  { cwd, gitDir }: Repository,
  { path }: KeptWork,
  { work, trailers: { owner } }: LoadedWork,
  { session, command, now }: Settling,
): Promise<number> {
  const contents = work.items.flatMap((item) => item.own ?? contentOf(item)?.oid ?? []);
  const requests = contents.map((name) => ({ name, infoOnly: true }));
  const [known, { rescue: limits }, sizes] = await Promise.all([
    listRescues(cwd),
    readSettings(cwd),
    readObjects({ cwd }, requests),
  ]);
  const bytes = new Map<string, number>(contents.map((oid, at) => [oid, sizes[at]?.size ?? 0]));
  const items = work.items.map((item) => {
    return { ...item, owner, bytes: bytes.get(item.own ?? contentOf(item)?.oid ?? '') ?? 0 };
  });
  const branch = decodeBranch(path.component);
  const ref = branch === undefined ? 'HEAD' : `refs/heads/${branch}`;
  const worktree = basename(cwd);
  const reason = { kind: 'seen', command, session, at: now, worktree, ref, skipped: [] } as const;
  const batch = new ObjectBatch(formatOf(work.base ?? contents[0] ?? ''));
  const keeping = { batch, known, limits, now };
  const place = { cwd, worktreeId: worktreeId(gitDir) };
  return (await keepSnapshot(place, { base: work.base, items, reason }, keeping)).number;
}
