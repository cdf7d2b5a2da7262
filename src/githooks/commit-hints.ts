import { resolve } from 'node:path';
import { OUR_OPTIONS, otherWords, pathWords, sourceWords } from '../changes/hint-words.ts';
import type { CommitWords } from '../shell/commit-words.ts';
import type { CommitDecision, CommitFacts, CommitProblem } from '../domain/ledger/mixing.ts';
import { shellWord } from '../domain/surfacing.ts';

/** How the commands of a hint have to be typed; git is told the top of the working tree before they are shown. */
export interface HintView {
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
export function commitHints(decision: CommitDecision, facts: CommitFacts, view: HintView): string[] {
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
