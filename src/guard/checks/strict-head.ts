import { namedPeer, namesOwn } from '../../domain/ledger/ownership.ts';
import { shortId } from '../../domain/names.ts';
import type { TreeCall, Finding } from '../call.ts';
import type { TreeFacts } from '../facts.ts';

/** The subject with which other tools mark a commit that only holds their working copy. */
const WORKSPACE = '[Claude Workspace]';

/**
 * With `handoff.headCheck=strict`, refuses work on top of another live session's commit. The cases and the form of the messages
 * are those of jjagent's concurrent session detection.
 */
export async function strictHead(call: TreeCall, facts: TreeFacts): Promise<readonly Finding[]> {
  const text = await headOfOthers(call, facts, 'working copy');
  return text === undefined ? [] : [{ kind: 'refuse', text, allowedBy: 'person' }];
}

/** Returns the message for a session that is not alone, if HEAD is another session's commit. */
export async function headOfOthers(
  call: TreeCall,
  { ledger, people, git }: TreeFacts,
  what: 'working copy' | 'original working copy',
): Promise<string | undefined> {
  if (ledger() === undefined) return undefined;
  const { session, tree } = call;
  const [head, groups] = await Promise.all([git.head(tree.workTree), people()]);
  if (head === undefined || head.sessions.some((one) => namesOwn(one, groups))) return undefined;
  const other = head.sessions.map((one) => namedPeer(one, groups)).find((id) => id !== undefined);
  const isWorkspace = head.subject.startsWith(WORKSPACE);
  if (other === undefined && !isWorkspace) return undefined;
  const commit = head.oid.slice(0, 12);
  const [error, change, last] =
    other === undefined
      ? [
          'Temporary workspace',
          'temporary workspace of another Claude session',
          `If it was left behind: git revert ${commit}`,
        ]
      : ['Concurrent Claude session', 'Claude change from another session', 'Then try again.'];
  return [
    `Error: ${error} detected`,
    '',
    `The ${what} is a ${change}.`,
    'Another Claude Code session is likely active in this repo.',
    '',
    'To fix:',
    '1. See who it is: git handoff sessions',
    '2. Wait for it to end, or work in a worktree of your own: git worktree add -b <branch> ../<folder>',
    `3. ${last}`,
    '',
    `Current change: ${commit}`,
    `This session:   ${shortId(session)}`,
    ...(other === undefined ? [] : [`Other session:  ${shortId(other)}`]),
  ].join('\n');
}
