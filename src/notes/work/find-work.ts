import { escapeLine, Failure, shellWord } from '../../domain/messages.ts';
import type { HandoffCommit } from '../../domain/handoff.ts';
import { canMean, ownerName, type Oid } from '../../domain/names.ts';
import { checkRemotePrefix } from '../../domain/sync.ts';
import { workSizeText } from '../../domain/snapshot.ts';
import { isRemoteName, readRemotes, readSettings } from '../../git/config.ts';
import { listBookkeeping } from '../../git/migrate-ref-lists.ts';
import {
  type HandoffPath,
  REMOTE,
  WORK,
  remoteWorkPrefix,
  trackingRef,
  UNPACKED,
  type WorkPath,
  parseWorkRef,
  unpackedRef,
} from '../../git/namespace.ts';
import { listRefNames, listRefs, type RefValue, updateRefs } from '../../git/refs.ts';
import { type Committer, type Repository, objectFormat } from '../../git/repository.ts';
import { type TransferOptions, fetchRefs, showRemote } from '../../git/transfer.ts';
import { findTopic, requireTip, typedTopic } from '../topic-argument.ts';
import { personName } from '../person-name.ts';
import type { TopicState } from '../topic.ts';
import { type LoadedWork, readWork, type CarriedWork, carriedWork, dropWork } from './work-commit.ts';
import { relative } from 'node:path';
import { jsonFields } from '../../domain/journal/events.ts';
import { changedPaths } from '../../git/commits.ts';
import { ObjectBatch } from '../../git/objects.ts';
import { readTreeStatus } from '../../git/worktrees.ts';

interface FindOptions {
  readonly topic: string | undefined;
  /** An author whose work is accepted besides the user's own. */
  readonly from: string | undefined;
  readonly author: Committer;
  readonly transfer: Omit<TransferOptions, 'cwd'>;
  readonly warn: (text: string) => void;
}

/** A note's work, read and checked. */
export interface FoundWork extends LoadedWork {
  readonly state: TopicState;
  /** Whether this clone packed the work. */
  readonly isLocal: boolean;
}

/**
 * Finds the work that a note carries, and fetches it if this clone lacks it. Nothing else fetches work. Before the fetch, a
 * notice says whose work it is, and how large.
 *
 * @throws Failure `not-found` without a note or its work, `refused` for another person's work without `from`,
 * `integrity` for a commit that breaks the format, `remote` when the work cannot be fetched
 */
export async function findWork(repository: Repository, options: FindOptions): Promise<FoundWork> {
  const state = await findTopic(repository, options.topic, { work: true });
  const tip = requireTip(state);
  const carried = await carriedWork(repository, tip);
  const name = typedTopic(state.branch, state.topic);
  if (carried === undefined) {
    const message = `${name} carries no work`;
    throw new Failure('not-found', message, { hint: `git handoff boot ${name}` });
  }
  const { maxWork } = await readSettings(repository.cwd);
  const kept = await listRefNames(repository, [WORK]);
  const isLocal = kept.some(({ oid }) => oid === carried.oid);
  const read = () => readWork({ cwd: repository.cwd }, carried.oid, maxWork);
  let found = await read();
  if (found === undefined) {
    requireAuthor(tip, name, options);
    await fetchWork(repository, { name, tip, carried, maxWork, path: state.path }, options);
    found = await read();
  }
  if (found === undefined || typeof found === 'string') {
    const message = `the work of ${name} cannot be used: ${found ?? 'it is nowhere to be found'}`;
    throw new Failure('integrity', message, { hint: `git handoff show ${name}` });
  }
  if (!isLocal) requireAuthor(found, name, options);
  return { ...found, state, isLocal };
}

/** Another person's work must be asked for by that person's name (`--from`). */
function requireAuthor(
  by: Pick<HandoffCommit, 'trailers' | 'name' | 'mail'>,
  name: string,
  { from, author }: FindOptions,
): void {
  const sameMail = (mail: string | undefined) => mail?.toLowerCase() === by.mail.toLowerCase();
  const owner = by.trailers?.owner;
  const isNamed = from !== undefined && (sameMail(from) || (owner !== undefined && canMean(from, owner)));
  if (sameMail(author.email) || isNamed) return;
  const message = `the work of ${name} is from ${authorText(by)}; nothing was changed`;
  throw new Failure('refused', message, {
    hint: `git handoff unpack ${name} --from ${shellWord(by.mail === '' ? (owner ?? '') : by.mail)}`,
  });
}

/** `claude a1f0c3d2 (Ann Example <ann@example.com>)`. */
export function authorText(by: Pick<HandoffCommit, 'trailers' | 'name' | 'mail'>): string {
  const { owner, client } = by.trailers ?? {};
  const person = escapeLine(`${by.name} <${by.mail}>`);
  if (owner === undefined || personName(by) !== undefined) return person;
  return `${ownerName(owner, { client })} (${person})`;
}

interface Wanted {
  readonly name: string;
  readonly path: HandoffPath;
  readonly tip: HandoffCommit;
  readonly carried: CarriedWork;
  readonly maxWork: number;
}

async function fetchWork(
  repository: Repository,
  { name, path, tip, carried, maxWork }: Wanted,
  { transfer, warn }: FindOptions,
): Promise<void> {
  const { oid, size } = carried;
  if ((size?.bytes ?? 0) > maxWork) {
    const message = `the work of ${name} has ${size?.bytes} bytes, at most ${maxWork} are fetched`;
    throw new Failure('refused', message, { hint: `git config handoff.maxWork ${size?.bytes}` });
  }
  const { all, usual, settings } = await readRemotes(repository.cwd, repository.branch);
  const from = await listBookkeeping(repository, [REMOTE]);
  // First the remote that `git fetch` would use, then those that have the note.
  const remotes = [
    ...all.filter((one) => one.name === usual),
    ...all.filter(
      (one) => one.name !== usual && from.some((ref) => ref.name === trackingRef(one.name, path)),
    ),
  ].filter((one) => isRemoteName(one.name));
  const options = { ...transfer, cwd: repository.cwd };
  const prefix = remoteWorkPrefix(checkRemotePrefix(settings.remotePrefix));
  for (const { name: remote } of remotes) {
    const shown = await showRemote(options, remote, prefix);
    const there = shown.find(
      (ref) => ref.oid === oid && ref.name.endsWith(`/${oid}`) && ref.odd === undefined,
    );
    if (there === undefined) continue;
    const amount = size === undefined ? 'of unknown size' : workSizeText(size);
    warn(`fetching the work of ${authorText(tip)}, ${amount}, from ${escapeLine(remote)}`);
    // The work gets no ref here, because it is read only once.
    return fetchRefs(options, remote, [there.name]);
  }
  const names = remotes.map((one) => escapeLine(one.name)).join(' or ');
  const where = names === '' ? 'in this clone' : `on ${names}`;
  const message = `the work of ${name} is not ${where}; it stays on the machine of ${authorText(tip)} until it is sent from there (git handoff sync --push --with-work ${name})`;
  throw new Failure('not-found', message, { hint: `git handoff show ${name}` });
}

/** The HEAD that work was unpacked on, and the new content of each path (`null`: it was removed). */
interface Unpacked {
  readonly head: Oid | null;
  readonly paths: Readonly<Record<string, Oid | null>>;
}

/** Records what was unpacked in this worktree. Once that is committed, `settleUnpacked` deletes our copy of the work. */
export async function noteUnpacked(
  repository: Repository,
  path: HandoffPath,
  oid: Oid,
  what: Unpacked,
): Promise<void> {
  const { cwd } = repository;
  const batch = new ObjectBatch(await objectFormat({ cwd }, oid));
  const next = batch.blob(Buffer.from(`${JSON.stringify({ ...what, worktree: worktreeOf(repository) })}\n`));
  const ref = unpackedRef(path, oid);
  const former = (await listRefNames(repository, [ref]))[0]?.oid;
  await batch.store({ cwd });
  await updateRefs(repository, [{ ref, next, old: former }]);
}

/** The worktree's git folder, relative to the common directory; empty for the main worktree. */
const worktreeOf = ({ commonDir, gitDir }: Repository) => relative(commonDir, gitDir);

/**
 * Deletes this clone's copy of work that was unpacked in this worktree and has since been committed unchanged. The caller
 * deletes the record when the remotes have deleted their copies.
 */
export async function settleUnpacked(
  repository: Repository,
  top: string,
  now: number,
): Promise<(WorkPath & { readonly record: RefValue })[]> {
  const records = await listRefs(repository, [UNPACKED], { content: true });
  if (records.length === 0) return [];
  const { head, dirty } = await readTreeStatus(top, { now, namesOnly: true });
  const settled = [];
  for (const record of records) {
    const path = parseWorkRef(record.name, UNPACKED);
    const json = jsonFields(Buffer.from(record.content, 'latin1').toString('utf8'));
    const { head: base = null, paths = {}, worktree } = json as Partial<Unpacked & { worktree: string }>;
    const unpacked = Object.entries(paths);
    if (path === undefined || head.oid === null || unpacked.some(([one]) => dirty.has(one))) continue;
    // This worktree's files say nothing about work unpacked in another worktree.
    if (worktree !== worktreeOf(repository)) continue;
    const changes = await changedPaths(top, base, head.oid).catch(() => []);
    const atHead = new Map(changes.map((change) => [change.path, change.index?.oid ?? null]));
    // A path that HEAD has with other content does not count as committed.
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
