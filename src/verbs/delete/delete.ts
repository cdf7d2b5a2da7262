import { ago, escapeLine, Failure, shellWord } from '../../domain/messages.ts';
import { type Oid, type SessionId, type Topic, isPerson, isZeroOid } from '../../domain/names.ts';
import { checkRemotePrefix, deletionOnRemote } from '../../domain/sync.ts';
import { readSettingsAndRemotes } from '../../git/config.ts';
import {
  HANDOFFS,
  type HandoffPath,
  SENT,
  handoffRef,
  refBelow,
  remoteWorkRef,
} from '../../git/namespace.ts';
import { type Repository, committer, personOf } from '../../git/repository.ts';
import {
  deleteAllRefs,
  type DeletedKind,
  type DeletedRef,
  deleteTopics,
  refsOfTopic,
} from '../../notes/delete-notes.ts';
import { byAge, parseTopicArgument, typedTopic } from '../../notes/topic-argument.ts';
import { commitOwner } from '../../notes/person-name.ts';
import { isAllowedOnce } from '../../sessions/bypass.ts';
import { type TopicState, readTopic, readTopics } from '../../notes/topic.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import { handoffShape, ownerText } from '../handoff-shape.ts';
import { parseExpectation } from '../notes/write.ts';
import type { CommandResult } from '../verb.ts';
import type { HandoffShape } from '../shapes.ts';
import { type Workspace, judgedSessions, openWorkspace } from '../workspace.ts';
import { type Rendered, type TextContext, columns } from '../../ui/terminal.ts';

interface DeleteOptions {
  readonly topic: string;
  /** Whether to delete, rather than only list what would be deleted. */
  readonly yes: boolean;
  /** Whether a person may delete even the note of a session at work. */
  readonly take: boolean;
  readonly expect: string | undefined;
  readonly session: string | undefined;
}

interface DeletedNoteValue {
  /** The branch; `null` when the named ref belongs to none. */
  readonly branch: string | null;
  readonly topic: string;
  readonly ref: string;
  readonly owner: string | null;
  readonly ownerText: string | null;
  readonly items: readonly {
    readonly ref: string;
    readonly oid: string;
    readonly kind: DeletedKind;
    readonly remote: string | null;
  }[];
  /** The remotes that had the note when last asked, each with the command that removes it there. */
  readonly remotes: readonly { readonly remote: string; readonly command: string }[];
  readonly deleted: boolean;
  readonly command: string;
}

/**
 * Removes every ref that this clone has of a note. The note's objects stay until git collects them, and servers keep their
 * copies: the answer has the commands that remove both.
 *
 * @throws Failure `not-found`, `not-owner`, `lost-race`
 */
export async function deleteNote(
  options: DeleteOptions,
  context: Context,
): Promise<CommandResult<DeletedNoteValue>> {
  const workspace = await openWorkspace(context);
  const { repository, notices } = workspace;
  const deletion = await readDeletion(workspace, options, context);
  const { refs, name } = deletion;
  if (refs.length === 0)
    throw new Failure('not-found', `there is no ref of ${name}`, { hint: 'git handoff list --all' });
  if (options.yes) {
    requireExpected(deletion, options.expect);
    requirePermission(repository, deletion, options.take, context);
    await removeHere(repository, deletion);
  }
  return { value: describe(deletion, options.yes), notices };
}

/**
 * Parses `[<branch>/]<topic>`, or the full name of a ref whose branch or topic is badly named.
 *
 * @throws Failure `usage`
 */
function parseTarget(text: string, repository: Repository): Pick<Deletion, 'path' | 'branch' | 'name'> {
  if (!text.startsWith(HANDOFFS)) {
    const { branch, topic, path } = parseTopicArgument(text, repository);
    return { path, branch, name: typedTopic(branch, topic) };
  }
  const [, component, topic] = /^([^/]+)\/(.+)$/s.exec(text.slice(HANDOFFS.length)) ?? [];
  const isName = !/[\p{Cc} ~^:?*[\\]|\.\.|\/\/|\/$/u.test(text);
  if (component === undefined || topic === undefined || !isName) {
    const message = `not the name of a handoff's ref: ${escapeLine(JSON.stringify(text))}`;
    throw new Failure('usage', message, { hint: `git for-each-ref ${HANDOFFS}` });
  }
  return { path: { component, topic: topic as Topic }, branch: null, name: shellWord(text) };
}

/** A note to delete, with its owner and the caller. Its branch or topic may be badly named. */
interface Deletion {
  readonly path: HandoffPath;
  /** The branch; `null` when only the ref is known. */
  readonly branch: string | null;
  /** The name as it is typed. */
  readonly name: string;
  /** Every ref of the note in this clone. */
  readonly refs: readonly DeletedRef[];
  /** The owner; `undefined` when there is none, or the tip cannot be read. */
  readonly owner: SessionId | undefined;
  readonly ownerText: string | undefined;
  readonly ownerIsLive: boolean;
  /** Whether the caller may delete it: a session its own notes, a person any note (with `--take` if the owner is live). */
  readonly isAllowed: boolean;
  /** The session that asks; `undefined` for a person. */
  readonly session: SessionId | undefined;
  readonly remotes: ReadonlySet<string>;
  readonly remotePrefix: string;
}

async function readDeletion(
  { repository, sessions }: Workspace,
  options: DeleteOptions,
  context: Context,
): Promise<Deletion> {
  const target = parseTarget(options.topic, repository);
  const caller = findSession(context, sessions, options.session);
  const [refs, author, { settings, remotes }, state] = await Promise.all([
    refsOfTopic(repository, target.path),
    committer(context.cwd),
    readSettingsAndRemotes(context.cwd),
    readTopic(repository, target.path).catch((error: unknown) => {
      if (error instanceof Failure) return undefined;
      throw error;
    }),
  ]);
  const owner = state?.tip?.trailers?.owner;
  const judged = judgedSessions({ repository, sessions }, settings, context.now);
  const ownerIsLive = judged.some(({ record, liveness }) => record.session === owner && liveness === 'live');
  const session = caller === undefined || isPerson(caller.id) ? undefined : caller.id;
  const ids = [caller?.id ?? personOf(author), ...(caller?.succeeded ?? [])];
  return {
    ...target,
    ...{ refs, owner, ownerText: commitOwner(state?.tip), ownerIsLive, session, remotes },
    isAllowed: owner === undefined || ids.includes(owner) || (session === undefined && !ownerIsLive),
    remotePrefix: checkRemotePrefix(settings.remotePrefix),
  };
}

/** Returns the commit that people see: the public ref's, or else the kept ref's. */
function shownTip(refs: readonly DeletedRef[]): Oid | undefined {
  return (refs.find(({ kind }) => kind === 'handoff') ?? refs.find(({ kind }) => kind === 'kept'))?.oid;
}

function requireExpected({ name, refs }: Deletion, expect: string | undefined): void {
  const expected = parseExpectation(expect);
  const tip = shownTip(refs);
  if (expected === undefined || (expected ?? undefined) === tip) return;
  const now = tip === undefined || isZeroOid(tip) ? 'it no longer exists' : `it is at ${tip}`;
  throw new Failure('lost-race', `${name} is not at the expected commit: ${now}`, {
    hint: `git handoff delete ${name}`,
  });
}

function requirePermission(
  { commonDir }: Repository,
  { name, ownerText = '', ownerIsLive, isAllowed, session }: Deletion,
  take: boolean,
  context: Context,
): void {
  if (isAllowed || (take && session === undefined)) return;
  const whose = `${name} belongs to ${ownerText}${ownerIsLive ? ', which is at work' : ''}`;
  if (session === undefined)
    throw new Failure('not-owner', whose, { hint: `git handoff delete ${name} --yes --take` });
  if (isAllowedOnce(commonDir, session, context.now)) return;
  throw new Failure('not-owner', `${whose}; a session deletes only its own notes: ask the user`, {
    hint: `git handoff show ${name}`,
  });
}

function describe(deletion: Deletion, deleted: boolean): DeletedNoteValue {
  const { path, branch, name, refs, owner, ownerText, isAllowed, session } = deletion;
  const take = isAllowed || session !== undefined ? '' : ' --take';
  return {
    ...{ branch, topic: path.topic, ref: handoffRef(path) },
    ...{ owner: owner ?? null, ownerText: ownerText ?? null },
    items: refs.map(({ name, oid, kind, remote }) => ({ ref: name, oid, kind, remote })),
    remotes: onRemotes(deletion),
    deleted,
    command: `git handoff delete ${name} --yes --expect ${shownTip(refs) ?? 'none'}${take}`,
  };
}

/** Returns the commands that delete the note, and work sent with it, from each remote that had them when last asked. */
function onRemotes({ path, refs, remotes, remotePrefix }: Deletion): DeletedNoteValue['remotes'] {
  const names = [...new Set(refs.flatMap(({ remote }) => remote ?? []))];
  return names
    .filter((name) => remotes.has(name))
    .map((remote) => {
      const there = refs.filter((ref) => ref.remote === remote);
      const copies = there.map(({ name, oid }) => ({
        ref: name.startsWith(SENT) ? remoteWorkRef(remotePrefix, path, oid) : refBelow(remotePrefix, path),
        oid,
      }));
      return { remote, command: deletionOnRemote(remote, copies) };
    });
}

/** @throws Failure `lost-race` when a ref differs from what was shown, `environment` when it is locked */
async function removeHere(repository: Repository, { path, name, refs, remotes }: Deletion): Promise<void> {
  // If there are remotes, remember the tip: a remote may still show the note, or somebody may push it again.
  const known = refs.find(({ kind }) => kind === 'tracking')?.oid ?? shownTip(refs);
  const tip = remotes.size === 0 ? undefined : known;
  const result = await deleteAllRefs(repository, { path, refs, tip });
  if (result.kind === 'locked') {
    const message = `a lock is in the way, nothing was removed: ${result.detail}`;
    throw new Failure('environment', message, { hint: 'git handoff doctor' });
  }
  if (result.kind !== 'done')
    throw new Failure('lost-race', `${name} moved meanwhile`, { hint: `git handoff delete ${name}` });
}

interface DeleteClosedOptions {
  /** The minimum time since the last change. Milliseconds. */
  readonly olderThanMs: number;
  /** The age as it was typed, for the printed command. */
  readonly age: string | undefined;
  readonly yes: boolean;
  readonly session: string | undefined;
}

interface DeletedClosedValue {
  readonly items: readonly (HandoffShape & { readonly deleted: boolean })[];
  /** The minimum age as it was typed; `null` for any age. */
  readonly olderThan: string | null;
}

/** Deletes closed handoffs that are old enough: a session can delete its own, a person all. Open handoffs always stay. */
export async function deleteClosed(
  options: DeleteClosedOptions,
  context: Context,
): Promise<CommandResult<DeletedClosedValue>> {
  const { repository, sessions, notices } = await openWorkspace(context);
  const reader = findSession(context, sessions, options.session)?.id;
  const old = (await readTopics(repository)).filter(
    (state) =>
      isOver(state, context.now - options.olderThanMs) &&
      (reader === undefined || isPerson(reader) || state.tip?.trailers?.owner === reader),
  );
  const gone = new Set(options.yes ? await deleteTopics(repository, old) : []);
  const items = old.sort(byAge).flatMap((state) => {
    if (state.tip === undefined) return [];
    const shape = handoffShape(state, state.tip, reader);
    return [{ ...shape, deleted: gone.has(state) }];
  });
  const moved = options.yes ? items.length - gone.size : 0;
  const stayed = moved === 0 ? [] : [`${moved} changed meanwhile and stayed: git handoff list --all`];
  return { value: { items, olderThan: options.age ?? null }, notices: [...notices, ...stayed] };
}

/** Whether a handoff is closed, was not moved by hand, and is older than `before` (milliseconds since the epoch). */
function isOver({ tip, illegal }: TopicState, before: number): boolean {
  return illegal === undefined && tip?.trailers?.state === 'closed' && tip.seconds * 1000 < before;
}

/** Lists what was deleted, or would be, and warns that a deletion is final and does not reach every copy. */
export function renderDeletedNote({
  items,
  remotes,
  deleted,
  ownerText: owner,
  command,
}: DeletedNoteValue): Rendered {
  const rows = items.map(({ ref, oid, kind }) => [
    deleted ? 'removed' : 'to remove',
    kind,
    oid,
    escapeLine(ref),
  ]);
  const before = [
    ...(owner === null ? [] : [`It belongs to ${owner}.`]),
    `Nothing was removed. A deletion cannot be undone. To delete: ${escapeLine(command)}`,
  ];
  const lines = [
    ...(deleted ? [] : before),
    'Its text stays in this repository until git collects what nothing refers to: git gc --prune=now',
    'git does not collect a text that is also in another note, a commit or a reflog.',
    ...remotes.map(
      (one) =>
        `${escapeLine(one.remote)} had it when last asked. To remove it there: ${escapeLine(one.command)}`,
    ),
    ...(remotes.length === 0
      ? []
      : ['If the server refuses that, its administrator can type there: git update-ref -d <ref>']),
    'A deletion does not reach clones and forks that fetched the note (each can push it again: delete it there, too),',
    "a server's logs, backups and packs, and files with a copy of it. Replace any secret that was in it.",
  ];
  return `${columns(rows)}\n${lines.join('\n')}\n`;
}

/** Lists what was deleted, or would be, each with the object name that restores it until git collects it. */
export function renderDeletedClosed(
  { items, olderThan }: DeletedClosedValue,
  { now }: TextContext,
): Rendered {
  const [older, age] =
    olderThan === null
      ? ['', '']
      : [` and that is older than ${escapeLine(olderThan)}`, ` --older-than ${escapeLine(olderThan)}`];
  if (items.length === 0) return `there is no closed handoff that you may delete${older}\n`;
  const rows = items.map((item) => [
    item.deleted ? 'deleted' : 'closed',
    escapeLine(`${item.branch}/${item.topic}`),
    ownerText(item),
    ago(Date.parse(item.createdAt), now),
    item.oid,
  ]);
  const gone = items.find((item) => item.deleted);
  const next =
    gone === undefined
      ? `Nothing was deleted. To delete them: git handoff delete --closed${age} --yes`
      : `Until git collects them, each can be restored, for example: git update-ref ${escapeLine(gone.ref)} ${gone.oid}`;
  return `${columns(rows)}\n${next}\n`;
}
