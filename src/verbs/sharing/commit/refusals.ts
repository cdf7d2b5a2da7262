import { messageWords, otherWords, textWords } from '../../../changes/hint-words.ts';
import { findUnfinished, operationText, whoBeganText, ownWorktree } from '../../../changes/operations.ts';
import { ago } from '../../../domain/age.ts';
import { Failure } from '../../../domain/failure.ts';
import { atWorkBeside } from '../../../domain/ledger/ownership.ts';
import type { Share } from '../../../domain/ledger/shares.ts';
import { type SessionId, peerName, peerNames } from '../../../domain/names.ts';
import { escapeLine, listed } from '../../../domain/surfacing.ts';
import type { Operation } from '../../../git/operations.ts';
import { recordRefusal } from '../../../sessions/happenings.ts';
import { type GitCommitOptions, opensEditor, optionsOf } from './git-commit.ts';
import type { CommitScene } from './scene.ts';

/** The command that was typed, to be typed again for a part of what it was meant for. */
export interface Again {
  readonly done: 'committed' | 'staged' | 'written';
  /** Without paths; `undefined` where git takes all or nothing. */
  readonly command: string | undefined;
}

/** `git handoff commit` as it was typed: the message and the options stay. */
export function commitAgain({ work }: CommitScene, words: GitCommitOptions): Again {
  const { commonDir } = work.tree;
  const { messages, text } = words;
  const message = text === undefined ? messageWords(commonDir, messages) : textWords(commonDir, text);
  const asked = opensEditor(words) ? (words.amend ? ' --no-edit' : " -m '<message>'") : message;
  return { done: 'committed', command: `git handoff commit${asked}${otherWords(optionsOf(words))}` };
}

/**
 * The commands of a refusal of some paths: for the rest, where there is one, and where their owners wait for their users the
 * take for all of them.
 */
export function withoutOrTaken(
  { typedPaths, plainPaths, asker }: CommitScene,
  { command }: Again,
  {
    rest,
    refused,
    owners,
  }: { rest: readonly string[]; refused: readonly string[]; owners: readonly SessionId[] },
): { hint: string; otherHint?: string } {
  const hints = [
    ...(rest.length === 0 || command === undefined ? [] : [`${command}${typedPaths(rest)}`]),
    ...(atWorkBeside(owners, asker.groups).length > 0 ? [] : [`git handoff take${plainPaths(refused)}`]),
  ];
  const [hint = 'git handoff status', otherHint] = hints;
  return { hint, ...(otherHint === undefined ? {} : { otherHint }) };
}

/**
 * Refuses named paths of other live sessions, which find a request for them.
 *
 * @throws Failure `not-owner`
 */
export function requireOwnership(scene: CommitScene, again: Again, now: number): void {
  const { shares } = scene;
  if (shares.refused.length === 0) return;
  const refused = shares.refused.map(({ path }) => path);
  const sessions = shares.refused.map(({ claim }) => claim.session);
  const whose = peerNames(sessions, scene.asker.groups);
  const holds = refused.length > 1 ? 'hold' : 'holds';
  const rest = [...shares.whole, ...shares.contended].map(({ dirty }) => dirty.path);
  const message = `${listed(refused)} ${holds} uncommitted changes of ${whose}; nothing was ${again.done}`;
  const { self, work } = scene;
  const claims = shares.refused.map(({ claim }) => claim);
  const asked =
    work.place === undefined ? undefined : ({ place: work.place, wish: 'commit', claims } as const);
  recordRefusal({ commonDir: work.tree.commonDir, session: self, text: message, asked, now });
  const hints = withoutOrTaken(scene, again, { rest, refused, owners: sessions });
  throw new Failure('not-owner', message, hints);
}

/**
 * What a commit here would finish: a merge, a single pick or revert that this session began.
 *
 * @throws Failure `not-owner` when another live session began it, `usage` when nobody is known to have, and where git
 * makes one commit after the other and goes on itself
 */
export function unfinishedHere(
  { work, asker, self, typed }: CommitScene,
  now: number,
): Operation | undefined {
  const { tree, place } = work;
  const found = findUnfinished(tree.gitDir, place, asker.groups);
  if (found === undefined) return undefined;
  const { operation, others, isOwn } = found;
  if (others !== undefined) {
    throw new Failure(
      'not-owner',
      whoBeganText(others, peerName(others.session, asker.groups), ago(others.at, now)),
      {
        hint: `git worktree add ${typed(ownWorktree(tree.top, self))}`,
      },
    );
  }
  if (isOwn && !operation.isSequence) return operation;
  const what = operationText(operation.name);
  if (isOwn) {
    throw new Failure('usage', `${what} is in progress here, in which git itself makes the commits`, {
      hint: `git -c core.editor=true ${operation.name} --continue`,
    });
  }
  throw new Failure('usage', `${what} is in progress here; whoever began it must finish or abort it`, {
    hint: 'git status',
  });
}

/** Notices about what was left out: others' files that a command of this session changed by the way. */
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
