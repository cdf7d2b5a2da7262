import { asFailure } from '../../domain/failure.ts';
import type { SessionId } from '../../domain/names.ts';
import { readSettings } from '../../git/config.ts';
import { decodeBranch, workPrefix } from '../../git/namespace.ts';
import type { Repository } from '../../git/repository.ts';
import { worktreeId } from '../../host/folders.ts';
import { commitOwner } from '../../notes/person-name.ts';
import { readWork } from '../../notes/work/work-commit.ts';
import { type KeptWork, dropWork, leftWork } from '../../notes/work/work-refs.ts';
import type { TopicState } from '../../notes/topic.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import { saveCarried } from '../../rescue/save-carried.ts';
import type { Caller } from '../../sessions/caller.ts';

/** Why work goes. */
interface Settling {
  /** Whose work may go: it is done. */
  readonly authors: readonly SessionId[];
  /** Who runs the command; `null`: not asked. */
  readonly session: SessionId | null;
  readonly command: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What became of one work commit. */
export interface SettledWork {
  readonly kind: 'gone' | 'kept' | 'stays';
  /** What to say of it; empty when its author let it go. */
  readonly text: string;
}

/** What is to be said of the work that a topic carried, which the caller has closed. */
export async function settleClosed(
  repository: Repository,
  { path, branch, topic, tip }: TopicState,
  caller: Caller,
  now: number,
): Promise<string[]> {
  // Where two machines wrote on it, it was kept under the former name.
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

/** Lets go of the caller's own work, and moves others' to the rescues: nobody's work is lost by what another does. */
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

async function settleOne(
  repository: Repository,
  one: KeptWork,
  { authors, session, command, now }: Settling,
): Promise<SettledWork> {
  const { cwd, gitDir } = repository;
  const loaded = await readWork({ cwd }, one.oid, Infinity);
  if (typeof loaded !== 'object') {
    const why = loaded ?? 'it is not there';
    return { kind: 'stays', text: `the work ${one.oid} of ${one.path.topic} cannot be read: ${why}` };
  }
  const { work, blobs, trailers } = loaded;
  if (authors.includes(trailers.owner)) {
    await dropWork(repository, [one]);
    return { kind: 'gone', text: '' };
  }
  const branch = decodeBranch(one.path.component);
  const ref = branch === undefined ? 'HEAD' : `refs/heads/${branch}`;
  const { rescue: limits } = await readSettings(cwd);
  const place = { cwd, worktreeId: worktreeId(gitDir) };
  const carried = { work, blobs, owner: trailers.owner, ref };
  const number = await saveCarried(place, carried, { command, session, limits, now });
  await dropWork(repository, [one]);
  const whose = `the uncommitted work of ${commitOwner(loaded) ?? ''} that ${one.path.topic} carried`;
  return number === undefined
    ? { kind: 'gone', text: `${whose} only deleted files, and is gone` }
    : { kind: 'kept', text: `${whose} is kept: git handoff rescue show ${number}` };
}
