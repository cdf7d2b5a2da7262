import { ago, escapeLine, Failure, listed, shellWord } from '../../../domain/messages.ts';
import type { FileState } from '../../../domain/ledger/tree-status.ts';
import { atWorkBeside } from '../../../domain/ledger/ownership.ts';
import { type Oid, peerName, peerNames, type SessionId } from '../../../domain/names.ts';
import { ObjectBatch } from '../../../git/objects.ts';
import { objectFormat } from '../../../git/repository.ts';
import type { CommitScene, Share } from './scene.ts';
import { type Inseparable, addParts } from '../../../changes/session-parts.ts';
import { messageWords, otherWords, pathWords, textWords } from '../../../changes/hint-words.ts';
import { findUnfinished, operationText, whoBeganText, ownWorktree } from '../../../changes/operations.ts';
import type { Operation } from '../../../git/operations.ts';
import { recordRefusal } from '../../../sessions/happenings.ts';
import { type GitCommitOptions, type IndexPlan, opensEditor } from './git-commit.ts';

/** The most files that a hint's command names. */
const MAX_LOOK = 5;

/** What to commit of the contended paths. */
export interface Composed {
  readonly entries: ReadonlyMap<string, FileState>;
  /** The contents of the entries, not stored yet. */
  readonly contents: ReadonlyMap<Oid, Buffer>;
  /** Others' paths that a command of this session changed in passing, and whose hunks cannot be separated. */
  readonly passed: readonly Share[];
}

/**
 * Returns all that the session commits: whole files, entries for contended files, and the files that it took out of the index.
 *
 * @throws Failure as `composeHunks` does
 */
export async function composeShare(
  scene: CommitScene,
  again: Again,
): Promise<IndexPlan & Pick<Composed, 'passed'>> {
  const { shares, untracked } = scene;
  const { entries: hunks, passed } = await composeContended(scene, again);
  const entries = new Map([...hunks, ...untracked.map((path) => [path, null] as const)]);
  const whole = shares.whole.map(({ dirty }) => dirty.path).filter((path) => !untracked.includes(path));
  return { whole, entries, passed };
}

/**
 * Applies this session's hunks to HEAD's content for each contended path, and stores the results in the repository.
 *
 * @throws Failure as `composeHunks` does
 */
export async function composeContended(scene: CommitScene, again: Again): Promise<Composed> {
  const composed = await composeHunks(scene, again);
  if (composed.contents.size === 0) return composed;
  const { top: cwd } = scene.work.tree;
  const batch = new ObjectBatch(await objectFormat({ cwd }));
  for (const content of composed.contents.values()) batch.blob(content);
  await batch.store({ cwd });
  return composed;
}

/**
 * Like `composeContended`, but stores nothing. Leaves out inseparable files that no command of this session named.
 *
 * @throws Failure `not-owner` when hunks in a file that its commands named overlap, touch, or cannot be separated
 */
export async function composeHunks(scene: CommitScene, again: Again): Promise<Composed> {
  const { contended } = scene.shares;
  if (contended.length === 0) return { entries: new Map(), contents: new Map(), passed: [] };
  const { entries, contents, failed } = await addParts(scene.work.tree, contended);
  const named = failed.filter(({ part }) => !isPassing(part, scene.named));
  if (named.length > 0) throw inseparable(scene, named, again, [...entries.keys()]);
  return { entries, contents, passed: failed.map(({ part }) => part) };
}

/** Whether a path may be left out: the session only touched it, and neither its command nor the command line names the path. */
const isPassing = ({ mine, claims }: Share, named: CommitScene['named']) =>
  named === undefined && mine.every((one) => one.evidence === 'window' && !claims.own.includes(one));

function inseparable(
  scene: CommitScene,
  failed: readonly Inseparable<Share>[],
  again: Again,
  composed: readonly string[],
): Failure {
  const { self, here, typedPaths, shares } = scene;
  const { done, command } = again;
  const { groups } = scene.asker;
  const own = peerName(self, groups);
  const rest = [...shares.whole.map(({ dirty }) => dirty.path), ...composed];
  const beside = failed.filter(({ part }) => part.others.length === 0).map(({ part }) => part.dirty.path);
  if (beside.length > 0) {
    const message = `${listed(beside)}: HEAD has a new change where this session (${own}) changed it; nothing was ${done}. Merge the two in the file, then commit again`;
    const look = `git diff HEAD -- ${beside.slice(0, MAX_LOOK).map(here).map(shellWord).join(' ')}`;
    const hints =
      rest.length === 0 || command === undefined
        ? { hint: look }
        : { hint: `${command}${typedPaths(rest)}`, otherHint: look };
    return new Failure('not-owner', message, hints);
  }
  const sessions = failed.flatMap(({ part }) => part.others.map(({ session }) => session));
  const whose = peerNames(sessions, groups);
  const paths = failed.map(({ part }) => part.dirty.path);
  const why = failed.every((one) => one.why === 'overlap')
    ? 'overlap or touch'
    : 'cannot be separated (not text, or too large)';
  const message =
    `${listed(paths)}: the changes of this session (${own}) and of ${whose} ${why}; nothing was ` +
    `${done}. Wait until ${whose} commits; if neither of you can, ask the user to commit ${paths.length === 1 ? 'it' : 'them'}`;
  const hints = withoutOrTaken(scene, again, { rest, refused: paths, owners: sessions });
  return new Failure('not-owner', message, hints);
}

/** The command as it was typed, for hints that repeat it with fewer paths. */
export interface Again {
  readonly done: 'committed' | 'staged' | 'written';
  /** The command without paths; `undefined` where git commits all or nothing. */
  readonly command: string | undefined;
}

/** `git handoff commit` with its message and options as they were typed. */
export function commitAgain({ work }: CommitScene, options: GitCommitOptions): Again {
  const { commonDir } = work.tree;
  const { messages, text, words } = options;
  const message = text === undefined ? messageWords(commonDir, messages) : textWords(commonDir, text);
  const isAmend = words.includes('--amend');
  const asked = opensEditor(options) ? (isAmend ? ' --no-edit' : " -m '<message>'") : message;
  return { done: 'committed', command: `git handoff commit${asked}${otherWords(words)}` };
}

/** Returns hints: the same command for the other paths, if any; if no owner is at work, also how to take the refused paths. */
function withoutOrTaken(
  { work, here, typedPaths, asker }: CommitScene,
  { command }: Again,
  {
    rest,
    refused,
    owners,
  }: { rest: readonly string[]; refused: readonly string[]; owners: readonly SessionId[] },
): { hint: string; otherHint?: string } {
  // `git handoff take` accepts paths, but no patterns: each path is typed as it is.
  const taken = () => pathWords(work.tree.commonDir, refused, here);
  const hints = [
    ...(rest.length === 0 || command === undefined ? [] : [`${command}${typedPaths(rest)}`]),
    ...(atWorkBeside(owners, asker.groups).length > 0 ? [] : [`git handoff take${taken()}`]),
  ];
  const [hint = 'git handoff status', otherHint] = hints;
  return { hint, ...(otherHint === undefined ? {} : { otherHint }) };
}

/**
 * Refuses named paths that belong to other live sessions, and leaves these sessions a request.
 *
 * @throws Failure `not-owner`
 */
export function requireOwnership(scene: CommitScene, again: Again, now: number): void {
  const { shares, self, work } = scene;
  if (shares.refused.length === 0) return;
  const refused = shares.refused.map(({ dirty }) => dirty.path);
  const claims = shares.refused.flatMap(({ others: [claim] }) => claim ?? []);
  const sessions = claims.map(({ session }) => session);
  const whose = peerNames(sessions, scene.asker.groups);
  const holds = refused.length > 1 ? 'hold' : 'holds';
  const rest = [...shares.whole, ...shares.contended].map(({ dirty }) => dirty.path);
  const message = `${listed(refused)} ${holds} uncommitted changes of ${whose}; nothing was ${again.done}`;
  const { place, tree } = work;
  const asked = place === undefined ? undefined : ({ place, from: self, wish: 'commit', claims } as const);
  recordRefusal({ commonDir: tree.commonDir, session: self, text: message, asked, now });
  const hints = withoutOrTaken(scene, again, { rest, refused, owners: sessions });
  throw new Failure('not-owner', message, hints);
}

/**
 * Returns the operation that a commit here would finish: a merge, or a single pick or revert, that this session began.
 *
 * @throws Failure `not-owner` when another live session began it, `usage` when nobody knows who did, or when git itself
 * makes the commits, as in a rebase
 */
export function unfinishedHere({ work, asker, self, here }: CommitScene, now: number): Operation | undefined {
  const { tree, place } = work;
  const found = findUnfinished(tree.gitDir, place, asker.groups);
  if (found === undefined) return undefined;
  const { operation, others, isOwn } = found;
  if (others !== undefined) {
    const message = whoBeganText(others, peerName(others.session, asker.groups), ago(others.at, now));
    const hint = `git worktree add ${shellWord(here(ownWorktree(tree.top, self)))}`;
    throw new Failure('not-owner', message, { hint });
  }
  if (isOwn && !operation.isSequence) return operation;
  const what = operationText(operation.name);
  if (isOwn) {
    throw new Failure('usage', `${what} is in progress here, and git itself makes its commits`, {
      hint: `git -c core.editor=true ${operation.name} --continue`,
    });
  }
  throw new Failure('usage', `${what} is in progress here; whoever began it must finish or abort it`, {
    hint: 'git status',
  });
}

/** Returns notices about what was left out: others' files that a command of this session changed in passing. */
export function passedNotices(passed: readonly Share[], { asker }: CommitScene): string[] {
  const [first] = passed;
  if (first === undefined) return [];
  const names = listed(passed.map(({ dirty }) => escapeLine(dirty.path)));
  const owners = passed.flatMap(({ others }) => others.map(({ session }) => session));
  return [
    `left out: ${names}, uncommitted work of ${peerNames(owners, asker.groups)} that a command ` +
      'of this session only touched; its owner commits the file as it is on disk',
  ];
}
