import { type BranchName, type Oid, type RefName, parseOid } from '../domain/names.ts';
import { shellWord } from '../domain/messages.ts';
import type { IllegalReason } from '../domain/transition.ts';
import { listHistories } from '../git/histories.ts';
import {
  type HandoffPath,
  KEPT,
  decodeBranch,
  isBookkeeping,
  keptRef,
  looksLikeOurs,
  parsePath,
  parseWorkRef,
  remoteWorkPrefix,
} from '../git/namespace.ts';
import { lookUpObjects } from '../git/objects.ts';
import { type PushedRef, tipsOf } from '../git/push-range.ts';
import { listRefNames, listSymbolicRefs } from '../git/refs.ts';
import { type HandoffMove, judgeMoves } from './moves.ts';
import { reasonText } from './report-illegal.ts';
import { typedTopic } from './topic-argument.ts';
import { type PushedNote, isCarried, judgeWork } from './work/work-commit.ts';

interface RefusedRef {
  readonly ref: PushedRef;
  /** The note that the ref belongs to, if the ref's name shows it. */
  readonly path: { readonly branch: BranchName; readonly topic: string } | undefined;
  readonly why: string;
  /** A command to type in the clone that pushed. */
  readonly hint: string;
}

interface Judge {
  readonly cwd: string;
  /** The prefixes of the refs of handoffs, as the receiving repository names them. */
  readonly prefixes: readonly string[];
  /** Bytes of work that a note may carry. */
  readonly maxWork: number;
  /** `server`: the repository receives the push · `clone`: it sends the push. */
  readonly at: 'server' | 'clone';
}

/**
 * Judges the refs of a push, for the hooks of servers and for pre-push: handoffs may only move legally, work may only
 * be created, and the bookkeeping of a machine stays on it. Returns the refused refs, the number of pushed handoffs, and the refs
 * that are neither handoffs nor work.
 *
 * @throws Failure when something could not be read
 */
export async function judgePush(refs: readonly PushedRef[], judge: Judge) {
  const { prefixes } = judge;
  const below = (rootOf: (prefix: string) => string) =>
    refs.flatMap((ref): PushedNote[] => {
      const prefix = prefixes.find((each) => `${ref.remoteRef}/`.startsWith(rootOf(each)));
      return prefix === undefined ? [] : [{ ref, prefix }];
    });
  const handoffs = below((prefix) => prefix);
  const work = below(remoteWorkPrefix);
  const pushed = [...handoffs, ...work].map(({ ref }) => ref);
  const named = new Set(pushed);
  const others = refs.filter((ref) => !named.has(ref));
  const ours = [...prefixes, ...prefixes.map(remoteWorkPrefix)];
  const misspelt = others.filter(({ remoteRef }) => looksLikeOurs(remoteRef, ours));
  const bookkeeping = others.filter(
    ({ local, remoteRef }) => local !== undefined && isBookkeeping(remoteRef),
  );
  const [moved, carried, replacing, replaced] = await Promise.all([
    judgeHandoffs(handoffs, judge),
    judgeAllWork(work, judge),
    replacingHandoffs(others, pushed, judge),
    replacedBefore(pushed, judge),
  ]);
  const refused: RefusedRef[] = [
    ...moved,
    ...carried,
    ...replacing.map((ref) => refusedFor(ref, undefined, 'replacing')),
    ...(replaced === undefined
      ? []
      : pushed.map((ref) => ({
          ref,
          path: undefined,
          why: `git would show another object in its place: the server has ${replaced}`,
          hint: `git push origin --delete ${shellWord(replaced)}`,
        }))),
    ...misspelt.map((ref) => refusedFor(ref, undefined, 'misspelt')),
    ...bookkeeping.map((ref) => refusedFor(ref, undefined, 'bookkeeping')),
  ];
  return { refused, handoffs: handoffs.length, others };
}

type RefReason = IllegalReason | 'badly named' | 'misspelt' | 'symbolic' | 'bookkeeping' | 'replacing';

async function judgeHandoffs(handoffs: readonly PushedNote[], judge: Judge): Promise<RefusedRef[]> {
  if (handoffs.length === 0) return [];
  const options = { cwd: judge.cwd };
  const [symbolic, isAccepted] = await Promise.all([
    judge.at === 'server' ? listSymbolicRefs(options, judge.prefixes) : new Set<string>(),
    judge.at === 'clone' ? acceptedBefore(judge, handoffs.length) : () => false,
  ]);
  const moves = handoffs.map((handoff) => moveOf(handoff, symbolic));
  const open = moves.filter((move) => typeof move === 'object').filter((move) => !isAccepted(move));
  const judged = await judgeMoves(options, open);
  const reasons = new Map(open.map((move, at) => [move, judged[at]]));
  return handoffs.flatMap(({ ref, prefix }, at): RefusedRef[] => {
    const move = moves[at];
    const reason = typeof move === 'object' ? reasons.get(move) : move;
    // A clone does not judge a later version's commit.
    if (reason === undefined || (reason === 'unknown format version' && judge.at === 'clone')) return [];
    return [refusedFor(ref, parsePath(ref.remoteRef, prefix), reason)];
  });
}

/** The move to judge by its commits, or why the ref is refused without a look at them; `undefined`: the ref may be deleted. */
function moveOf(
  { ref, prefix }: PushedNote,
  symbolic: ReadonlySet<string>,
): HandoffMove | RefReason | undefined {
  const path = parsePath(ref.remoteRef, prefix);
  if (path === undefined) return ref.local === undefined ? undefined : 'badly named';
  if (ref.local === undefined) return ref.remote === undefined ? undefined : 'deleted';
  return symbolic.has(ref.remoteRef) ? 'symbolic' : { path, old: ref.remote, next: ref.local };
}

/** With this many handoffs or more, it is cheaper to look up which of them were accepted here before. */
const MANY = 100;

/** Returns a test for new handoffs that equal `kept`: their histories were judged when they were written or accepted. */
async function acceptedBefore({ cwd }: Judge, count: number): Promise<(move: HandoffMove) => boolean> {
  if (count < MANY) return () => false;
  const kept = new Map((await listRefNames({ cwd }, [KEPT])).map(({ name, oid }) => [name, oid]));
  return ({ path, old, next }) => old === undefined && kept.get(keptRef(path)) === next;
}

/** The name of a replacement ref ends in the name of the object that it replaces. */
const REPLACE = /^refs\/replace\/(?:.*\/)?([^/]*)$/i;

/** Pushed refs that would replace (git-replace(1)) an object of a handoff or of work, or one that a later handoff may have. */
async function replacingHandoffs(
  others: readonly PushedRef[],
  pushed: readonly PushedRef[],
  { cwd, prefixes }: Judge,
): Promise<PushedRef[]> {
  const replaced = new Map(
    others.flatMap((ref) => {
      const oid = replacedBy(ref.remoteRef);
      return ref.local === undefined || oid === undefined ? [] : [[ref, oid] as const];
    }),
  );
  if (replaced.size === 0) return [];
  const [there, refs] = await Promise.all([
    lookUpObjects({ cwd }, [...replaced.values()]),
    listRefNames({ cwd }, [...prefixes, ...prefixes.map(remoteWorkPrefix)]),
  ]);
  const ours = await objectsOf(cwd, [...refs.map(({ oid }) => oid), ...tipsOf(pushed)]);
  return [...replaced].flatMap(([ref, oid], at) => (there[at] === undefined || ours.has(oid) ? [ref] : []));
}

/** A ref on this server that already replaces an object of a pushed handoff or of pushed work. */
async function replacedBefore(
  pushed: readonly PushedRef[],
  { cwd, at }: Judge,
): Promise<RefName | undefined> {
  const tips = tipsOf(pushed);
  if (at === 'clone' || tips.length === 0) return undefined;
  const known = await listRefNames({ cwd }, ['refs/replace/']);
  if (known.length === 0) return undefined;
  const ours = await objectsOf(cwd, tips);
  return known.find(({ name }) => ours.has(replacedBy(name) ?? ''))?.name;
}

const replacedBy = (ref: string) => parseOid(REPLACE.exec(ref)?.[1]?.toLowerCase() ?? '');

/** The tips, and all objects that they reach. */
async function objectsOf(cwd: string, tips: readonly Oid[]): Promise<ReadonlySet<string>> {
  return new Set(await listHistories({ cwd }, ['--objects', '--no-object-names'], tips));
}

/** Judges pushed work commit by commit, because each commit may be large. */
async function judgeAllWork(work: readonly PushedNote[], { cwd, maxWork }: Judge): Promise<RefusedRef[]> {
  const refused: RefusedRef[] = [];
  for (const one of work) {
    const { ref, prefix } = one;
    const why = await judgeWork({ cwd }, one, maxWork);
    // A closed note no longer protects its work.
    if (why === undefined || (why === 'deleted' && !(await isCarried({ cwd }, one)))) continue;
    const path = decodePath(parseWorkRef(ref.remoteRef, remoteWorkPrefix(prefix)));
    const verb = why === 'deleted' ? 'close' : 'sync --push --with-work';
    refused.push({
      ref,
      path,
      why: why === 'deleted' ? 'deleted, while the note that carries it is open' : why,
      hint:
        path === undefined
          ? 'git handoff list'
          : `git handoff ${verb} ${typedTopic(path.branch, path.topic)}`,
    });
  }
  return refused;
}

/** The branch and topic of a path; `undefined` if the branch cannot be decoded. */
function decodePath(path: HandoffPath | undefined): RefusedRef['path'] {
  const branch = path === undefined ? undefined : decodeBranch(path.component);
  return path === undefined || branch === undefined ? undefined : { branch, topic: path.topic };
}

function refusedFor(ref: PushedRef, named: HandoffPath | undefined, reason: RefReason): RefusedRef {
  const path = decodePath(named);
  const { why = reasonText(reason as IllegalReason), hint = 'git handoff doctor --fix' } = HELP[reason] ?? {};
  const isClosable = reason === 'deleted' && path !== undefined;
  return {
    ref,
    path,
    why,
    hint: isClosable ? `git handoff close ${typedTopic(path.branch, path.topic)}` : hint,
  };
}

/** Texts for reasons that `reasonText` does not know, and hints where `doctor --fix` does not help. */
const HELP: Partial<Record<RefReason, { readonly why?: string; readonly hint?: string }>> = {
  'not a descendant': { hint: 'git handoff sync' },
  'names another branch or topic': { hint: 'git handoff sync' },
  'badly named': {
    why: 'not the name of a handoff, which is <branch>/<topic> with a topic that says something',
  },
  symbolic: { why: 'a symbolic ref is not a handoff' },
  misspelt: { why: 'some servers treat that name as one of refs/handoffs*', hint: 'git push --all' },
  replacing: { why: 'git would show it instead of a handoff', hint: 'git push --all' },
  bookkeeping: { why: 'the bookkeeping of one machine is never pushed', hint: 'git push --all' },
  'unknown format version': {
    why: 'written by a later git-handoff than this server has; update the server first',
    hint: 'git handoff --version',
  },
};
