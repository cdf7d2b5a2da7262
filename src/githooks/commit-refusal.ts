import { join, resolve } from 'node:path';
import { type Source, commitWords, pathWords, sourceWords } from '../changes/hint-words.ts';
import { whoBeganText, ownWorktree } from '../changes/operations.ts';
import { ago, escapeLine, listed, shellWord } from '../domain/messages.ts';
import type { OpenClaim, SessionLedger } from '../domain/ledger/claims.ts';
import {
  type CommitDecision,
  type CommitFacts,
  type CommitProblem,
  type StagedPath,
  problemOwners,
} from '../domain/ledger/mixing.ts';
import type { SessionGroups } from '../domain/ledger/ownership.ts';
import { peerName, refName, switchBack } from '../domain/names.ts';
import { canSwitch } from '../git/refs.ts';
import { unmergedPaths } from '../git/staged.ts';
import { idleText } from '../sessions/records.ts';
import type { HookCall } from './hook-call.ts';
import { passingMessage } from './whose-commit.ts';

/** The most paths that a refusal names; it only counts the rest. */
const MAX_PATHS = 20;

/** The refusal of a commit: who, what, and the next command to type. */
export async function refusalLines(
  decision: CommitDecision,
  facts: CommitFacts,
  call: HookCall,
): Promise<string[]> {
  const { problems } = decision;
  const { commonDir, now } = call;
  const shown = problems.slice(0, MAX_PATHS).map((problem) => problemText(problem, facts, now));
  if (problems.length > MAX_PATHS) shown.push(`and ${problems.length - MAX_PATHS} more`);
  const idle = idleText(commonDir, problemOwners(problems), facts.groups, now).trimEnd();
  if (idle !== '') shown.push(idle);
  const typed = await commitHints(decision, facts, call);
  const isOthers = (one: CommitProblem) =>
    one.kind === 'foreign' || (one.kind === 'marker' && facts.groups.foreign.has(one.owner));
  if (typed[0] === NOTHING && problems.some(isOthers))
    shown.push('no staged change is this session’s to commit');
  return [...shown.map((text) => `error: ${text}`), ...typed.map((hint) => `hint: ${hint}`)];
}

function problemText(problem: CommitProblem, facts: CommitFacts, now: number): string {
  const { groups } = facts;
  switch (problem.kind) {
    case 'foreign':
      return problem.touched
        ? `${escapeLine(problem.path)} belongs to ${peerName(problem.claim.session, groups)}; a command of this session only touched it`
        : `${escapeLine(problem.path)}: ${foreignText(problem.claim, groups, now)}`;
    case 'contended':
      return `${escapeLine(problem.path)}: changed by this session (${peerName(facts.self.session, groups)}) and by ${peerName(problem.claim.session, groups)}`;
    case 'reversal': {
      const { commit, session } = problem.by;
      const who = session === undefined ? 'somebody else' : peerName(session, groups);
      return `${escapeLine(problem.path)}: the commit would undo ${commit.slice(0, 7)} (made by ${who}), because the index is older than HEAD`;
    }
    case 'amends': {
      const commit = facts.head.oid?.slice(0, 7) ?? '';
      return `commit ${commit} at HEAD was made by ${peerName(problem.session, groups)}, which is at work: --amend would rewrite it`;
    }
    case 'branch': {
      const when = problem.at === undefined ? '' : ` at ${clock(problem.at)}`;
      return `this session was on ${refName(problem.expected)}, but the worktree is on ${refName(problem.found)} now: ${problem.mover === undefined ? 'it is not known who' : peerName(problem.mover, groups)} switched it${when}`;
    }
    case 'operation':
      return whoBeganText(problem, peerName(problem.session, groups), ago(problem.at, now));
    case 'marker':
      return `${escapeLine(problem.path)}: its first line names ${peerName(problem.owner, groups)} as its owner`;
  }
}

function foreignText({ session, evidence, at }: OpenClaim, groups: SessionGroups, now: number): string {
  const who = peerName(session, groups);
  return evidence === 'since-start'
    ? `${who} or the user changed it and has not committed it`
    : `${who} changed it ${ago(at, now)} and has not committed it`;
}

const clock = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');

/** Warnings about a commit that passes although other sessions' commands ran when its paths changed. */
export function warningLines(warnings: CommitDecision['warnings'], groups: SessionGroups): string[] {
  const [first] = warnings;
  if (first === undefined) return [];
  const more = warnings.length > 1 ? ` (and ${warnings.length - 1} more)` : '';
  const who = peerName(first.claim.session, groups);
  return [
    `warning: ${escapeLine(first.path)}${more} was also changed while a command of ${who} ran; check this commit: git show`,
  ];
}

/** Warns a session that its commit includes changes of its running sub-agents. */
export function takenAlongLines(
  staged: readonly StagedPath[],
  ledgers: readonly SessionLedger[],
  groups: SessionGroups,
): string[] {
  return ledgers.flatMap(({ session, claims }) => {
    const paths = staged.flatMap(({ path }) => (claims.has(path) ? [escapeLine(path)] : []));
    const who = peerName(session, groups);
    return paths.length === 0
      ? []
      : [`warning: this commit includes changes of ${who}, a running sub-agent: ${listed(paths)}`];
  });
}

/** The commands that do what the refused commit was meant to do, but leave out others' work. */
async function commitHints(decision: CommitDecision, facts: CommitFacts, call: HookCall): Promise<string[]> {
  const { problems } = decision;
  const { cwd, commonDir } = call;
  if (problems.some(({ kind }) => kind === 'operation')) {
    return [`git worktree add ${shellWord(ownWorktree(cwd, facts.self.session))}`, 'git status'];
  }
  const branch = problems.find((one) => one.kind === 'branch');
  const own = facts.finishes;
  // git does not switch branches while a merge, rebase … is unfinished.
  if (branch !== undefined && own === undefined && (await canSwitchBack(branch.expected, facts, call)))
    return [switchBack(branch.expected, facts.self.head?.oid)];
  const paths = (kind: CommitProblem['kind']) =>
    problems.flatMap((one) => (one.kind === kind && 'path' in one ? [one.path] : []));
  // Files in which this session also has changes of its own, which it can commit on top of HEAD.
  const shared = problems.flatMap((one) =>
    one.kind === 'reversal' && one.by.shared === true ? [one.path] : [],
  );
  const reversed = paths('reversal').filter((path) => !shared.includes(path));
  const foreign = new Set([...paths('foreign'), ...paths('marker')]);
  const contended = [...paths('contended'), ...shared];
  const mine = [...decision.mine.filter((path) => !foreign.has(path)), ...contended];
  // `--continue` refuses a pick that has become empty, hence `--skip`. A session has no editor, hence `core.editor`.
  const isEmpty = own?.isEmpty === true && mine.length === 0;
  if (own?.whole === true && !isEmpty) return finish(decision, facts, call);
  if (own !== undefined) {
    const out = [...reversed, ...foreign, ...contended];
    const end = isEmpty ? `git ${own.name} --skip` : `git -c core.editor=true ${own.name} --continue`;
    return out.length > 0 ? [unstage(out, commonDir), end] : [end];
  }
  if (mine.length > 0) {
    // A session may amend only its own commit.
    const amend = call.words()?.amend === true && facts.amends === undefined;
    const commit = commitWords(commonDir, call.words(), sourceOf(call, amend));
    return [`git handoff ${commit}${pathWords(commonDir, mine)}`];
  }
  // We suggest no change to an index other than the worktree's.
  return [reversed.length > 0 && facts.ownIndex ? unstage(reversed, commonDir) : NOTHING];
}

/** Whether git would switch back (no uncommitted change is in the way), and the guard would allow the switch. */
async function canSwitchBack(
  expected: string,
  { ledgers, groups, self, ownIndex }: CommitFacts,
  { cwd, gitDir, env, budget }: HookCall,
): Promise<boolean> {
  // `git handoff commit` uses an index of its own, and leaves the worktree's index as it was.
  const isOurs = (env['GIT_HANDOFF_EXPECT'] ?? '') !== '';
  if (
    !(ownIndex || isOurs) ||
    ledgers.some(({ session, claims }) => groups.foreign.has(session) && claims.size > 0)
  )
    return false;
  const to = expected === 'HEAD' ? self.head?.oid : expected;
  if (to === null || to === undefined) return false;
  return canSwitch({ cwd, index: join(gitDir, 'index') }, to, budget.left()).catch(() => false);
}

/**
 * The commands that finish a merge, rebase …. They name no paths to commit, because git makes no partial commit during a merge,
 * and no message, because git has one ready. If the refused commit had `-a`, the commands also stage what `-a` would stage.
 */
async function finish(
  { mine, problems }: CommitDecision,
  facts: CommitFacts,
  call: HookCall,
): Promise<string[]> {
  const { commonDir, cwd, gitDir } = call;
  const shared = problems.flatMap((one) => (one.kind === 'contended' ? [one.path] : []));
  const paths = [...mine.filter((path) => facts.self.claims.has(path)), ...shared];
  const commit = `git handoff commit${sourceWords(commonDir, call.words(), sourceOf(call, true))}`;
  if (call.words()?.all !== true) return [commit];
  const unmerged = await unmergedPaths(cwd, { GIT_INDEX_FILE: join(gitDir, 'index') });
  const own = paths.filter((path) => !unmerged.includes(path));
  return [
    ...(unmerged.length > 0 ? [`git add${pathWords(commonDir, unmerged)}`] : []),
    ...(own.length > 0 ? [`git handoff stage --mine${pathWords(commonDir, own)}`] : []),
    commit,
  ];
}

/** The hint when no staged change is the session's. Without any hint, an agent would try again. */
const NOTHING = 'git handoff status';

/** Resets these paths in the index to HEAD; the files stay as they are. */
function unstage(paths: readonly string[], commonDir: string): string {
  return `git reset -q${pathWords(commonDir, paths)}`;
}

function sourceOf(call: HookCall, amend: boolean): Source {
  const folder = resolve(call.cwd, call.env['GIT_PREFIX'] ?? '');
  return { folder, text: passingMessage(call, call.words()), amend };
}
