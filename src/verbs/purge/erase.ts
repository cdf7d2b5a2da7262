import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { NOTE_FILE, STATE_FILE } from '../../domain/handoff.ts';
import type { Oid, RefName } from '../../domain/names.ts';
import { type ObjectHolder, findHolders, textObjects, uncommittedObjects } from '../../git/holders.ts';
import { encodeRemote } from '../../git/namespace.ts';
import { readObjects } from '../../git/objects.ts';
import { deleteOnRemote } from '../../git/remote-deletion.ts';
import type { Repository } from '../../git/repository.ts';
import type { Budget } from '../../host/io.ts';
import { scratchStore } from '../../git/scratch-store.ts';
import { userGit } from '../../git/user-git.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import {
  type PurgedRef,
  deleteLogs,
  deleteRefs,
  refsOf,
  rememberPurged,
  staleLogs,
} from '../../notes/purge.ts';
import type { PurgeTarget } from './target.ts';

/** What a remote that was named has of the handoff. */
export interface RemoteCopy {
  readonly remote: string;
  /** Where it stands there. */
  readonly ref: RefName;
  /** `null`: nothing. */
  readonly oid: Oid | null;
}

/** Where the text can still be found in this repository after its refs are gone. */
export interface Remains {
  /** Objects that hold the text and are still there: until git collects its garbage, or because something holds them. */
  readonly objects: number;
  /** What still refers to them: refs, `reflogs`, `index`, `uncommitted files`; `null`: not found out. */
  readonly heldBy: readonly string[] | null;
}

/** A search through all that a big repository has takes its time. Milliseconds. */
const SEARCH_MS = 60_000;

/**
 * Deletes the copies of remotes, one after the other.
 *
 * @throws Failure `lost-race` or `remote`; nothing is removed here then, and the message says where it is already
 */
export async function eraseOnRemotes(
  cwd: string,
  target: PurgeTarget,
  copies: readonly RemoteCopy[],
): Promise<void> {
  const done: string[] = [];
  for (const { remote, ref, oid } of copies) {
    if (oid === null) continue;
    const result = await deleteOnRemote(cwd, remote, ref, oid);
    if (result.kind === 'done') {
      done.push(remote);
      continue;
    }
    const where = done.length === 0 ? '' : `; it is removed already on ${done.map(escapeLine).join(', ')}`;
    const again = `git handoff purge ${target.name} --remote ${escapeLine(remote)}`;
    if (result.kind === 'moved') {
      const message = `${target.name} moved on ${escapeLine(remote)} meanwhile, nothing was removed here${where}`;
      throw new Failure('lost-race', message, { hint: again });
    }
    const message = `${escapeLine(remote)} keeps ${target.name} (${result.detail}), nothing was removed here${where}`;
    // A server's hook that refuses deletions does not hold there.
    throw new Failure('remote', message, {
      hint: `on the server, in that repository: git update-ref -d ${escapeLine(ref)} ${oid}`,
    });
  }
}

/**
 * Deletes the refs, if they still are what was shown, and their logs.
 *
 * @param remotes the configured ones: they may have left logs, and bring the handoff back
 * @param named those that it was removed from
 * @throws Failure `lost-race`, `environment`
 */
export async function eraseHere(
  repository: Repository,
  target: PurgeTarget,
  shown: readonly PurgedRef[],
  { remotes, named }: { readonly remotes: ReadonlySet<string>; readonly named: readonly string[] },
): Promise<void> {
  const again = `git handoff purge ${target.name}`;
  const there = named.length === 0 ? '' : `; it is removed on ${named.map(escapeLine).join(', ')}`;
  const moved = () => new Failure('lost-race', `${target.name} moved meanwhile${there}`, { hint: again });
  // A push may have moved or deleted tracking refs.
  const now = await refsOf(repository, target.path);
  const seen = new Map(shown.map(({ name, oid }) => [name, oid]));
  if (now.some(({ name, oid, kind }) => kind !== 'tracking' && seen.get(name) !== oid)) throw moved();
  const result = await deleteRefs(repository, now);
  if (result.kind === 'locked') {
    const message = `a lock is in the way, nothing was removed here: ${result.detail}${there}`;
    throw new Failure('environment', message, { hint: 'git handoff doctor' });
  }
  if (result.kind !== 'done') throw moved();
  const known = rememberedTip(shown, named);
  if (known !== undefined && remotes.size > 0) await rememberPurged(repository, target.path, known);
  const components = [...remotes].map(encodeRemote);
  const names = [...shown, ...now].map(({ name }) => name);
  await deleteLogs(repository, await staleLogs(repository, target.path, components, names));
  if ((await refsOf(repository, target.path)).length > 0) throw moved();
}

/** What a remote still shows, or others may push back: one commit can be remembered. */
function rememberedTip(shown: readonly PurgedRef[], named: readonly string[]): Oid | undefined {
  const there = shown.find(
    ({ kind, remote }) => kind === 'tracking' && remote !== null && !named.includes(remote),
  );
  const here = shown.find(({ kind }) => kind === 'handoff' || kind === 'kept');
  return (there ?? here)?.oid;
}

/** The objects that hold the text, as far as they can be read: to be asked for before the refs go. */
export async function objectsOf(cwd: string, refs: readonly PurgedRef[]): Promise<ReadonlySet<Oid>> {
  const tips = refs.filter(({ kind }) => kind !== 'ack' && kind !== 'work').map(({ oid }) => oid);
  const work = refs.filter(({ kind }) => kind === 'work').map(({ oid }) => oid);
  const [texts, contents] = await Promise.all([
    textObjects(cwd, tips, { text: NOTE_FILE, state: STATE_FILE }),
    uncommittedObjects(cwd, work),
  ]);
  return new Set([...texts, ...contents]);
}

/** Lets git collect its garbage, all of it. */
export async function collect(cwd: string): Promise<void> {
  const result = await userGit(['gc', '--quiet', '--prune=now'], { cwd, show: 'quiet' });
  if (result.code === 0) return;
  const message = `the note is removed, but git gc failed: ${escapeLine(result.stderr.trim().split('\n')[0] ?? '')}`;
  throw new Failure('environment', message, { hint: 'git gc --prune=now' });
}

export async function remainsOf(
  repository: Repository,
  objects: ReadonlySet<Oid>,
  budget: Budget,
): Promise<Remains> {
  const { cwd, commonDir } = repository;
  const requests = [...objects].map((name) => ({ name, infoOnly: true }));
  const there = (await readObjects({ cwd }, requests)).flatMap((object) => object?.oid ?? []);
  const holders = await findHolders(cwd, new Set(there), { timeoutMs: budget.part(SEARCH_MS).left() });
  const { folder } = scratchStore(commonDir);
  const scratch = [...objects].some((oid) => existsSync(join(folder, oid.slice(0, 2), oid.slice(2))));
  const heldBy = holders === undefined ? null : [...holders.map(holderName), ...(scratch ? [SCRATCH] : [])];
  return { objects: there.length, heldBy };
}

const SCRATCH = 'uncommitted files';

const holderName = (holder: ObjectHolder) => (holder.kind === 'ref' ? holder.name : holder.kind);
