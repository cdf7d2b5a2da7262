import { posix } from 'node:path';
import type { CommitWords } from '../shell/commit-words.ts';
import type { CommitDecision, CommitFacts, Problem } from '../domain/ledger/mixing.ts';
import { shellWord } from '../domain/surfacing.ts';

/** Where and how the commands of a hint will be typed. */
export interface HintView {
  /** The folder below the top in which `git commit` was typed. */
  readonly prefix: string;
  readonly words: CommitWords | undefined;
  /** GIT_INDEX_FILE as the hook sees it. */
  readonly indexFile: string | undefined;
  /** An index that somebody keeps elsewhere; absolute. */
  readonly indexPrefix: string | undefined;
  readonly isUnborn: boolean;
  /** A folder for a worktree of the session's own, relative to the top of this one. */
  readonly ownWorktree: string;
}

/** A hint names no more paths than these. */
const MAX_NAMED = 20;

/** The commands that do what the refused commit was meant to do, without the others' work. */
export function commitHints(decision: CommitDecision, facts: CommitFacts, view: HintView): string[] {
  const { problems } = decision;
  if (problems.some(({ kind }) => kind === 'operation')) {
    const path = posix.relative(view.prefix, view.ownWorktree);
    return [`git worktree add ${shellWord(path)}`, 'or wait until it is over: git status'];
  }
  const branch = problems.find((one) => one.kind === 'branch');
  if (branch !== undefined) return [switchBack(branch, facts)];
  const own = facts.finishes;
  // git makes no partial commit now.
  if (own?.whole === true) return [`git handoff commit${finishingWords(view)}`];
  const paths = (kind: Problem['kind']) =>
    problems.flatMap((one) => (one.kind === kind && 'path' in one ? [one.path] : []));
  // What this session has changed, too, goes in without the rest: HEAD with its own part.
  const shared = problems.flatMap((one) =>
    one.kind === 'reversal' && one.by.shared === true ? [one.path] : [],
  );
  const reversed = paths('reversal').filter((path) => !shared.includes(path));
  const foreign = [...paths('foreign'), ...paths('marker')];
  const contended = [...paths('contended'), ...shared];
  if (own !== undefined) return [unstage([...reversed, ...foreign, ...contended], view)];
  const mine = decision.mine.filter((path) => !foreign.includes(path));
  const hints: string[] = [];
  if (reversed.length > 0) hints.push(unstage(reversed, view));
  if (foreign.length + contended.length > 0) {
    hints.push(...ownPart({ mine, contended, foreign }, facts, view));
  } else if (problems.some(({ kind }) => kind === 'amends')) {
    hints.push(`git commit${messageWords(view)}`);
  }
  return hints;
}

function switchBack({ expected }: Extract<Problem, { kind: 'branch' }>, { self }: CommitFacts): string {
  if (expected === 'HEAD') return `git switch --detach ${self.head?.oid ?? ''}`.trimEnd();
  return `git switch ${shellWord(expected.replace(/^refs\/heads\//, ''))}`;
}

interface Parts {
  readonly mine: readonly string[];
  readonly contended: readonly string[];
  readonly foreign: readonly string[];
}

function ownPart({ mine, contended, foreign }: Parts, facts: CommitFacts, view: HintView): string[] {
  const wanted = [...mine, ...contended];
  const amend = view.words?.amend === true && facts.amends === undefined;
  if (wanted.length === 0) {
    if (amend) return [`git commit --amend --only${messageWords(view, amend)}`];
    return [isLockFile(view) ? 'git handoff status' : unstage(foreign, view)];
  }
  const heads = new Map(facts.staged.map(({ path, head }) => [path, head]));
  const isKnown = mine.every((path) => (heads.get(path) ?? null) !== null);
  const isFew = wanted.length <= MAX_NAMED;
  if (contended.length === 0 && isKnown && isFew) {
    const named = pathWords(mine, view);
    if (amend) return [`git commit --amend --only${messageWords(view, amend)} -- ${named}`];
    return [
      `git commit --only${messageWords(view)} -- ${named}`,
      `or, to be asked for the message: git commit --only -- ${named}`,
    ];
  }
  const named = isFew ? ` -- ${pathWords(wanted, view)}` : '';
  return [`git handoff commit${amend ? ' --amend' : ''}${messageWords(view, amend)}${named}`];
}

/** `-a` and `--only`: the worktree's index holds nothing of what was refused. */
function isLockFile({ indexFile }: HintView): boolean {
  return indexFile?.endsWith('.lock') ?? false;
}

/** Brings the index to HEAD at these paths; the files stay as they are. */
function unstage(paths: readonly string[], view: HintView): string {
  const { indexPrefix, isUnborn } = view;
  const index = indexPrefix === undefined ? '' : `GIT_INDEX_FILE=${shellWord(indexPrefix)} `;
  const named = paths.length > MAX_NAMED ? '' : ` -- ${pathWords(paths, view)}`;
  if (isUnborn && named !== '') return `${index}git rm -q --cached${named}`;
  return `${index}git reset -q${named}`;
}

/** The message that was given by `-m`, again: a session's shell has no editor to ask for one. */
function messageWords({ words }: HintView, amend = false): string {
  const messages = words?.messages ?? [];
  if (messages.length === 0) return amend ? ' --no-edit' : " -m '<message>'";
  return messages.map((message) => ` -m ${shellWord(message)}`).join('');
}

/** git has a message for what it has stopped in. */
function finishingWords(view: HintView): string {
  return (view.words?.messages ?? []).length === 0 ? ' --no-edit' : messageWords(view);
}

function pathWords(paths: readonly string[], { prefix }: HintView): string {
  return paths.map((path) => shellWord(pathspec(posix.relative(prefix, path)))).join(' ');
}

/** A path as a pathspec (gitglossary(7)) that names nothing else. */
function pathspec(path: string): string {
  return /[*?[\\]/.test(path) || path.startsWith(':') ? `:(literal)${path}` : path;
}
