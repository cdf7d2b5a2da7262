import { MAX_COMMIT_BYTES, MAX_NOTE_BYTES } from '../domain/handoff.ts';
import { shortId } from '../domain/names.ts';
import { handoffRef, keptRef } from '../git/namespace.ts';
import { escapeLine } from '../domain/messages.ts';
import type { IllegalReason } from '../domain/transition.ts';
import type { Repository } from '../git/repository.ts';
import type { TopicState } from './topic.ts';
import { typedTopic } from './topic-argument.ts';
import { loadCommits } from '../git/commits.ts';
import { type TransactionResult, updateRefs } from '../git/refs.ts';
import { listLost, saveLost } from './lost.ts';

/** More illegal moves than this are only counted, because it takes several processes to record one. */
const FEW = 20;

/**
 * Reports public refs that were moved by hand, each bad value once, and keeps the texts that they point at. In a repository that
 * cannot be written to, every call reports them, because nothing can be recorded. If there are many, only counts them.
 */
export async function reportIllegalMoves(
  repository: Repository,
  states: readonly TopicState[],
  now: number,
): Promise<string[]> {
  const illegal = states.filter((state) => state.illegal !== undefined);
  if (illegal.length > FEW) {
    return [
      `${illegal.length} handoffs were moved behind git-handoff's back. To put them back: git handoff doctor --fix`,
    ];
  }
  const notices: string[] = [];
  for (const state of illegal) {
    const isFirst = await recordIllegalMove(repository, state, now).catch(() => true);
    if (isFirst) notices.push(describe(state));
  }
  return notices;
}

/** Why a move is illegal, in plain words. */
export function reasonText(reason: IllegalReason): string {
  return PLAIN_WORDS[reason] ?? reason;
}

const PLAIN_WORDS: Partial<Record<IllegalReason, string>> = {
  'not a descendant': 'rewound or replaced',
  'no commit': 'points at something that is not a commit',
  'commit too large': `a commit object of more than ${MAX_COMMIT_BYTES / 1024} KiB`,
  'too many files': 'a commit with more files than a note has',
  'note too large': `a note of more than ${MAX_NOTE_BYTES / 1024 / 1024} MiB`,
};

/** Whether the ref still points at the kept tip, but that commit cannot be read. */
export const isUnreadable = ({ tip, keptOid, illegal }: TopicState): boolean =>
  tip === undefined && keptOid !== undefined && illegal?.bad === keptOid;

function describe(state: TopicState): string {
  if (isUnreadable(state))
    return `${escapeLine(handoffRef(state.path))}: ${truth(state)}. See: git handoff doctor`;
  const reason = state.illegal?.reason ?? 'deleted';
  const what = reason === 'deleted' ? 'was deleted' : 'was moved';
  const how = reason === 'deleted' ? '' : ` (${reasonText(reason)})`;
  const name = typedTopic(state.branch, state.topic);
  return (
    `${escapeLine(handoffRef(state.path))} ${what} behind git-handoff's back${how}; ${truth(state)}. ` +
    `What was there: git handoff show ${name} --lost. To put it back: git handoff doctor --fix`
  );
}

function truth({ tip, keptOid }: TopicState): string {
  if (tip !== undefined) return `the handoff is still ${shortId(tip.oid)}`;
  if (keptOid === undefined) return 'there was no handoff before';
  return `its last commit ${shortId(keptOid)} cannot be read`;
}

/** Records a move by hand, and keeps the text at the moved ref as a lost text. Returns false if it was recorded before. */
export async function recordIllegalMove(
  repository: Repository,
  state: TopicState,
  at: number,
): Promise<boolean> {
  const { illegal, keptOid } = state;
  if (illegal === undefined) return false;
  const bad = illegal.bad ?? null;
  const known = await listLost(repository, state.path);
  const isRecorded = known.some(
    ({ details }) =>
      details.kind === 'illegal-move' && (details.bad ?? null) === bad && details.tip === (keptOid ?? null),
  );
  if (isRecorded) return false;
  const [loaded] =
    illegal.bad === undefined
      ? []
      : await loadCommits({ cwd: repository.cwd }, [illegal.bad], { notes: true });
  await saveLost(repository, state.path, loaded?.note ?? Buffer.alloc(0), {
    kind: 'illegal-move',
    session: loaded?.trailers?.owner ?? null,
    at,
    reason: illegal.reason,
    tip: keptOid ?? null,
    bad,
  });
  return true;
}

/** Puts the public ref back to `kept` (doctor --fix), if it still has the value that was seen. */
export async function restoreKeptTip(repository: Repository, state: TopicState): Promise<TransactionResult> {
  const update = { ref: handoffRef(state.path), next: state.keptOid, old: state.publicOid };
  return updateRefs(repository, [update], { reflog: 'handoff: restore' });
}

/** Moves `kept` to a public ref that has legally moved without it (a crash between the two moves, a plain fetch). */
export async function foldTopic(repository: Repository, state: TopicState): Promise<TransactionResult> {
  return updateRefs(repository, [{ ref: keptRef(state.path), next: state.publicOid, old: state.keptOid }]);
}
