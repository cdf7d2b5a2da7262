import type { Verdict } from '../../agents/dialect.ts';
import { namedPeer, namesOwn } from '../../domain/ledger/ownership.ts';
import { type SessionId, shortId } from '../../domain/names.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { type HeadCommit, headCommit } from '../../git/commit-sessions.ts';
import type { Scene } from '../scene.ts';
import { sidesNow } from '../sides-now.ts';
import { ledgerOf, lookingTime } from '../../changes/work-place.ts';

/** The subject by which other tools mark a commit that is only their working copy. */
const WORKSPACE = '[Claude Workspace]';

/** The strict check, where it is asked for and the session is not alone. */
export async function headVerdict(scene: Scene, session: SessionId): Promise<Verdict | undefined> {
  const { place, settings } = scene;
  if (settings.headCheck !== 'strict' || place === undefined || ledgerOf(place, session) === undefined) {
    return undefined;
  }
  return strictHead(scene, place, session);
}

/**
 * `handoff.headCheck=strict`: nothing is done on top of a commit that belongs to another live session. The cases and
 * the shape of the messages are those of jjagent's concurrent session detection.
 */
async function strictHead(
  scene: Scene,
  found: FoundRepository,
  session: SessionId,
): Promise<Verdict | undefined> {
  const [head, sides] = await Promise.all([
    headCommit(found.workTree, lookingTime(scene)),
    sidesNow(scene, found, session),
  ]);
  if (head === undefined) return undefined;
  if (head.sessions.some((one) => namesOwn(one, sides))) return undefined;
  const other = head.sessions.map((one) => namedPeer(one, sides)).find((id) => id !== undefined);
  const when = scene.event.kind === 'after-tool' ? 'original working copy' : 'working copy';
  const text =
    other !== undefined
      ? concurrent(head, session, other, when)
      : head.subject.startsWith(WORKSPACE)
        ? workspace(head, session, when)
        : undefined;
  if (text === undefined) return undefined;
  return scene.event.kind === 'after-tool' ? { kind: 'context', text } : { kind: 'deny', reason: text };
}

function concurrent(head: HeadCommit, session: SessionId, other: SessionId, what: string): string {
  return [
    'Error: Concurrent Claude session detected',
    '',
    `The ${what} is a Claude change from another session.`,
    'Another Claude Code session is likely active in this repo.',
    '',
    'To fix:',
    '1. See who it is: git handoff sessions',
    '2. Wait for it to end, or work in a tree of your own: git worktree add -b <branch> ../<folder>',
    '3. Then try again.',
    '',
    `Current change: ${head.oid.slice(0, 12)}`,
    `This session:   ${shortId(session)}`,
    `Other session:  ${shortId(other)}`,
  ].join('\n');
}

function workspace(head: HeadCommit, session: SessionId, what: string): string {
  return [
    'Error: Temporary workspace detected',
    '',
    `The ${what} is a temporary workspace of another Claude session.`,
    'Another Claude Code session is likely active in this repo.',
    '',
    'To fix:',
    '1. See who it is: git handoff sessions',
    '2. Wait for it to end, or work in a tree of your own: git worktree add -b <branch> ../<folder>',
    `3. If it was left behind: git revert ${head.oid.slice(0, 12)}`,
    '',
    `Current change: ${head.oid.slice(0, 12)}`,
    `This session:   ${shortId(session)}`,
  ].join('\n');
}
