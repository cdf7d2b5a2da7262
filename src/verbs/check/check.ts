import type { RelatedSessions } from '../../domain/commit-message.ts';
import { type Oid, shortId, peerNames } from '../../domain/names.ts';
import { counted, escapeLine, shellWord } from '../../domain/messages.ts';
import { checkRemotePrefix } from '../../domain/sync.ts';
import { readSettings } from '../../git/config.ts';
import {
  type CommitRange,
  type MixedCommit,
  findMixedCommits,
  handedOnSessions,
  receivedRange,
  type PushedRef,
  tipsOf,
} from '../../git/push-range.ts';
import { commitNamed } from '../../git/commits.ts';
import { HANDOFFS, handoffRef } from '../../git/namespace.ts';
import type { GitOptions } from '../../git/run.ts';
import { judgePush } from '../../notes/judge-push.ts';
import { reasonText } from '../../notes/report-illegal.ts';
import { type TopicState, readTopics, relatedSessions } from '../../notes/topic.ts';
import type { Context } from '../../sessions/caller.ts';
import { clientsOf } from '../../sessions/records.ts';
import type { CommandResult } from '../verb.ts';
import type { IllegalMoveShape, MixedCommitShape } from '../shapes.ts';
import { openWorkspace } from '../workspace.ts';
import { type Rendered, type TextContext, columns } from '../../ui/terminal.ts';

interface CheckValue {
  /** The range that was checked, as it is typed for git-log(1). */
  readonly range: string;
  /** How many commits (except merges) and how many handoffs were checked. */
  readonly commits: number;
  readonly handoffs: number;
  readonly items: readonly (MixedCommitShape | IllegalMoveShape)[];
  readonly hints: readonly string[];
}

/** How many commits are checked when no upstream tells which are new. */
const MAX_COMMITS = 100;
const UPSTREAM = '@{upstream}';

/**
 * Finds commits that mix sessions, and handoffs that were moved by hand. Exit status 1: it found some.
 *
 * @param range as git-log(1) takes it; `undefined` for what is not pushed yet
 */
export async function checkCommits(
  range: string | undefined,
  context: Context,
): Promise<CommandResult<CheckValue>> {
  const options = { cwd: context.cwd };
  const [{ sessions, notices }, states, chosen] = await Promise.all([
    openWorkspace(context),
    readTopics(options),
    chooseRange(options.cwd, range),
  ]);
  const related = relatedSessions(sessions, states);
  const { looked, mixed } = await mixedIn(options, chosen, { related, prefixes: [HANDOFFS], tips: [] });
  const illegal = states.flatMap(illegalShape);
  const items = [...mixed.map(mixedShape), ...illegal];
  const hints = [...splitHints(mixed), ...(illegal.length > 0 ? ['git handoff doctor --fix'] : [])];
  const value = {
    range: chosen === undefined ? 'HEAD' : [...chosen.options, chosen.revision ?? ''].join(' ').trim(),
    commits: looked,
    handoffs: states.length,
    items,
    hints,
  };
  return { value, notices, clients: clientsOf(sessions), exitCode: items.length === 0 ? 0 : 1 };
}

/** Which sessions we know to be related, and which handoffs may name more of them. */
interface KnownRelations {
  readonly related: readonly RelatedSessions[];
  readonly prefixes: readonly string[];
  /** Pushed handoffs to which no ref points yet. */
  readonly tips: readonly Oid[];
}

/** Finds mixed commits. If there are any, also reads related sessions from the handoffs, which are the only record in CI. */
async function mixedIn(
  options: GitOptions,
  range: CommitRange | undefined,
  { related, prefixes, tips }: KnownRelations,
): Promise<{ readonly looked: number; readonly mixed: readonly MixedCommit[] }> {
  if (range === undefined) return { looked: 0, mixed: [] };
  const found = await findMixedCommits(options, range, related);
  if (found.mixed.length === 0) return found;
  const handedOn = await handedOnSessions(options, prefixes, tips);
  return handedOn.length === 0 ? found : findMixedCommits(options, range, [...related, ...handedOn]);
}

/** Returns the range to check; `undefined` when there is no commit yet. */
async function chooseRange(cwd: string, range: string | undefined): Promise<CommitRange | undefined> {
  if (range !== undefined) return { options: [], revision: range };
  const [head, upstream] = await Promise.all([commitNamed(cwd, 'HEAD'), commitNamed(cwd, UPSTREAM)]);
  if (head === undefined) return undefined;
  if (upstream !== undefined) return { options: [], revision: `${UPSTREAM}..HEAD` };
  return { options: [`--max-count=${MAX_COMMITS}`, 'HEAD', '--not', '--remotes'] };
}

function mixedShape({ oid, summary, sessions, paths }: MixedCommit): MixedCommitShape {
  return { kind: 'mixed', oid, summary, sessions, paths };
}

function illegalShape({ path, branch, topic, illegal }: TopicState): IllegalMoveShape[] {
  if (illegal === undefined) return [];
  const { reason, bad = null } = illegal;
  return [{ kind: 'illegal', ref: handoffRef(path), branch, topic, reason: reasonText(reason), oid: bad }];
}

/** Returns hints for splitting mixed commits. A rebase has to begin at the oldest mixed commit. */
function splitHints(mixed: readonly MixedCommit[]): string[] {
  const oldest = mixed.at(-1);
  if (oldest === undefined) return [];
  const from = oldest.parents.length === 0 ? '--root' : `${oldest.oid.slice(0, 12)}^`;
  return [
    `git rebase -i ${from}  (mark the commit "edit"; there: git reset HEAD^, and one git commit for each session)`,
    'if the work was taken over on purpose, say so in the message: Handoff-Accepted-From: <session id>',
  ];
}

/**
 * Judges a push to this repository, for pre-receive and update hooks: handoffs may only make legal moves, no machine may push
 * its bookkeeping, and no new commit may mix the work of sessions. Needs no `init`, no identity and no home, and only reads.
 * Exit status 1: the hook must refuse the push.
 *
 * @throws Failure when something cannot be read: the hook must then refuse the push, too
 */
export async function checkPushed(
  refs: readonly PushedRef[],
  { cwd }: Context,
): Promise<CommandResult<CheckValue>> {
  const { remotePrefix, maxWork } = await readSettings(cwd);
  const prefixes = [...new Set([HANDOFFS, checkRemotePrefix(remotePrefix)])];
  const { refused, handoffs, others } = await judgePush(refs, { cwd, prefixes, maxWork, at: 'server' });
  // Handoffs are not searched for mixed commits: each of their commits names one session.
  const tips = tipsOf(others);
  const range = tips.length === 0 ? undefined : receivedRange(tips, prefixes);
  const notes = tipsOf(refs.filter((ref) => !others.includes(ref)));
  const { looked, mixed } = await mixedIn({ cwd }, range, { related: [], prefixes, tips: notes });
  const hints = new Set([...refused.map(({ hint }) => hint), ...pushedHints(mixed, others)]);
  const illegal = refused.map(({ ref, path, why }): IllegalMoveShape => {
    const { branch = null, topic = null } = path ?? {};
    return { kind: 'illegal', ref: ref.remoteRef, branch, topic, reason: why, oid: ref.local ?? null };
  });
  const items = [...illegal, ...mixed.map(mixedShape)];
  const value = {
    range: '--not --all',
    commits: looked,
    handoffs,
    items,
    hints: [...hints].slice(0, MAX_HINTS),
  };
  return { value, exitCode: items.length === 0 ? 0 : 1 };
}

const MAX_HINTS = 5;

function pushedHints(mixed: readonly MixedCommit[], refs: readonly PushedRef[]): string[] {
  const [only, ...more] = mixed;
  if (only === undefined || more.length > 0 || !refs.some(({ local }) => local === only.oid))
    return splitHints(mixed);
  const accepted = only.sessions
    .slice(1)
    .map((id) => ` --trailer ${shellWord(`Handoff-Accepted-From: ${id}`)}`);
  return [`git commit --amend --no-edit${accepted.join('')}`, ...splitHints(mixed).slice(0, 1)];
}

/** Lists what is wrong, one line each, and what to do; or says that nothing is wrong. */
export function renderCheck(
  { commits, handoffs, items, hints }: CheckValue,
  { clients }: TextContext,
): Rendered {
  const looked = `looked at ${counted(commits, 'commit')} and ${counted(handoffs, 'handoff')}`;
  if (items.length === 0) return `${looked}: no commit mixes sessions, no handoff was moved by hand\n`;
  const rows = items.map((item) =>
    item.kind === 'mixed'
      ? [
          'mixed',
          item.oid.slice(0, 7),
          peerNames(item.sessions, { clients }),
          counted(item.paths, 'path'),
          escapeLine(item.summary),
        ]
      : ['illegal', item.oid?.slice(0, 7) ?? '-', escapeLine(moveTopic(item)), '', item.reason],
  );
  return columns(rows) + hints.map((hint) => `hint: ${escapeLine(hint)}\n`).join('');
}

const moveTopic = ({ ref, branch, topic }: IllegalMoveShape) =>
  branch === null || topic === null ? ref : `${branch}/${topic}`;

/** The most reasons that a refusal lists: they cross a network, and a person reads them. */
const MAX_NAMED = 20;
const MAX_IDS = 5;

/** Tells why a push is refused; nothing if it is not. git puts `remote:` before each line. */
export function renderPushed({ items, hints }: CheckValue): Rendered {
  const lines = items
    .slice(0, MAX_NAMED)
    .map((item) => `error: ${item.kind === 'mixed' ? mixedText(item) : illegalText(item)}`);
  const more = items.length - lines.length;
  if (more > 0) lines.push(`error: and ${more} more`);
  return [...lines, ...hints.map((hint) => `hint: ${escapeLine(hint)}`)].map((line) => `${line}\n`).join('');
}

const illegalText = ({ ref, reason }: IllegalMoveShape) => `${escapeLine(ref)}: ${reason}`;

function mixedText({ oid, summary, sessions }: MixedCommitShape): string {
  const ids = sessions.slice(0, MAX_IDS).map((id) => escapeLine(shortId(id)));
  const more = sessions.length > ids.length ? ` and ${sessions.length - ids.length} more` : '';
  return `${oid.slice(0, 7)} "${escapeLine(summary).slice(0, 60)}" mixes the work of sessions ${ids.join(', ')}${more}`;
}
