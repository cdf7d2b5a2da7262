import type { Settings } from '../domain/settings.ts';
import { escapeLine, shellWord } from '../domain/surfacing.ts';
import type { IllegalReason } from '../domain/transition.ts';
import {
  HANDOFFS,
  KEPT,
  decodeBranch,
  keptRef,
  parsePath,
  parseWorkRef,
  remoteWorkPrefix,
} from '../git/namespace.ts';
import type { PushedRef } from '../git/push-range.ts';
import { listRefNames } from '../git/refs.ts';
import type { GitOptions } from '../git/run.ts';
import { type HandoffMove, judgeMoves } from '../notes/moves.ts';
import { reasonText } from '../notes/report-illegal.ts';
import { typedTopic } from '../notes/topic-argument.ts';
import { judgeWork, workIn } from '../notes/work/pushed-work.ts';

/** The refusals of pushed work: it may only be created, within the bounds of its format. */
export async function illegalWork(
  options: GitOptions,
  refs: readonly PushedRef[],
  { remotePrefix, maxWork }: Settings,
): Promise<string[]> {
  if (!refs.some(({ remoteRef }) => remoteRef.includes('-work'))) return [];
  const lines: string[] = [];
  for (const work of workIn(refs, [HANDOFFS, remotePrefix])) {
    const why = await judgeWork({ cwd: options.cwd }, work, maxWork);
    if (why === undefined) continue;
    const verb = why === 'deleted' ? 'close' : 'push --with-work';
    const path = parseWorkRef(work.ref.remoteRef, remoteWorkPrefix(work.prefix));
    const branch = path === undefined ? undefined : decodeBranch(path.component);
    const isKnown = path !== undefined && branch !== undefined;
    const hint = isKnown ? `${verb} ${typedTopic(branch, path.topic)}` : 'list';
    lines.push(`error: ${escapeLine(work.ref.remoteRef)}: ${why}`, `hint: git handoff ${hint}`);
  }
  return lines;
}

/** Handoffs may only move as everybody's may: the lines that refuse the others; none when all are legal. */
export async function illegalPushes(
  options: GitOptions,
  remote: string,
  refs: readonly PushedRef[],
): Promise<string[]> {
  const lines: string[] = [];
  const reasons = await judgePushes(options, refs);
  for (const [at, ref] of refs.entries()) {
    const reason = reasons[at];
    // A later version's commit is not ours to judge.
    if (reason === undefined || reason === 'unknown format version') continue;
    lines.push(
      `error: ${escapeLine(ref.remoteRef)}: ${reasonText(reason)}`,
      `hint: ${nextCommand(ref, reason, remote)}`,
    );
  }
  return lines;
}

/** Why each of the pushed handoffs may not move; `undefined` where it may. */
async function judgePushes(
  options: GitOptions,
  refs: readonly PushedRef[],
): Promise<(IllegalReason | undefined)[]> {
  const moves = refs.map(({ local, remoteRef, remote }): HandoffMove | IllegalReason => {
    if (local === undefined) return 'deleted';
    const path = parsePath(remoteRef, HANDOFFS);
    return path === undefined ? 'names another branch or topic' : { path, old: remote, next: local };
  });
  const isAccepted = await acceptedBefore(options, moves.length);
  const open = moves.filter((move) => typeof move === 'object').filter((move) => !isAccepted(move));
  const judged = await judgeMoves({ cwd: options.cwd }, open);
  const reasons = new Map(open.map((move, at) => [move, judged[at]]));
  return moves.map((move) => (typeof move === 'object' ? reasons.get(move) : move));
}

/** From so many on it is cheaper to ask what has been judged here already. */
const MANY = 100;

/** What was kept has been judged from its root on, when it was written or accepted: new there, it need not be again. */
async function acceptedBefore({ cwd }: GitOptions, count: number): Promise<(move: HandoffMove) => boolean> {
  if (count < MANY) return () => false;
  const kept = new Map((await listRefNames({ cwd }, [KEPT])).map(({ name, oid }) => [name, oid]));
  return ({ path, old, next }) => old === undefined && kept.get(keptRef(path)) === next;
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
