import { join, resolve } from 'node:path';
import { ago } from '../domain/age.ts';
import type { CommitWords } from '../shell/commit-words.ts';
import type { OpenClaim } from '../domain/ledger/claims.ts';
import type { CommitDecision, CommitFacts, Problem } from '../domain/ledger/mixing.ts';
import { type SessionId, shortId } from '../domain/names.ts';
import { escapeLine } from '../domain/surfacing.ts';
import { canSwitch, lastSwitch } from '../git/head.ts';
import type { Budget } from '../host/io.ts';
import { begunText, ownWorktree } from '../changes/begun-operation.ts';
import { type HintView, commitHints } from './commit-hints.ts';

/** What a refusal is told with. */
export interface RefusalView {
  readonly facts: CommitFacts;
  readonly cwd: string;
  readonly gitDir: string;
  readonly commonDir: string;
  /** The folder that the command was typed in, below the top; empty or ending in a slash (GIT_PREFIX). */
  readonly prefix: string;
  /** GIT_INDEX_FILE. */
  readonly indexFile: string | undefined;
  readonly words: CommitWords | undefined;
  /** The message that `git commit` read from its standard input. */
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
  problem: Problem,
  { facts }: RefusalView,
  now: number,
  switchedAt: number | undefined,
): string {
  switch (problem.kind) {
    case 'foreign':
      return problem.touched
        ? `${escapeLine(problem.path)} is session ${shortId(problem.claim.session)}’s; a command of this session only touched it`
        : `${escapeLine(problem.path)}: ${foreignText(problem.claim, now)}`;
    case 'contended':
      return `${escapeLine(problem.path)}: changed by this session (${shortId(facts.self.session)}) and by session ${shortId(problem.claim.session)}`;
    case 'reversal': {
      const { commit, session } = problem.by;
      const who = session === undefined ? 'of somebody else' : `by session ${shortId(session)}`;
      return `${escapeLine(problem.path)}: the commit would take back ${commit.slice(0, 7)} ${who}; the index is older than HEAD`;
    }
    case 'amends': {
      const commit = facts.head.oid?.slice(0, 7) ?? '';
      return `the commit ${commit} at HEAD is of session ${shortId(problem.session)}, which is at work: --amend would rewrite it`;
    }
    case 'branch': {
      const at = problem.at ?? switchedAt;
      const when = at === undefined ? '' : ` at ${clock(at)}`;
      return `expected ${place(problem.expected)}, HEAD is ${place(problem.found)}, moved by ${mover(problem.mover)}${when}`;
    }
    case 'operation':
      return begunText(problem, ago(problem.at, now));
    case 'marker':
      return `${escapeLine(problem.path)}: its first line names session ${shortId(problem.owner)} as its owner`;
  }
}

function foreignText({ session, evidence, at }: OpenClaim, now: number): string {
  const who = shortId(session);
  return evidence === 'since-start'
    ? `changed since session ${who} began, by ${who} or by hand, and not committed`
    : `session ${who} changed it ${ago(at, now)} and has not committed it`;
}

const mover = (session: SessionId | undefined) =>
  session === undefined ? 'unknown' : `session ${shortId(session)}`;
const place = (ref: string) => (ref === 'HEAD' ? 'detached' : escapeLine(ref.replace(/^refs\/heads\//, '')));
const clock = (at: number) => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');

/** Said of a commit that passes: other sessions' commands ran when these paths changed. */
export function warningLines(warnings: CommitDecision['warnings']): string[] {
  const [first] = warnings;
  if (first === undefined) return [];
  const more = warnings.length > 1 ? ` (and ${warnings.length - 1} more)` : '';
  const who = shortId(first.claim.session);
  return [
    `warning: ${escapeLine(first.path)}${more} also changed while a command of session ${who} ran; look at: git show`,
  ];
}
