import { join, resolve } from 'node:path';
import { OUR_OPTIONS, otherWords, pathWords, sourceWords } from '../changes/hint-words.ts';
import { begunText, ownWorktree } from '../changes/operations.ts';
import { ago } from '../domain/age.ts';
import type { OpenClaim } from '../domain/ledger/claims.ts';
import {
  type CommitDecision,
  type CommitFacts,
  type CommitProblem,
  problemOwners,
} from '../domain/ledger/mixing.ts';
import type { Sides } from '../domain/ledger/ownership.ts';
import { peerName } from '../domain/owner-name.ts';
import { escapeLine, shellWord } from '../domain/surfacing.ts';
import { canSwitch, lastSwitch } from '../git/head.ts';
import type { Budget } from '../host/io.ts';
import { idleText } from '../sessions/records.ts';
import type { CommitWords } from '../shell/commit-words.ts';

/** What a refusal is told with. */
interface RefusalView {
  readonly facts: CommitFacts;
  readonly cwd: string;
  readonly gitDir: string;
  readonly commonDir: string;
  /** The folder that the command was typed in, below the top; empty or ending in a slash (GIT_PREFIX). */
  readonly prefix: string;
  /** GIT_INDEX_FILE. */
  readonly indexFile: string | undefined;
  readonly words: CommitWords | undefined;
  /** What `-F` read, where its file will not be there when the hint is typed. */
  readonly message: string | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly budget: Budget;
}

/** More paths than these are counted. */
const MAX_PATHS = 20;

/** The refusal of a commit: who, what, and the next command to type. */
export async function refusalLines(decision: CommitDecision, view: RefusalView): Promise<string[]> {
  const { problems } = decision;
  const { now } = view;
  const branch = problems.find((one) => one.kind === 'branch');
  const isUndated = branch !== undefined && branch.at === undefined;
  const switchedAt = isUndated
    ? await lastSwitch(view.cwd, view.budget.left()).catch(() => undefined)
    : undefined;
  const shown = problems.slice(0, MAX_PATHS).map((problem) => problemText(problem, view, now, switchedAt));
  const more = problems.length - shown.length;
  if (more > 0) shown.push(`and ${more} more`);
  const idle = idleText(view.commonDir, problemOwners(problems), view.facts.sides, now).trimEnd();
  if (idle !== '') shown.push(idle);
  const canSwitch = branch !== undefined && (await goesBack(branch.expected, view));
  const typed = hints(decision, view, canSwitch);
  return [...shown.map((text) => `error: ${text}`), ...typed.map((hint) => `hint: ${hint}`)];
}

/** git would switch, and the guard would let it: nothing uncommitted is in the way, or another session's. */
async function goesBack(expected: string, view: RefusalView): Promise<boolean> {
  const { facts, cwd, gitDir, budget } = view;
  const { ledgers, sides, self } = facts;
  if (ledgers.some(({ session, claims }) => sides.foreign.has(session) && claims.size > 0)) return false;
  const to = expected === 'HEAD' ? self.head?.oid : expected;
  if (to === null || to === undefined) return false;
  const index = foreignIndex(facts, view) ?? join(gitDir, 'index');
  return canSwitch({ cwd, index }, to, budget.left()).catch(() => false);
}

function hints(decision: CommitDecision, { facts, ...view }: RefusalView, canSwitch: boolean): string[] {
  const hintView: HintView = {
    ...view,
    canSwitch,
    indexPrefix: foreignIndex(facts, view),
    isUnborn: facts.head.oid === null,
    ownWorktree: ownWorktree(view.cwd, facts.self.session),
  };
  return commitHints(decision, facts, hintView);
}

/** What has to stand before a command that is to use the index which somebody keeps elsewhere. */
function foreignIndex(
  { ownIndex }: CommitFacts,
  { indexFile, cwd }: Pick<RefusalView, 'indexFile' | 'cwd'>,
): string | undefined {
  // For `-a` git gives its hooks the new index, which has not taken the old one's place.
  return ownIndex || indexFile === undefined ? undefined : resolve(cwd, indexFile).replace(/\.lock$/, '');
}

function problemText(
  problem: CommitProblem,
  { facts }: RefusalView,
  now: number,
  switchedAt: number | undefined,
): string {
  const { sides } = facts;
  switch (problem.kind) {
    case 'foreign':
      return problem.touched
        ? `${escapeLine(problem.path)} belongs to ${peerName(problem.claim.session, sides)}; a command of this session only touched it`
        : `${escapeLine(problem.path)}: ${foreignText(problem.claim, sides, now)}`;
    case 'contended':
      return `${escapeLine(problem.path)}: changed by this session (${peerName(facts.self.session, sides)}) and by ${peerName(problem.claim.session, sides)}`;
    case 'reversal': {
      const { commit, session } = problem.by;
      const who = session === undefined ? 'by somebody else' : `by ${peerName(session, sides)}`;
      return `${escapeLine(problem.path)}: the commit would undo ${commit.slice(0, 7)} ${who}: the index is older than HEAD`;
    }
    case 'amends': {
      const commit = facts.head.oid?.slice(0, 7) ?? '';
      return `commit ${commit} at HEAD was made by ${peerName(problem.session, sides)}, which is at work: --amend would rewrite it`;
    }
    case 'branch': {
      const at = problem.at ?? switchedAt;
      const when = at === undefined ? '' : ` at ${clock(at)}`;
      return `expected ${place(problem.expected)}, HEAD is ${place(problem.found)}, moved by ${problem.mover === undefined ? 'unknown' : peerName(problem.mover, sides)}${when}`;
    }
    case 'operation':
      return begunText(problem, peerName(problem.session, sides), ago(problem.at, now));
    case 'marker':
      return `${escapeLine(problem.path)}: its first line names ${peerName(problem.owner, sides)} as its owner`;
  }
}

function foreignText({ session, evidence, at }: OpenClaim, sides: Sides, now: number): string {
  const who = peerName(session, sides);
  return evidence === 'since-start'
    ? `changed since ${who} began, by it or by hand, and not committed`
    : `${who} changed it ${ago(at, now)} and has not committed it`;
}

const place = (ref: string) => (ref === 'HEAD' ? 'detached' : escapeLine(ref.replace(/^refs\/heads\//, '')));
const clock = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');

/** Said of a commit that passes: other sessions' commands ran when these paths changed. */
export function warningLines(warnings: CommitDecision['warnings'], sides: Sides): string[] {
  const [first] = warnings;
  if (first === undefined) return [];
  const more = warnings.length > 1 ? ` (and ${warnings.length - 1} more)` : '';
  const who = peerName(first.claim.session, sides);
  return [
    `warning: ${escapeLine(first.path)}${more} also changed while a command of ${who} ran; look at: git show`,
  ];
}

/** How the commands of a hint have to be typed; git is told the top of the working tree before they are shown. */
interface HintView {
  /** The top of the working tree. */
  readonly cwd: string;
  readonly commonDir: string;
  /** The folder below the top in which `git commit` was typed. */
  readonly prefix: string;
  readonly words: CommitWords | undefined;
  /** What `-F` read, where its file will not be there when the hint is typed. */
  readonly message: string | undefined;
  /** GIT_INDEX_FILE as the hook sees it. */
  readonly indexFile: string | undefined;
  /** An index that somebody keeps elsewhere; absolute. */
  readonly indexPrefix: string | undefined;
  readonly isUnborn: boolean;
  /** Where HEAD is on another branch: whether the working tree can be switched back with all that is uncommitted in it. */
  readonly canSwitch: boolean;
  /** A folder for a worktree of the session's own, relative to the top of this one. */
  readonly ownWorktree: string;
}

/** The commands that do what the refused commit was meant to do, without the others' work. */
function commitHints(decision: CommitDecision, facts: CommitFacts, view: HintView): string[] {
  const { problems } = decision;
  if (problems.some(({ kind }) => kind === 'operation')) {
    return [`git worktree add ${shellWord(view.ownWorktree)}`, 'git status'];
  }
  const branch = problems.find((one) => one.kind === 'branch');
  const own = facts.finishes;
  // git switches nothing before it has finished.
  if (branch !== undefined && own === undefined && view.canSwitch) return [switchBack(branch, facts)];
  if (own?.whole === true) return finish(decision, facts, view);
  const paths = (kind: CommitProblem['kind']) =>
    problems.flatMap((one) => (one.kind === kind && 'path' in one ? [one.path] : []));
  // What this session has changed, too, goes in without the rest: HEAD with its own part.
  const shared = problems.flatMap((one) =>
    one.kind === 'reversal' && one.by.shared === true ? [one.path] : [],
  );
  const reversed = paths('reversal').filter((path) => !shared.includes(path));
  const foreign = new Set([...paths('foreign'), ...paths('marker')]);
  const contended = [...paths('contended'), ...shared];
  if (own !== undefined) {
    const out = [...reversed, ...foreign, ...contended];
    return out.length > 0 ? [unstage(out, view), goOn(own)] : [goOn(own)];
  }
  const mine = decision.mine.filter((path) => !foreign.has(path));
  // It has been told where HEAD is: what it did here can only be committed here.
  if (branch !== undefined) return [ownHunks([...mine, ...contended], facts, view)];
  const hints: string[] = [];
  if (reversed.length > 0) hints.push(unstage(reversed, view));
  if (foreign.size + contended.length > 0) {
    const touched = problems.some((one) => one.kind === 'foreign' && one.touched);
    hints.push(ownPart({ mine, contended, touched }, facts, view));
  } else if (problems.some(({ kind }) => kind === 'amends')) {
    hints.push(commitAnew(mine, reversed.length > 0, view));
  } else if (mine.length > 0 && view.indexPrefix === undefined) {
    hints.push(ownPart({ mine, contended, touched: false }, facts, view));
  }
  return hints;
}

/** git makes no partial commit now, and has a message for what it has stopped in. What `-a` would have staged is not. */
function finish({ mine, problems }: CommitDecision, { self }: CommitFacts, view: HintView): string[] {
  const shared = problems.flatMap((one) => (one.kind === 'contended' ? [one.path] : []));
  const paths = [...mine.filter((path) => self.claims.has(path)), ...shared];
  const commit = `git handoff commit${messagePart(view, true)}`;
  if (view.words?.all !== true || paths.length === 0) return [commit];
  return [`git handoff stage --mine${pathWords(view.commonDir, paths)}`, commit];
}

function switchBack({ expected }: Extract<CommitProblem, { kind: 'branch' }>, { self }: CommitFacts): string {
  if (expected === 'HEAD') return `git switch --detach ${self.head?.oid ?? ''}`.trimEnd();
  return `git switch ${shellWord(expected.replace(/^refs\/heads\//, ''))}`;
}

/** A session has no editor for the message. */
const goOn = ({ name }: { readonly name: string }) => `git -c core.editor=true ${name} --continue`;

/** Nothing that is staged is the session's to commit. */
const NOTHING = 'git handoff status';

interface Parts {
  readonly mine: readonly string[];
  readonly contended: readonly string[];
  /** This session's commands have changed some of the foreign ones by the way. */
  readonly touched: boolean;
}

function ownPart({ mine, contended, touched }: Parts, facts: CommitFacts, view: HintView): string {
  const wanted = [...mine, ...contended];
  const amend = amends(facts, view);
  const how = (known?: RegExp) => `${messagePart(view, amend)}${kept(view, known)}`;
  const only = `git commit${amend ? ' --amend' : ''} --only`;
  if (wanted.length === 0) return amend ? `${only}${how()}` : NOTHING;
  if (touched && contended.length === 0 && mine.every((path) => facts.self.claims.has(path))) {
    return `git handoff commit${amend ? ' --amend' : ''}${how(OUR_OPTIONS)}`;
  }
  const all = [...facts.staged, ...(facts.squashed ?? [])];
  const heads = new Map(all.map(({ path, head }) => [path, head]));
  const isKnown = mine.every((path) => (heads.get(path) ?? null) !== null);
  const named = pathWords(view.commonDir, wanted);
  if (contended.length === 0 && isKnown) return `${only}${how()}${named}`;
  return ownHunks(wanted, facts, view);
}

function ownHunks(paths: readonly string[], facts: CommitFacts, view: HintView): string {
  if (paths.length === 0) return NOTHING;
  const amend = amends(facts, view);
  const how = `${messagePart(view, amend)}${kept(view, OUR_OPTIONS)}`;
  return `git handoff commit${amend ? ' --amend' : ''}${how}${pathWords(view.commonDir, paths)}`;
}

const amends = (facts: CommitFacts, { words }: HintView) =>
  words?.amend === true && facts.amends === undefined;

/** A commit of its own instead of one that would rewrite another session's; `-a` would take what is older than HEAD. */
function commitAnew(mine: readonly string[], isOld: boolean, view: HintView): string {
  const { words, commonDir } = view;
  const how = `${messagePart(view, false)}${kept(view)}`;
  if (mine.length === 0) return NOTHING;
  if (words?.all === true && !isOld) return `git commit -a${how}`;
  if (isLockFile(view)) return `git commit --only${how}${pathWords(commonDir, mine)}`;
  return `git commit${how}`;
}

/** `-a` and `--only`: the worktree's index holds nothing of what was refused. */
function isLockFile({ indexFile }: HintView): boolean {
  return indexFile?.endsWith('.lock') ?? false;
}

/** Brings the index to HEAD at these paths; the files stay as they are. */
function unstage(paths: readonly string[], { indexPrefix, isUnborn, commonDir }: HintView): string {
  const index = indexPrefix === undefined ? '' : `GIT_INDEX_FILE=${shellWord(indexPrefix)} `;
  return `${index}git ${isUnborn ? 'rm -q --cached' : 'reset -q'}${pathWords(commonDir, paths)}`;
}

function messagePart({ words, message, commonDir, cwd, prefix }: HintView, amend: boolean): string {
  return sourceWords(commonDir, words, { folder: resolve(cwd, prefix), text: message, amend });
}

function kept({ words }: HintView, known = /^/): string {
  return otherWords(words?.kept.filter((word) => known.test(word)) ?? []);
}
