import { join, resolve } from 'node:path';
import { ago } from '../domain/age.ts';
import type { CommitWords } from '../shell/commit-words.ts';
import type { OpenClaim } from '../domain/ledger/claims.ts';
import {
  type CommitDecision,
  type CommitFacts,
  type CommitProblem,
  problemOwners,
} from '../domain/ledger/mixing.ts';
import type { Sides } from '../domain/ledger/ownership.ts';
import { peerName } from '../domain/owner-name.ts';
import { escapeLine } from '../domain/surfacing.ts';
import { canSwitch, lastSwitch } from '../git/head.ts';
import type { Budget } from '../host/io.ts';
import { begunText, ownWorktree } from '../changes/begun-text.ts';
import { idleText } from '../sessions/idle.ts';
import { type HintView, commitHints } from './commit-hints.ts';

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
