import { Failure } from '../../domain/failure.ts';
import type { Oid, Topic } from '../../domain/names.ts';
import { asideNames } from '../../domain/sync/aside-name.ts';
import { type LoadedCommit, loadCommits } from '../../git/commits.ts';
import { type HandoffPath, handoffRef } from '../../git/namespace.ts';
import { tipNotes } from '../../git/note-blobs.ts';
import { ObjectBatch } from '../../git/object-batch.ts';
import { type Repository, objectFormat } from '../../git/repository.ts';
import { addCommit } from '../new-commit.ts';
import { readHistory } from '../topic.ts';
import type { Difference, SyncedTopic } from './differences.ts';

/** Which names are in use, here or at the remote, and for which commits. */
export class TakenNames {
  readonly #oids = new Map<string, Set<Oid>>();

  constructor(topics: readonly SyncedTopic[]) {
    for (const { path, here, there } of topics) {
      for (const oid of [here?.publicOid, here?.keptOid, there?.oid])
        if (oid !== undefined) this.add(path, oid);
    }
  }

  add(path: HandoffPath, oid: Oid): void {
    const ref = handoffRef(path);
    this.#oids.set(ref, (this.#oids.get(ref) ?? new Set()).add(oid));
  }

  /** Whether a name is free, taken by something else, or holds that very commit already (an earlier try was killed). */
  isFreeFor(path: HandoffPath, oid: Oid): 'free' | 'taken' | 'there' {
    const oids = this.#oids.get(handoffRef(path));
    if (oids === undefined) return 'free';
    return oids.size === 1 && oids.has(oid) ? 'there' : 'taken';
  }
}

/** A line under its new name. */
export interface AsideLine {
  readonly path: HandoffPath;
  readonly oid: Oid;
  readonly isThere: boolean;
  /** To be called once a ref holds it. */
  secure(): Promise<void>;
}

/**
 * Stores the commit by which our line of a topic goes on under the next free name. Whoever makes it of the same line
 * makes the same commit: two clones of one machine, or a second try after a crash, do not part once more.
 *
 * @throws Failure `integrity` when our tip cannot be read
 */
export async function asideLine(
  repository: Repository,
  { path, here }: Difference,
  taken: TakenNames,
): Promise<AsideLine> {
  const tip = here?.tip?.oid;
  const options = { cwd: repository.cwd };
  const [commit] = tip === undefined ? [] : await loadCommits(options, [tip]);
  const note = commit === undefined ? undefined : (await tipNotes(repository, [commit.oid])).get(commit.oid);
  if (commit === undefined || note === undefined)
    throw new Failure('integrity', `the last commit of ${handoffRef(path)} cannot be read`, {
      hint: 'git fsck --connectivity-only',
    });
  const formerly = (await readHistory(repository, commit.oid)).find(
    ({ trailers }) => trailers?.divergedFrom !== undefined,
  )?.trailers?.divergedFrom;
  const format = await objectFormat(repository, commit.oid);
  for (const topic of asideNames(path.topic, formerly)) {
    const batch = new ObjectBatch(format);
    const oid = renamed(batch, commit, note, path.topic, topic);
    const aside = { component: path.component, topic };
    const state = taken.isFreeFor(aside, oid);
    if (state === 'taken') continue;
    await batch.store(options);
    return { path: aside, oid, isThere: state === 'there', secure: () => batch.secure(repository) };
  }
  throw new Failure('integrity', `no name is free for another line of ${path.topic}`, {
    hint: 'git handoff list --all',
  });
}

/** The note, the owner, the author and the time stay: nothing was written, it is only called otherwise. */
function renamed(batch: ObjectBatch, tip: LoadedCommit, note: Oid, former: Topic, topic: Topic): Oid {
  if (tip.trailers === undefined || tip.recorded === undefined)
    throw new Failure('internal', 'a tip without trailers was to be set aside');
  const { summary, seconds, name, mail } = tip;
  return addCommit(batch, {
    parents: [tip],
    note,
    recorded: { ...tip.recorded, topic },
    summary,
    trailers: { ...tip.trailers, takenFrom: undefined, succeeds: undefined, divergedFrom: former },
    author: { name, email: mail },
    seconds,
  }).oid;
}
