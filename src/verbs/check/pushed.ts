import type { BranchName, Oid } from '../../domain/names.ts';
import { shellWord } from '../../domain/surfacing.ts';
import { checkRemotePrefix } from '../../domain/sync/address.ts';
import type { IllegalReason } from '../../domain/transition.ts';
import { readSettings } from '../../git/config.ts';
import {
  type MixedCommit,
  findMixedCommits,
  handedOnSessions,
  receivedRange,
} from '../../git/mixed-commits.ts';
import {
  HANDOFFS,
  type HandoffPath,
  decodeBranch,
  isBookkeeping,
  looksLikeOurs,
  parsePath,
  parseWorkRef,
  remoteWorkPrefix,
} from '../../git/namespace.ts';
import type { PushedRef } from '../../git/push-range.ts';
import { listSymbolicRefs } from '../../git/refs.ts';
import type { GitOptions } from '../../git/run.ts';
import { type HandoffMove, judgeMoves } from '../../notes/moves.ts';
import { reasonText } from '../../notes/report-illegal.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import { type PushedWork, isCarried, judgeWork, workIn } from '../../notes/work/pushed-work.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CommandResult } from '../result.ts';
import type { IllegalMoveShape } from '../shapes.ts';
import { type CheckValue, mixedShape, splitHints } from './check.ts';

/** Reasons that only a ref by itself can give. */
type RefReason = IllegalReason | 'badly named' | 'misspelt' | 'symbolic' | 'bookkeeping' | 'bad work';

/** A ref that is a handoff's, or would be if it were named like one. */
interface PushedHandoff {
  readonly ref: PushedRef;
  readonly prefix: string;
}

/**
 * Judges what a push would do to this repository, for pre-receive and update hooks: handoffs may only move legally, the
 * bookkeeping of a machine stays there, and no new commit holds the work of several sessions. Needs no `init`, no
 * identity and no home; reads only. Exit 1: the push is to be refused.
 *
 * @throws Failure when something could not be read: the hook refuses then, too
 */
export async function checkPushed(
  refs: readonly PushedRef[],
  { cwd }: Context,
): Promise<CommandResult<CheckValue>> {
  const { remotePrefix, maxWork } = await readSettings(cwd);
  const prefixes = [...new Set([HANDOFFS, checkRemotePrefix(remotePrefix)])];
  const handoffs = refs.flatMap((ref): PushedHandoff[] => {
    const prefix = prefixes.find((each) => `${ref.remoteRef}/`.startsWith(each));
    return prefix === undefined ? [] : [{ ref, prefix }];
  });
  const work = workIn(refs, prefixes);
  const names = new Set([...handoffs, ...work].map(({ ref }) => ref));
  const others = refs.filter((ref) => !names.has(ref));
  const [judged, judgedWork, { looked, mixed }] = await Promise.all([
    judgeHandoffs({ cwd }, prefixes, handoffs),
    judgeAllWork({ cwd }, work, maxWork),
    mixedCommits({ cwd }, prefixes, refs, others),
  ]);
  const leaked = others.filter(({ local, remoteRef }) => local !== undefined && isBookkeeping(remoteRef));
  const ours = [...prefixes, ...prefixes.map(remoteWorkPrefix)];
  const alike = others.filter(({ remoteRef }) => looksLikeOurs(remoteRef, ours));
  const illegal = [
    ...judged,
    ...judgedWork,
    ...alike.map((ref) => ({ ref, path: undefined, reason: 'misspelt' as const })),
    ...leaked.map((ref) => ({ ref, path: undefined, reason: 'bookkeeping' as const })),
  ];
  const hints = new Set([...illegal.map(nextCommand), ...mixedHints(mixed, others)]);
  const items = [...illegal.map(illegalShape), ...mixed.map(mixedShape)];
  const value = {
    range: '--not --all',
    commits: looked,
    handoffs: handoffs.length,
    items,
    hints: [...hints].slice(0, MAX_HINTS),
  };
  return { value, exitCode: items.length === 0 ? 0 : 1 };
}

const MAX_HINTS = 5;

interface Refused {
  readonly ref: PushedRef;
  readonly path: { readonly branch: BranchName; readonly topic: string } | undefined;
  readonly reason: RefReason;
  /** For work, in words. */
  readonly told?: string;
}

/** One at a time: each may be large. */
async function judgeAllWork(
  options: GitOptions,
  work: readonly PushedWork[],
  maxBytes: number,
): Promise<Refused[]> {
  const refused: Refused[] = [];
  for (const one of work) {
    const { ref, prefix } = one;
    const told = await judgeWork(options, one, maxBytes);
    if (told === undefined) continue;
    const path = parseWorkRef(ref.remoteRef, remoteWorkPrefix(prefix));
    if (told !== 'deleted') refused.push({ ref, path: placeOf(path), reason: 'bad work', told });
    // A closed note no longer protects its work.
    else if (await isCarried(options, one))
      refused.push({ ref, path: placeOf(path), reason: told, told: IN_USE });
  }
  return refused;
}

const IN_USE = 'deleted, while the note that carries it is open';

/** The topic as it is typed; `undefined`: there is no such branch. */
function placeOf(path: HandoffPath | undefined): Refused['path'] {
  const branch = path === undefined ? undefined : decodeBranch(path.component);
  return path === undefined || branch === undefined ? undefined : { branch, topic: path.topic };
}

async function judgeHandoffs(
  options: GitOptions,
  prefixes: readonly string[],
  handoffs: readonly PushedHandoff[],
): Promise<Refused[]> {
  if (handoffs.length === 0) return [];
  const symbolic = await listSymbolicRefs(options, prefixes);
  const moves = handoffs.map((handoff) => moveOf(handoff, symbolic));
  const reasons = await judgeMoves(
    options,
    moves.filter((move) => typeof move === 'object'),
  );
  const verdicts = reasons.values();
  return handoffs.flatMap(({ ref, prefix }, at): Refused[] => {
    const move = moves[at];
    const reason = typeof move === 'object' ? verdicts.next().value : move;
    if (reason === undefined) return [];
    return [{ ref, path: placeOf(parsePath(ref.remoteRef, prefix)), reason }];
  });
}

/** What is to be judged by commits, or why it need not be; `undefined`: a badly named ref may go. */
function moveOf(
  { ref, prefix }: PushedHandoff,
  symbolic: ReadonlySet<string>,
): HandoffMove | RefReason | undefined {
  const path = parsePath(ref.remoteRef, prefix);
  if (path === undefined) return ref.local === undefined ? undefined : 'badly named';
  if (ref.local === undefined) return ref.remote === undefined ? undefined : 'deleted';
  return symbolic.has(ref.remoteRef) ? 'symbolic' : { path, old: ref.remote, next: ref.local };
}

/** Only what is no handoff is looked through: handoffs hold one session each. */
async function mixedCommits(
  options: GitOptions,
  prefixes: readonly string[],
  all: readonly PushedRef[],
  others: readonly PushedRef[],
): Promise<{ looked: number; mixed: readonly MixedCommit[] }> {
  const tips = tipsOf(others);
  if (tips.length === 0) return { looked: 0, mixed: [] };
  const range = receivedRange(tips);
  const found = await findMixedCommits(options, range, []);
  if (found.mixed.length === 0) return found;
  // Only now it matters who has carried on whose conversation.
  const kin = await handedOnSessions(options, prefixes, tipsOf(all));
  return kin.length === 0 ? found : findMixedCommits(options, range, kin);
}

const tipsOf = (refs: readonly PushedRef[]): Oid[] => [...new Set(refs.flatMap(({ local }) => local ?? []))];

const TEXTS: Partial<Record<RefReason, string>> = {
  'badly named': 'not the name of a handoff, which is <branch>/<topic> with a topic of two words or more',
  misspelt: 'some servers treat that name as one of refs/handoffs*',
  symbolic: 'a symbolic ref is not a handoff',
  bookkeeping: 'the bookkeeping of one machine is never pushed',
  'unknown format version': 'written by a later git-handoff than this server has; update the server first',
};

function illegalShape({ ref, path, reason, told }: Refused): IllegalMoveShape {
  return {
    kind: 'illegal',
    ref: ref.remoteRef,
    branch: path?.branch ?? null,
    topic: path?.topic ?? null,
    reason: told ?? TEXTS[reason] ?? reasonText(reason as IllegalReason),
    oid: ref.local ?? null,
  };
}

/** What helps where the push came from. */
function nextCommand({ path, reason }: Refused): string {
  const topic = path === undefined ? undefined : shellWord(typedTopic(path.branch, path.topic));
  if (reason === 'deleted' && topic !== undefined) return `git handoff close ${topic}`;
  if (reason === 'foreign owner without a take' && topic !== undefined) return `git handoff take ${topic}`;
  if (reason === 'not a descendant' || reason === 'names another branch or topic') return 'git handoff sync';
  if (reason === 'bad work')
    return topic === undefined ? 'git handoff list' : `git handoff push --with-work ${topic}`;
  if (reason === 'bookkeeping' || reason === 'misspelt') return 'git push --all';
  if (reason === 'unknown format version') return 'git handoff --version';
  return 'git handoff doctor --fix';
}

function mixedHints(mixed: readonly MixedCommit[], refs: readonly PushedRef[]): string[] {
  const [only, ...more] = mixed;
  if (only === undefined || more.length > 0 || !refs.some(({ local }) => local === only.oid))
    return splitHints(mixed);
  const accepted = only.sessions
    .slice(1)
    .map((id) => ` --trailer ${shellWord(`Handoff-Accepted-From: ${id}`)}`);
  return [`git commit --amend --no-edit${accepted.join('')}`, ...splitHints(mixed).slice(0, 1)];
}
