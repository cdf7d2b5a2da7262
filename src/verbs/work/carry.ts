import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { typedPaths } from '../../changes/hint-words.ts';
import { stagedOnly } from '../../changes/session-parts.ts';
import { readStart } from '../../changes/windows.ts';
import { escapeLine, Failure, listed, shellWord } from '../../domain/messages.ts';
import { formatMessage } from '../../domain/handoff.ts';
import { isUsable } from '../../domain/ledger/ownership.ts';
import { sameState, type DirtyPath } from '../../domain/ledger/tree-status.ts';
import { type SessionId, isPerson } from '../../domain/names.ts';
import { decideSecrets, formatAllowed } from '../../domain/secrets.ts';
import { MAX_PATHS, formatWorkSize, workSizeText } from '../../domain/snapshot.ts';
import { readSettings } from '../../git/config.ts';
import { workRef } from '../../git/namespace.ts';
import type { Committer, Repository } from '../../git/repository.ts';
import { ownStore } from '../../git/scratch.ts';
import { lstatOf } from '../../host/disk.ts';
import { keepInFile } from '../../host/folders.ts';
import type { CarriedTrailers } from '../../notes/handoffs.ts';
import { looksLike, findSecrets } from '../../notes/secrets/check-note.ts';
import { type TopicArgument, typedTopic } from '../../notes/topic-argument.ts';
import { type ReadContents, readWorkContents } from '../../snapshot/index-forms.ts';
import { dropWork, keepWork } from '../../notes/work/work-commit.ts';
import type { Context } from '../../sessions/caller.ts';
import { addSnapshot } from '../../snapshot/commit.ts';
import { composeHunks, type Again, passedNotices, requireOwnership } from '../sharing/commit/compose.ts';
import { type CommitScene, readScene } from '../sharing/commit/scene.ts';

/** A note that will carry work. */
export interface CarryOptions {
  readonly repository: Repository;
  readonly target: TopicArgument;
  readonly note: Uint8Array;
  readonly pathspecs: readonly string[];
  readonly session: string | undefined;
  readonly caller: { readonly id: SessionId; readonly client: string | undefined };
  readonly author: Committer;
  readonly allowSecret: boolean;
}

/** Work that is stored under its ref, for a note that is not written yet. */
export interface CarriedByNote {
  /** `undefined`: there was no work. */
  readonly trailers: CarriedTrailers | undefined;
  /** Notices to print after the note was written. */
  readonly notices: readonly string[];
  /** Deletes the work's ref again, when the note was not written. */
  drop(): Promise<void>;
}

/**
 * Packs the caller's uncommitted work, looks for secrets in it, and keeps it under a ref of its own.
 *
 * @throws Failure `secret`, `refused` or `not-owner`: then nothing is stored
 */
export async function carryWork(options: CarryOptions, context: Context): Promise<CarriedByNote> {
  const { repository, target, pathspecs, caller, author } = options;
  const settings = await readSettings(repository.cwd);
  const again = typedAgain(options);
  const packed = await packWork(options, again, settings.maxWork, context);
  if (packed === undefined) {
    const where = pathspecs.length > 0 ? ' there' : '';
    const notices = [`the note carries no work: no uncommitted change${where} is yours (git handoff status)`];
    return { trailers: undefined, notices, drop: () => Promise.resolve() };
  }
  const { allowed, notices } = await checkWork(packed, options, again, settings.secretScan);
  const { work, batch, size } = packed;
  const message = formatMessage(`work for ${target.branch}/${target.topic}`, {
    owner: caller.id,
    base: work.base ?? undefined,
    client: caller.client,
    state: 'open',
    takenFrom: undefined,
    to: undefined,
    secretAllowed: allowed,
  });
  const oid = addSnapshot(batch, work, { ...author, message, seconds: Math.floor(context.now / 1000) });
  await batch.storeMany({ cwd: repository.cwd });
  const isNew = await keepWork(repository, target.path, oid);
  await batch.storeAgainIfCollected(repository);
  const push = `git handoff sync --push --with-work ${typedTopic(target.branch, target.topic)}`;
  const carries = `the note carries uncommitted work: ${workSizeText(size)}; it stays on this machine until: ${push}`;
  return {
    trailers: { work: oid, workSize: formatWorkSize(size) },
    notices: [...packed.notices, ...notices, carries],
    // If the work is not new, an earlier note carries the same work, packed in the same second.
    drop: async () => {
      if (isNew) await dropWork(repository, [{ name: workRef(target.path, oid), oid }]);
    },
  };
}

/** Returns the command to type again. Reading `command` first saves the note's text to a file, which the command names. */
function typedAgain({ note, target, allowSecret }: CarryOptions): Again {
  let file: string | undefined;
  return {
    done: 'written',
    get command() {
      file ??= keepInFile(note);
      if (file === undefined) return undefined;
      const allow = allowSecret ? ' --allow-secret' : '';
      const name = typedTopic(target.branch, target.topic);
      return `git handoff write ${name} --file ${shellWord(file)}${allow} --with-work`;
    },
  };
}

/** Looks for secrets in all contents before any is stored. */
async function checkWork(
  { contents }: PackedWork,
  { allowSecret, pathspecs }: CarryOptions,
  again: Again,
  scan: Awaited<ReturnType<typeof readSettings>>['secretScan'],
): Promise<{ allowed: string | undefined; notices: readonly string[] }> {
  const rules = new Set<string>();
  const warned: string[] = [];
  const refused = new Map<string, string>();
  for (const { path, content } of contents) {
    const findings = await findSecrets(content);
    const verdict = decideSecrets(findings, allowSecret ? 'all' : [], scan);
    if (verdict.kind === 'allowed') for (const rule of verdict.rules) rules.add(rule);
    if (verdict.kind === 'warn') warned.push(`${escapeLine(path)}: ${looksLike(verdict.findings)}`);
    if (verdict.kind === 'refuse' && !refused.has(path)) refused.set(path, looksLike(verdict.findings));
  }
  const [first] = refused;
  if (first === undefined)
    return { allowed: rules.size === 0 ? undefined : formatAllowed([...rules].sort()), notices: warned };
  const [path, why] = first;
  const others = refused.size > 1 ? `; so do ${listed([...refused.keys()].slice(1).map(escapeLine))}` : '';
  const message = `the work was not carried and nothing was written: ${escapeLine(path)}: ${why}${others}`;
  const { command = "git handoff write <topic> -m '<text>' --with-work" } = again;
  const paths = pathspecs.length === 0 ? '' : ` -- ${typedPaths(pathspecs) ?? '<path>...'}`;
  const hint = `remove it from that file, then: ${command}${paths}; or, if it is not a secret: ${command} --allow-secret${paths}`;
  throw new Failure('secret', message, { hint });
}

interface PackedWork extends ReadContents {
  readonly notices: readonly string[];
}

/**
 * Packs the caller's own uncommitted changes: whole files, or only its own hunks of files that others changed, too. Staged
 * changes stay staged. Nothing is stored yet. `undefined`: there are no changes.
 *
 * @param again the command to type again for some of the paths
 * @param maxBytes the limit for all contents together
 * @throws Failure `not-owner` for another's path, `refused` for what cannot be carried or exceeds the limits
 */
async function packWork(
  { pathspecs, session, caller }: CarryOptions,
  again: Again,
  maxBytes: number,
  context: Context,
): Promise<PackedWork | undefined> {
  const scene = await readScene({ pathspecs, session, person: { id: caller.id } }, context);
  requireOwnership(scene, again, context.now);
  const chosen = chooseWork(scene);
  requireCarriable(scene, chosen, again);
  const composed = await composeHunks(scene, again);
  const taken = [
    ...chosen.map((dirty) => ({ dirty, instead: undefined })),
    ...scene.shares.contended.flatMap(({ dirty }) => {
      const instead = composed.entries.get(dirty.path);
      return instead === undefined || sameState(instead, dirty.head) ? [] : [{ dirty, instead }];
    }),
  ];
  const notices = [...passedNotices(composed.passed, scene), ...leftNotices(scene, chosen)];
  if (taken.length === 0) return undefined;
  if (taken.length > MAX_PATHS) throw tooMuch(`${taken.length} paths`, `${MAX_PATHS}`, again);
  // Checked before anything is read: the files alone may be too large.
  requireRoom(sizeOnDisk(scene, chosen), maxBytes, again);
  const place = { ...scene.work.tree, indexFile: scene.indexFile };
  const store = ownStore(place.commonDir);
  const checkSize = (bytes: number) => requireRoom(bytes, maxBytes, again);
  const how = { store, composed: composed.contents, checkSize };
  try {
    return { ...(await readWorkContents(place, scene.work.status.head.oid, taken, how)), notices };
  } finally {
    rmSync(store.folder, { recursive: true, force: true });
  }
}

function sizeOnDisk({ work }: CommitScene, chosen: readonly DirtyPath[]): number {
  const { top } = work.tree;
  return chosen.reduce((sum, { path }) => sum + (lstatOf(join(top, path))?.size ?? 0), 0);
}

function requireRoom(bytes: number, maxBytes: number, again: Again): void {
  if (bytes > maxBytes) throw tooMuch(`${bytes} bytes`, `${maxBytes} bytes (handoff.maxWork)`, again);
}

function tooMuch(found: string, most: string, { command = 'git handoff write <topic>' }: Again): Failure {
  const message = `the uncommitted work has ${found}, and a note carries at most ${most}; nothing was written`;
  return new Failure('refused', message, { hint: `${command} -- <path>...` });
}

/** Reports the files that were left out because nobody has claimed them and the command does not name them. */
function leftNotices(scene: CommitScene, chosen: readonly DirtyPath[]): string[] {
  const taken = new Set(chosen.map(({ path }) => path));
  const left = scene.shares.left.filter(({ path, owner }) => owner === undefined && !taken.has(path));
  // Other repositories, and names that are not UTF-8: no note can carry them.
  const never = left.filter(({ path }) => !isUsable(path));
  const rest = left.filter((one) => !never.includes(one));
  const names = (some: typeof left) => listed(some.map(({ path }) => escapeLine(path)));
  return [
    ...(rest.length > 0 ? [`not carried: ${names(rest)}; name a path after -- to carry it, too`] : []),
    ...(never.length > 0
      ? [`not carried: ${names(never)}: a note cannot carry other repositories or names that are not UTF-8`]
      : []),
  ];
}

/** Chooses the paths to carry as they are on the disk. */
function chooseWork(scene: CommitScene): DirtyPath[] {
  const { self, shares, work, owners, untracked, named } = scene;
  const { place, lone, ledgers, status } = work;
  const whole = new Set([...shares.whole.map(({ dirty }) => dirty.path), ...untracked]);
  const left = new Map(shares.left.map(({ path, owner }) => [path, owner]));
  const contended = new Set(shares.contended.map(({ dirty }) => dirty.path));
  const staged = new Set(stagedOnly(work, owners).map(({ path }) => path));
  const ofLone = lone === undefined || owners.has(lone.session) ? new Map() : lone.claims;
  const isOnRecord =
    lone?.session === self ||
    ledgers.some(({ session }) => session === self) ||
    (place !== undefined && readStart(place, self) !== undefined);
  // If nothing of the writer is on record, unclaimed changes count as the writer's.
  const isUnrecorded = isPerson(self) || !isOnRecord;
  return [...status.dirty.values()].filter(({ path, head, index }) => {
    if (whole.has(path)) return true;
    if (contended.has(path) || left.get(path) !== undefined || ofLone.has(path)) return false;
    if (named !== undefined) return named.has(path) && !left.has(path);
    return isUnrecorded ? head !== null || index !== null : staged.has(path);
  });
}

/**
 * Refuses paths that a note cannot carry: submodules, other repositories, conflicts, names that are not UTF-8.
 *
 * @throws Failure `refused`
 */
function requireCarriable(scene: CommitScene, chosen: readonly DirtyPath[], again: Again): void {
  const { shares, owners, work } = scene;
  const own = shares.left.filter(({ owner }) => owner !== undefined && owners.has(owner));
  const unnamed = own.filter(({ path }) => !isUsable(path));
  const wanted = [...chosen, ...shares.contended.map(({ dirty }) => dirty)];
  const refused = [
    ...unnamed.map(({ path }) => ({
      path,
      why: path.endsWith('/') ? 'is a repository of its own' : 'has a name that is not UTF-8',
    })),
    ...wanted.flatMap(({ path, head, index, disk }) => {
      if ([head, index, disk].some((state) => state?.mode === '160000'))
        return [{ path, why: 'is a submodule' }];
      const isInConflict = index !== null && index.oid === null;
      return isInConflict ? [{ path, why: 'is in conflict' }] : [];
    }),
  ];
  const [first] = refused;
  if (first === undefined) return;
  const names = new Set(refused.map(({ path }) => path));
  const rest = wanted
    .map(({ path }) => path)
    .filter((path) => !names.has(path) && work.status.dirty.has(path));
  const more = refused.length > 1 ? ` (and ${refused.length - 1} more)` : '';
  const message = `${escapeLine(first.path)}${more} ${first.why}, and a note cannot carry it; nothing was written`;
  const isPossible = rest.length > 0 && again.command !== undefined;
  const hint = isPossible ? `${again.command}${scene.typedPaths(rest)}` : 'git handoff status';
  throw new Failure('refused', message, { hint });
}
