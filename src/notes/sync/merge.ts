import { Failure } from '../../domain/failure.ts';
import type { HandoffCommit, RecordedState } from '../../domain/handoff.ts';
import type { Oid, SessionId } from '../../domain/names.ts';
import { loadCommits } from '../../git/commits.ts';
import { mergeBase } from '../../git/histories.ts';
import { handoffRef, keptRef } from '../../git/namespace.ts';
import { ObjectBatch } from '../../git/object-batch.ts';
import { updateRefs } from '../../git/ref-updates.ts';
import { type Committer, type Repository, objectFormat } from '../../git/repository.ts';
import { addCommit } from '../handoffs.ts';
import type { Difference } from './differences.ts';

/** The two lines of a topic, and where they parted. */
export interface Lines {
  readonly ours: HandoffCommit & { readonly note: Buffer };
  readonly theirs: HandoffCommit & { readonly note: Buffer };
  /** Empty where they never were one. */
  readonly baseNote: Buffer;
}

/**
 * Reads both lines of a divergence.
 *
 * @throws Failure `integrity` when a note of them cannot be read
 */
export async function readLines(repository: Repository, { here, there, path }: Difference): Promise<Lines> {
  const options = { cwd: repository.cwd };
  const tip = here?.tip?.oid;
  const base = tip === undefined ? undefined : await mergeBase(options, tip, there.oid);
  const oids = [tip, there.oid, base].flatMap((oid) => oid ?? []);
  const [ours, theirs, parted] = await loadCommits(options, oids, { notes: true });
  if (ours?.note === undefined || theirs?.note === undefined)
    throw new Failure('integrity', `a note of ${handoffRef(path)} cannot be read`, {
      hint: 'git fsck --connectivity-only',
    });
  const baseNote = base === undefined ? undefined : parted?.note;
  return {
    ours: { ...ours, note: ours.note },
    theirs: { ...theirs, note: theirs.note },
    baseNote: baseNote ?? Buffer.alloc(0),
  };
}

/** What a merge puts into its commit. */
interface MergeContent {
  readonly me: SessionId;
  readonly note: Uint8Array;
  readonly summary: string;
  readonly recorded: RecordedState;
  readonly base: Oid | undefined;
  readonly client: string | undefined;
  readonly author: Committer;
  /** Seconds since the epoch. */
  readonly seconds: number;
}

/**
 * Joins both lines in one commit, the remote's first, and takes the one that was another owner's.
 * `undefined`: the handoff moved meanwhile.
 */
export async function mergeLines(
  repository: Repository,
  { path, here }: Difference,
  { ours, theirs }: Lines,
  content: MergeContent,
): Promise<Oid | undefined> {
  const batch = new ObjectBatch(await objectFormat(repository, ours.oid));
  const { me, base, client } = content;
  // The line that changes hands comes first: whose it was is what a take names.
  const isOursTaken = theirs.trailers?.owner === me && ours.trailers?.owner !== me;
  const [first, second] = isOursTaken ? [ours, theirs] : [theirs, ours];
  const former = first.trailers?.owner;
  const carrying = [ours, theirs].find(({ trailers }) => trailers?.work !== undefined)?.trailers;
  const { oid } = addCommit(batch, {
    ...content,
    parents: [first, second],
    note: batch.blob(content.note),
    trailers: {
      owner: me,
      state: 'open',
      base,
      client,
      takenFrom: former === me ? undefined : former,
      to: theirs.trailers?.to ?? ours.trailers?.to,
      from: theirs.trailers?.from ?? ours.trailers?.from,
      work: carrying?.work,
      workSize: carrying?.workSize,
    },
  });
  await batch.store({ cwd: repository.cwd });
  const result = await updateRefs(
    repository,
    [
      { ref: handoffRef(path), next: oid, old: here?.publicOid },
      { ref: keptRef(path), next: oid, old: here?.keptOid },
    ],
    { reflog: 'handoff: merge' },
  );
  if (result.kind !== 'done') return undefined;
  await batch.secure(repository);
  return oid;
}
