import { Failure } from '../../domain/failure.ts';
import { type Oid, isZeroOid, type SessionId } from '../../domain/names.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { checkRemotePrefix } from '../../domain/sync/address.ts';
import { HANDOFFS, encodeRemote, handoffRef, refBelow, remoteWorkPrefix } from '../../git/namespace.ts';
import { askRemote } from '../../git/remote-deletion.ts';
import type { Repository } from '../../git/repository.ts';
import { byAge } from '../../notes/find-topic.ts';
import { deleteTopics } from '../../notes/prune.ts';
import { type PurgedKind, type PurgedRef, refsOf, staleLogs } from '../../notes/purge.ts';
import { type TopicState, readTopics } from '../../notes/topic.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import { handoffShape } from '../handoff-shape.ts';
import { parseExpectation } from '../notes/write.ts';
import type { CommandResult } from '../result.ts';
import type { HandoffShape } from '../shapes.ts';
import { openWorkspace } from '../workspace.ts';
import {
  type Remains,
  type RemoteCopy,
  collect,
  eraseHere,
  eraseOnRemotes,
  objectsOf,
  remainsOf,
} from './erase.ts';
import { type PurgeParties, type PurgeTarget, parsePurgeTarget, readParties } from './target.ts';

interface PurgeOptions {
  readonly topic: string;
  /** Without it nothing is removed, only listed. */
  readonly yes: boolean;
  /** Also what another session owns. */
  readonly take: boolean;
  readonly expect: string | undefined;
  /** Remotes that it is removed from, too. */
  readonly remotes: readonly string[];
  /** Let git collect its garbage afterwards. */
  readonly gc: boolean;
  readonly session: string | undefined;
}

export interface PurgeValue {
  /** `null`: a ref was named that belongs to no branch. */
  readonly branch: string | null;
  readonly topic: string;
  readonly ref: string;
  readonly owner: string | null;
  /** The same as messages name it. */
  readonly ownerText: string | null;
  readonly items: readonly {
    readonly ref: string;
    readonly oid: string;
    readonly kind: PurgedKind;
    readonly remote: string | null;
  }[];
  /** Of the remotes that were named; `oid` is `null` where there is nothing. */
  readonly remotes: readonly RemoteCopy[];
  /** Remotes that were not named and had it when they were asked last: whoever fetches there has it, too. */
  readonly stillOn: readonly string[];
  readonly purged: boolean;
  /** After a purge: what of the text is still in this repository. */
  readonly remains: Remains | null;
  /** The command that does it. */
  readonly command: string;
}

/**
 * Removes a handoff for good: every ref of it here with its log, and from the remotes that are named. Its objects
 * stay until git collects them.
 *
 * @throws Failure `not-found`, `not-owner`, `lost-race`, `remote`
 */
export async function purge(options: PurgeOptions, context: Context): Promise<CommandResult<PurgeValue>> {
  const { repository, sessions, notices } = await openWorkspace(context);
  const target = parsePurgeTarget(options.topic, repository);
  const [refs, parties] = await Promise.all([
    refsOf(repository, target.path),
    readParties(repository, sessions, target.path, options.session, context),
  ]);
  const copies = await askRemotes(repository.cwd, target, options.remotes, parties);
  const plan = { target, refs, parties, copies };
  await requireSomething(repository, plan);
  if (!options.yes) return { value: describe(plan, options, null), notices };
  requireExpected(plan, options.expect);
  requirePermission(plan, options);
  const objects = await objectsOf(repository.cwd, refs);
  await eraseOnRemotes(repository.cwd, target, copies);
  await eraseHere(repository, target, refs, { ...parties, named: options.remotes });
  if (options.gc) await collect(repository.cwd);
  return { value: describe(plan, options, await remainsOf(repository, objects, context.budget)), notices };
}

interface PurgePlan {
  readonly target: PurgeTarget;
  readonly refs: readonly PurgedRef[];
  readonly parties: PurgeParties;
  readonly copies: readonly RemoteCopy[];
}

/** What the named remotes have, where handoffs go now and where they go without the setting: one may have changed it. */
async function askRemotes(
  cwd: string,
  { path }: PurgeTarget,
  named: readonly string[],
  { remotes, remotePrefix }: PurgeParties,
): Promise<RemoteCopy[]> {
  const unknown = named.find((remote) => !remotes.has(remote));
  if (unknown !== undefined) {
    throw new Failure('usage', `there is no remote ${escapeLine(unknown)}`, { hint: 'git remote -v' });
  }
  const prefix = checkRemotePrefix(remotePrefix);
  const [now, usual] = [refBelow(prefix, path), handoffRef(path)];
  const work = new Set([prefix, HANDOFFS].map((each) => `${refBelow(remoteWorkPrefix(each), path)}/`));
  const asked = [...new Set(named)].map(async (remote): Promise<RemoteCopy[]> => {
    const found = await askRemote(cwd, remote, [...new Set([now, usual])], [...work]);
    const copies = [...found].map(([ref, oid]) => ({ remote, ref, oid }));
    return copies.length > 0 ? copies : [{ remote, ref: now, oid: null }];
  });
  return (await Promise.all(asked)).flat();
}

async function requireSomething(
  repository: Repository,
  { target, refs, parties, copies }: PurgePlan,
): Promise<void> {
  if (refs.length > 0 || copies.some(({ oid }) => oid !== null)) return;
  const logs = await staleLogs(repository, target.path, [...parties.remotes].map(encodeRemote));
  if (logs.length > 0) return;
  throw new Failure('not-found', `there is nothing of ${target.name}`, { hint: 'git handoff list --all' });
}

/** The commit that people see: what stands at the public ref, else what was kept. */
function shownTip(refs: readonly PurgedRef[]): Oid | undefined {
  return (refs.find(({ kind }) => kind === 'handoff') ?? refs.find(({ kind }) => kind === 'kept'))?.oid;
}

function requireExpected({ target, refs }: PurgePlan, expect: string | undefined): void {
  const expected = parseExpectation(expect);
  const tip = shownTip(refs);
  if (expected === undefined || (expected ?? undefined) === tip) return;
  const now = tip === undefined || isZeroOid(tip) ? 'it no longer exists' : `it is at ${tip}`;
  throw new Failure('lost-race', `${target.name} is not at the expected commit: ${now}`, {
    hint: `git handoff purge ${target.name}`,
  });
}

function requirePermission({ target, parties }: PurgePlan, { take, remotes }: PurgeOptions): void {
  const { owner, ownerText, ownerIsLive } = parties;
  if (owner === undefined || mayPurge({ ...parties, take })) return;
  const whose = `${ownerText ?? ''}${ownerIsLive ? ', which is at work' : ''}`;
  const words = ['--yes', '--take', ...remoteWords(remotes)].join(' ');
  throw new Failure('not-owner', `${target.name} belongs to ${whose}`, {
    hint: `git handoff purge ${target.name} ${words}`,
  });
}

const remoteWords = (remotes: readonly string[]) => remotes.map((name) => `--remote ${shellWord(name)}`);

function describe(plan: PurgePlan, options: PurgeOptions, remains: Remains | null): PurgeValue {
  const { target, refs, parties, copies } = plan;
  const words = [
    '--yes',
    `--expect ${shownTip(refs) ?? 'none'}`,
    ...(mayPurge({ ...parties, take: false }) ? [] : ['--take']),
    ...remoteWords(options.remotes),
    ...(options.gc ? ['--gc'] : []),
  ];
  const tracked = [...new Set(refs.flatMap(({ remote }) => remote ?? []))];
  return {
    branch: target.branch,
    topic: target.path.topic,
    ref: handoffRef(target.path),
    owner: parties.owner ?? null,
    ownerText: parties.ownerText ?? null,
    items: refs.map(({ name, oid, kind, remote }) => ({ ref: name, oid, kind, remote })),
    remotes: copies,
    stillOn: tracked.filter((remote) => parties.remotes.has(remote) && !options.remotes.includes(remote)),
    purged: remains !== null,
    remains,
    command: `git handoff purge ${target.name} ${words.join(' ')}`,
  };
}

interface PruneOptions {
  /** Milliseconds since the last change. */
  readonly olderThanMs: number;
  /** The age as it was typed, for the command that is printed. */
  readonly age: string;
  /** Without it nothing is deleted, only listed. */
  readonly yes: boolean;
  readonly session: string | undefined;
}

export interface PruneValue {
  readonly items: readonly (HandoffShape & { readonly deleted: boolean })[];
  readonly olderThan: string;
}

/** Deletes closed handoffs that nobody has changed for so long. Open ones are never touched. */
export async function prune(options: PruneOptions, context: Context): Promise<CommandResult<PruneValue>> {
  const { repository, sessions, notices } = await openWorkspace(context);
  const reader = findSession(context, sessions, options.session)?.id;
  const old = (await readTopics(repository)).filter((state) =>
    isOver(state, context.now - options.olderThanMs),
  );
  const gone = new Set(options.yes ? await deleteTopics(repository, old) : []);
  const items = old.sort(byAge).flatMap((state) => {
    if (state.tip === undefined) return [];
    const shape = handoffShape(state, state.tip, reader);
    return [{ ...shape, deleted: gone.has(state) }];
  });
  const moved = options.yes ? items.length - gone.size : 0;
  return {
    value: { items, olderThan: options.age },
    notices: [
      ...notices,
      ...(moved === 0 ? [] : [`${moved} changed meanwhile and stayed: git handoff list --all`]),
    ],
    exitCode: items.length === 0 ? 1 : 0,
  };
}

/** Closed, settled, and not changed since `before` (milliseconds since the epoch). */
function isOver({ tip, illegal }: TopicState, before: number): boolean {
  return illegal === undefined && tip?.trailers?.state === 'closed' && tip.seconds * 1000 < before;
}

/** What decides whether somebody may remove a note for good. */
interface PurgeQuestion {
  /** `undefined`: there is none, or the tip cannot be read. */
  readonly owner: SessionId | undefined;
  /** The owner's process is at work. */
  readonly ownerIsLive: boolean;
  /** `undefined`: a person without an address. */
  readonly me: SessionId | undefined;
  readonly isPerson: boolean;
  /** Sessions whose conversation this one carries on. */
  readonly succeeded: readonly SessionId[];
  readonly take: boolean;
}

/**
 * A session removes its own notes. A person removes any, for somebody must be able to, but that of a live session only
 * by saying so.
 */
function mayPurge({ owner, ownerIsLive, me, isPerson, succeeded, take }: PurgeQuestion): boolean {
  if (take || owner === undefined || owner === me || succeeded.includes(owner)) return true;
  return isPerson && !ownerIsLive;
}
