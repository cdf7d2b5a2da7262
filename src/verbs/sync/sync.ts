import { escapeLine, Failure, shellWord } from '../../domain/messages.ts';
import type { Oid } from '../../domain/names.ts';
import type { Settings } from '../../domain/settings.ts';
import { shownAddress, checkRemotePrefix, deletionOnRemote } from '../../domain/sync.ts';
import {
  HANDOFFS,
  SENT,
  UNPACKED,
  WORK,
  decodeBranch,
  encodeRemote,
  handoffRef,
  parseWorkRef,
  remoteWorkRef,
} from '../../git/namespace.ts';
import { listRefNames, type RefValue } from '../../git/refs.ts';
import { isRemoteName, readRemotes, type Remote } from '../../git/config.ts';
import { deleteRemoteRef } from '../../git/transfer.ts';
import { openRepository, type Repository, workTreeTop } from '../../git/repository.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import { readTopics, type TopicState } from '../../notes/topic.ts';
import { settleUnpacked } from '../../notes/work/find-work.ts';
import { dropWork } from '../../notes/work/work-commit.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import type { CommandResult } from '../verb.ts';
import type { SyncShape, SyncAction } from '../shapes.ts';
import { openWorkspace } from '../workspace.ts';
import { syncRemote } from './one-remote.ts';
import { leavingWork, sendWork } from './send.ts';
import type { SyncOptions, SyncWorld } from './items.ts';
import { type Rendered, columns } from '../../ui/terminal.ts';

interface SyncValue {
  readonly dryRun: boolean;
  readonly items: readonly SyncShape[];
  readonly remotes: readonly SyncedRemote[];
}

interface SyncedRemote {
  readonly remote: string;
  readonly url: string;
  /** The number of handoffs that are the same here and there. */
  readonly same: number;
}

/**
 * Syncs handoffs with remotes: folds what moved there into the handoffs here, and pushes the handoffs here, never by
 * force. If one of several remotes fails, still syncs the others, and reports the failure in the result.
 *
 * @throws Failure `remote` when the only remote cannot be asked, `usage` for a remote that is not configured
 */
export async function sync(options: SyncOptions, context: Context): Promise<CommandResult<SyncValue>> {
  const repository = await openRepository(context.cwd);
  const [{ sessions, notices }, { remotes, settings }, states, kept, leaving] = await Promise.all([
    openWorkspace(context, repository),
    chooseRemotes(repository, options.remotes),
    readTopics(repository),
    listRefNames(repository, [WORK, SENT, UNPACKED]),
    options.withWork.length === 0 ? [] : leavingWork({ repository, options }, options.withWork),
  ]);
  const prefix = checkRemotePrefix(settings.remotePrefix);
  const illegal = await reportIllegalMoves(repository, states, context.now);
  const me = findSession(context, sessions, options.session)?.id;
  const world = { repository, context, options, settings, prefix, me };
  const items: SyncShape[] = [];
  const summaries: SyncedRemote[] = [];
  const failures: Failure[] = [];
  for (const [at, remote] of remotes.entries()) {
    try {
      await sendWork(world, remote, leaving);
      const done = await syncRemote(world, remote, at === 0 ? states : undefined);
      items.push(...done.items);
      summaries.push({ remote: remote.name, url: shownAddress(remote.url), same: done.same });
      if (options.push && !options.dryRun && kept.length > 0) await retireWork(world, remote, kept, states);
    } catch (error) {
      if (!(error instanceof Failure) || remotes.length === 1) throw error;
      failures.push(error);
    }
  }
  const stayed = kept.length === 0 ? [] : stayedNotices(items, states, kept, leaving);
  const named = await withWholeNames(repository, items);
  const failure = allOf(failures) ?? syncFailure(named, summaries, settings.remotePrefix);
  return {
    value: { dryRun: options.dryRun, items: named, remotes: summaries },
    notices: [...notices, ...illegal, ...stayed],
    ...(failure === undefined ? {} : { failure }),
  };
}

/** Names each branch in full. If a name is too long for a ref's name, only the handoff's commit has the whole name. */
async function withWholeNames(
  repository: Repository,
  items: readonly SyncShape[],
): Promise<readonly SyncShape[]> {
  if (items.every(({ branch }) => branch === null || decodeBranch(branch) !== undefined)) return items;
  const topics = await readTopics(repository);
  const names = new Map<string, string>(topics.map(({ path, branch }) => [path.component, branch]));
  return items.map((item) => ({ ...item, branch: names.get(item.branch ?? '') ?? item.branch }));
}

/** Joins the failures of several remotes into one, with the next command of the first. */
function allOf(failures: readonly Failure[]): Failure | undefined {
  const [first, ...more] = failures;
  if (first === undefined || more.length === 0) return first;
  const { code, hint } = first;
  const message = failures.map((one) => one.message).join('; ');
  return new Failure(code, message, hint === undefined ? {} : { hint });
}

/**
 * Returns the named remotes, or the one that `git fetch` would ask, with the settings.
 *
 * @throws Failure `usage` for a name that is no configured remote
 */
async function chooseRemotes(
  repository: Repository,
  names: readonly string[],
): Promise<{ readonly remotes: readonly [Remote, ...Remote[]]; readonly settings: Settings }> {
  const { all, usual, settings } = await readRemotes(repository.cwd, repository.branch);
  const wanted = names.length > 0 ? [...new Set(names)] : usual === undefined ? [] : [usual];
  const [first, ...others] = wanted.map((name) => {
    const remote = all.find((one) => one.name === name);
    if (remote !== undefined && isRemoteName(name)) return remote;
    const shown = shownAddress(name);
    const message = `there is no remote ${escapeLine(JSON.stringify(shown))}`;
    const isAddress = /[/:]/.test(name) && !name.startsWith('-');
    const add = `git remote add handoffs ${shown === name ? shellWord(name) : '<that address>'}`;
    const hint = isAddress ? add : all.length === 0 ? ADD_REMOTE : 'git remote -v';
    throw new Failure('usage', message, { hint });
  });
  if (first !== undefined) return { remotes: [first, ...others], settings };
  const [some] = all;
  if (some === undefined) throw new Failure('usage', 'there is no remote to sync with', { hint: ADD_REMOTE });
  const known = all.map(({ name }) => escapeLine(name)).join(', ');
  throw new Failure('usage', `which remote? There are ${known}`, {
    hint: `git handoff sync ${shellWord(some.name)}`,
  });
}

const ADD_REMOTE = 'git remote add origin <url>';

/** A file in the git dir, so that it overwrites nothing in the working tree. */
const KEPT_FILE = '$(git rev-parse --git-path handoff-note.md)';
const FALLBACK = 'refs/heads/handoffs/';

/** Returns one failure, with the next command, for what a sync could not do; the items name the handoffs. */
function syncFailure(
  items: readonly SyncShape[],
  remotes: readonly SyncedRemote[],
  prefix: string,
): Failure | undefined {
  const of = (action: SyncShape['action']) => items.filter((item) => item.action === action);
  const [declined, refused] = [of('declined'), of('refused')];
  const [secret] = of('secret');
  if (secret !== undefined) return secretFailure(secret, of('secret').length, prefix);
  if (declined[0] !== undefined) {
    const { remote } = declined[0];
    // A server that already has our handoffs does not object to their namespace: another prefix would not help.
    const hasOthers =
      of('pushed').some((item) => item.remote === remote) ||
      remotes.some((one) => one.remote === remote && one.same > 0);
    return declinedFailure(declined[0], count(declined), hasOthers ? FALLBACK : prefix);
  }
  if (refused[0] !== undefined) {
    const { remote, branch, topic, why } = refused[0];
    return new Failure(
      'integrity',
      `${count(refused)} of ${escapeLine(remote)} made an illegal move (${why ?? ''}); yours are unchanged`,
      { hint: `git handoff log ${typedTopic(branch ?? '', topic ?? '')}` },
    );
  }
  const late = items.filter(({ action }) => action === 'moved' || action === 'behind');
  if (late[0] === undefined) return undefined;
  const remote = late[0].remote;
  return new Failure('lost-race', `${count(late)} moved on at ${escapeLine(remote)}; nothing is lost`, {
    hint: `git handoff sync ${shellWord(remote)}`,
  });
}

const count = (items: readonly SyncShape[]) =>
  items.length === 1 ? 'a handoff' : `${items.length} handoffs`;

function secretFailure(
  { why, remote, branch, topic, ref, former }: SyncShape,
  secrets: number,
  prefix: string,
): Failure {
  const more = secrets === 1 ? '' : `; ${secrets - 1} more stay for the same reason`;
  const name = typedTopic(branch ?? '', topic ?? '');
  const there = prefix + ref.slice(HANDOFFS.length);
  // Saves the note's text, deletes all its versions, and writes the note again from the text.
  const rewritten = [
    `git handoff show ${name} --raw >"${KEPT_FILE}"`,
    ...(former === null ? [] : [deletionOnRemote(remote, [{ ref: there, oid: former }])]),
    `git handoff delete ${name} --yes`,
    `git handoff write ${name} --file "${KEPT_FILE}"`,
  ].join(' && ');
  return new Failure('secret', `a handoff was not pushed: ${why ?? ''}${more}`, {
    hint: `git handoff sync --push ${shellWord(remote)} --allow-secret, if it is not a secret; if it is: ${rewritten}`,
  });
}

/** Takes the server's own hint if it gave one. A server may refuse the refs of handoffs, but accept branches instead. */
function declinedFailure({ remote, why }: SyncShape, what: string, prefix: string): Failure {
  const message = `${escapeLine(remote)} declined ${what}: ${escapeLine(why ?? '')}`;
  const advice = /hint: (git handoff [^;]*)/.exec(why ?? '')?.[1];
  // A server that cannot write would refuse branches, too.
  const isBroken = /unpacker error|unable to (?:write|migrate)|No space left|Read-only file system/.test(
    why ?? '',
  );
  const elsewhere = isBroken
    ? `git handoff sync --push ${shellWord(remote)}, once the server can write again`
    : prefix === FALLBACK
      ? `git ls-remote ${shellWord(remote)}`
      : `git config handoff.remotePrefix ${FALLBACK} && git handoff sync --push ${shellWord(remote)}`;
  return new Failure('remote', message, { hint: advice ?? elsewhere });
}

/** Deletes remote work whose note is closed or gone, or which was unpacked and committed here. The next push retries failures. */
async function retireWork(
  { repository, context, prefix }: SyncWorld,
  remote: Remote,
  refs: readonly RefValue[],
  states: readonly TopicState[],
): Promise<void> {
  // A note that cannot be read counts as open, because it may be.
  const open = new Set(
    states.filter(({ tip }) => tip?.trailers?.state !== 'closed').map(({ path }) => handoffRef(path)),
  );
  const below = `${SENT}${encodeRemote(remote.name)}/`;
  const sent = refs.flatMap((record) => {
    const path = parseWorkRef(record.name, below);
    return path === undefined || open.has(handoffRef(path)) ? [] : [{ ...path, record }];
  });
  const isUnpacked = refs.some(({ name }) => name.startsWith(UNPACKED));
  const top = isUnpacked ? await workTreeTop(repository) : undefined;
  const settled = top === undefined ? [] : await settleUnpacked(repository, top, context.now);
  for (const { component, topic, oid, record } of [...sent, ...settled]) {
    const ref = remoteWorkRef(prefix, { component, topic }, oid);
    if (await deleteRemoteRef(repository.cwd, remote.name, ref, oid)) await dropWork(repository, [record]);
  }
}

/** Returns a notice for each note that was just pushed without its work. */
function stayedNotices(
  items: readonly SyncShape[],
  states: readonly TopicState[],
  refs: readonly RefValue[],
  leaving: readonly { readonly oid: Oid }[],
): string[] {
  const pushed = new Set(items.filter(({ action }) => action === 'pushed').map(({ ref }) => ref));
  const kept = new Set(refs.filter(({ name }) => name.startsWith(WORK)).map(({ oid }) => oid));
  const sent = new Set(
    [...refs.filter(({ name }) => name.startsWith(SENT)), ...leaving].map(({ oid }) => oid),
  );
  return states.flatMap(({ path, branch, topic, tip }) => {
    const work = tip?.trailers?.work;
    if (work === undefined || !kept.has(work) || sent.has(work) || !pushed.has(handoffRef(path))) return [];
    const name = typedTopic(branch, topic);
    return [
      `the work of ${name} stays on this machine; to send it: git handoff sync --push --with-work ${name}`,
    ];
  });
}

/** Prints a line for each handoff that moved or could not move, and one for each remote. */
export function renderSync({ items, remotes, dryRun }: SyncValue): Rendered {
  return remotes
    .map(({ remote, url, same }) => {
      const own = items.filter((item) => item.remote === remote);
      const rows = own.map((item) => [item.action, place(item), remark(item)]);
      return `${columns(rows)}${escapeLine(remote)} (${escapeLine(url)}): ${sum(own, same, dryRun)}\n`;
    })
    .join('');
}

const place = ({ branch, topic, ref }: SyncShape) =>
  escapeLine(branch === null || topic === null ? ref : `${branch}/${topic}`);

const typed = ({ branch, topic }: SyncShape) => escapeLine(shellWord(`${branch}/${topic}`));

/** Says what an action means for the reader, with the next command if there is one. */
function remark(item: SyncShape): string {
  const why = item.why === null ? '' : escapeLine(item.why);
  const remote = escapeLine(shellWord(item.remote));
  switch (item.action) {
    case 'set-aside':
      return `both sides wrote; the note belongs to ${item.newOwnerText ?? 'the other side'} now; yours is kept, print it with: git handoff show ${typed(item)} --lost=${item.lost ?? 1}`;
    case 'followed':
      return `${item.newOwnerText ?? 'somebody'} was first, ${item.ownerText ?? 'its owner'} no longer owns it: git handoff show ${typed(item)}`;
    case 'deleted-there':
      return `yours stays; to put it back there: git handoff sync --push --restore ${remote}; to remove yours, too: git handoff delete ${typed(item)}`;
    case 'behind':
      return `the remote has moved on: git handoff sync ${remote}`;
    case 'moved':
      return `others pushed first each time: git handoff sync ${remote}`;
    default:
      return why;
  }
}

const FETCHED: readonly SyncAction[] = ['created', 'forwarded', 'followed', 'set-aside'];

function sum(items: readonly SyncShape[], same: number, dryRun: boolean): string {
  const count = (...actions: readonly SyncAction[]) =>
    items.filter(({ action }) => actions.includes(action)).length;
  const parts = dryRun
    ? [`${count('to-fetch')} to fetch`, `${count('to-push')} to push`]
    : [`${count(...FETCHED)} fetched`, `${count('pushed')} pushed`];
  return [...parts, `${same} unchanged`].join(', ');
}
