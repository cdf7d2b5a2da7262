import { basename, resolve } from 'node:path';
import { type SessionId, peerName, sessionOfOwner } from '../../domain/names.ts';
import type { GitVerbCall, ShellEffects } from '../../shell/effects.ts';
import { escapeLine } from '../../domain/messages.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { linkedWorktrees } from '../../git/worktrees.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { exists, realPath } from '../../host/disk.ts';
import { readLedgers } from '../../sessions/journal.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { type TreeCall, type Finding, type Worktree, refusedFor } from '../call.ts';
import type { CommandFacts } from '../facts.ts';
import { isBelow } from '../../shell/disk.ts';
import { callsInRepository } from './reach.ts';
import { typedAt } from './typed.ts';

/** A worktree that a command removes or moves away. */
interface RemovedWorktree {
  readonly top: string;
  readonly gitDir: string;
  readonly by: string;
}

/** Returns the worktrees of this repository that a command removes or moves, by path (`rm -rf`) or by name. */
export function removedWorktrees(
  { paths, gitCalls }: ShellEffects,
  found: FoundRepository,
): RemovedWorktree[] {
  const removals = paths.filter(({ kind }) => kind === 'remove');
  const named = gitCalls.filter(
    ({ verb, words }) => verb === 'worktree' && (words[0] === 'remove' || words[0] === 'move'),
  );
  const wiping = gitCalls.filter(isWiping);
  if (removals.length + named.length + wiping.length === 0) return [];
  const gone = removals.map(({ path, follows, by }) => ({ path: realPath(path, follows), by }));
  return linkedWorktrees(found.commonDir).flatMap(({ path, gitDir }): RemovedWorktree[] => {
    const top = realPath(path);
    // Without its `.git` file, the folder is no longer a working tree.
    const removal = gone.find((one) => one.path === `${top}/.git` || isBelow(top, one.path));
    if (removal !== undefined) return [{ top, gitDir, by: removal.by }];
    const wipe = wiping.find(({ cwd }) => cwd !== undefined && top.startsWith(`${realPath(cwd)}/`));
    if (wipe !== undefined) return [{ top, gitDir, by: 'git clean' }];
    // git-worktree(1) also accepts the last components of the worktree's path as its name, if no such path exists.
    const call = named.find(({ words, cwd = '/' }) =>
      words
        .slice(1)
        .some(
          (word) => word !== undefined && word !== '' && isName(word, top) && !exists(resolve(cwd, word)),
        ),
    );
    return call === undefined ? [] : [{ top, gitDir, by: `git worktree ${call.words[0] ?? ''}` }];
  });
}

/** Whether a call is a `git clean -ffd`, which also deletes nested repositories and worktrees. */
function isWiping({ verb, words }: GitVerbCall): boolean {
  const flags = words.map((word) => (/^-\w+$/.test(word ?? '') ? (word ?? '') : '')).join('');
  const forces = flags.split('f').length - 1 + words.filter((word) => word === '--force').length;
  return verb === 'clean' && forces > 1 && flags.includes('d') && !flags.includes('n');
}

const isName = (word: string, top: string) => `${top}/`.endsWith(`/${word.replace(/(?<!\/)\/+$/, '')}/`);

/** Refuses the removal or move of a working tree in which another live session is at work. */
export async function worktreeRemoval(call: TreeCall, facts: CommandFacts): Promise<readonly Finding[]> {
  const { tree } = call;
  const gitCalls = callsInRepository(call, facts.effects);
  const removed = removedWorktrees({ ...facts.effects, gitCalls }, tree);
  if (removed.length === 0) return [];
  const people = await facts.people();
  const { live } = people;
  for (const { top, gitDir, by } of removed) {
    const worktreeId = knownWorktreeId(gitDir);
    const here = live.filter((one) => one.worktreeId === worktreeId);
    const user = here.find(
      (one) => !isVisitor(one, live) || hasWork(tree, worktreeId, one.record.session),
    )?.record;
    if (user === undefined) continue;
    const text =
      `\`${escapeLine(by)}\` would remove or move the worktree ${escapeLine(basename(top))}, in which ` +
      `${peerName(user.session, people)} is at work. Nothing was changed. Wait until that session ` +
      `has ended. To see who works where: ${typedAt(call).git} handoff sessions`;
    return [refusedFor(text, [user.session])];
  }
  return [];
}

/** Whether the session works in another worktree, and has only visited this one. */
function isVisitor({ record, worktreeId }: JudgedSession, live: readonly JudgedSession[]): boolean {
  return live.some(
    (one) =>
      one.record.session === record.session &&
      one.worktreeId !== worktreeId &&
      one.record.startedAt < record.startedAt,
  );
}

function hasWork({ commonDir }: Worktree, worktreeId: string | undefined, session: SessionId): boolean {
  const own = readLedgers({ commonDir, worktreeId: worktreeId ?? '' }).filter(
    (one) => sessionOfOwner(one.session) === session,
  );
  return own.some(({ claims, commands }) => claims.size + commands.size > 0);
}
