import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import type { IllegalReason } from '../../domain/transition.ts';
import { HANDOFFS, decodeBranch, parsePath } from '../../git/namespace.ts';
import { readObjects } from '../../git/objects.ts';
import type { PushedRef } from '../../git/push-range.ts';
import type { GitOptions } from '../../git/run.ts';
import { judgeMoves } from '../../store/moves.ts';
import { reasonText } from '../report-illegal.ts';
import { typedTopic } from '../topic-argument.ts';

/** Handoffs may only move as everybody's may: the lines that refuse the others; none when all are legal. */
export async function illegalPushes(
  options: GitOptions,
  remote: string,
  refs: readonly PushedRef[],
): Promise<string[]> {
  const lines: string[] = [];
  for (const ref of refs) {
    const reason = await judgePush(options, ref);
    // A later version's commit is not ours to judge.
    if (reason === undefined || reason === 'unknown format version') continue;
    lines.push(
      `error: ${escapeLine(ref.remoteRef)}: ${reasonText(reason)}`,
      `hint: ${nextCommand(ref, reason, remote)}`,
    );
  }
  return lines;
}

async function judgePush(
  options: GitOptions,
  { local, remoteRef, remote }: PushedRef,
): Promise<IllegalReason | undefined> {
  if (local === undefined) return 'deleted';
  const path = parsePath(remoteRef, HANDOFFS);
  if (path === undefined) return 'names another branch or topic';
  const names = remote === undefined ? [local] : [local, remote];
  const found = await readObjects(
    options,
    names.map((name) => ({ name, infoOnly: true })),
  );
  // What we have never seen is in no history of ours.
  if (found.some((object) => object?.type !== 'commit')) return 'not a descendant';
  const [reason] = await judgeMoves({ cwd: options.cwd }, [{ path, old: remote, next: local }]);
  return reason;
}

function nextCommand({ remoteRef }: PushedRef, reason: IllegalReason, remote: string): string {
  const path = parsePath(remoteRef, HANDOFFS);
  const branch = path === undefined ? undefined : decodeBranch(path.component);
  if (reason === 'deleted' && path !== undefined && branch !== undefined)
    return `git handoff close ${shellWord(typedTopic(branch, path.topic))}`;
  if (reason === 'not a descendant') {
    const name = /^\w[\w.-]*$/.test(remote) ? remote : 'fetched';
    const refspec = `+${HANDOFFS}*:refs/handoffs-remote/${name}/*`;
    return `git fetch ${shellWord(remote)} ${shellWord(refspec)}`;
  }
  return 'git handoff doctor --fix';
}
