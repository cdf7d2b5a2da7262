import { MAX_NOTE_BYTES, recordState, summarise } from '../../domain/handoff.ts';
import type { Oid } from '../../domain/names.ts';
import { Failure } from '../../domain/failure.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { TextMerger } from '../../git/merge-file.ts';
import { branchTip, committer, workTreeFacts } from '../../git/repository.ts';
import type { Difference } from '../../notes/sync/differences.ts';
import { type Lines, mergeLines, readLines } from '../../notes/sync/merge.ts';
import { findCaller, worktreeName } from '../../sessions/caller.ts';
import { judgeNote, looksLike } from '../../notes/secrets/check-note.ts';
import { commitOwner } from '../../notes/person-name.ts';
import { keptText } from '../../notes/refusal.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import type { MergeNote, SyncWorld } from './world.ts';

/** Merges both lines of each divergence, in the name of whoever calls. `undefined`: the handoff moved meanwhile. */
export async function mergeConflicts(
  world: SyncWorld,
  differences: readonly Difference[],
  mergeNote: MergeNote,
): Promise<{ readonly difference: Difference; readonly oid: Oid | undefined }[]> {
  const merger = new TextMerger();
  const merged = [];
  try {
    for (const difference of differences)
      merged.push({ difference, oid: await mergeOne(world, difference, merger, mergeNote) });
  } finally {
    merger.close();
  }
  return merged;
}

async function mergeOne(
  { repository, sessions, context, options }: SyncWorld,
  difference: Difference,
  merger: TextMerger,
  mergeNote: MergeNote,
): Promise<Oid | undefined> {
  const { cwd } = context;
  const { branch = '', topic = '' } = difference.here ?? {};
  const lines = await readLines(repository, difference);
  const { ours, theirs, baseNote } = lines;
  const names = [sideName(ours), 'before', sideName(theirs)] as const;
  const { content, conflicts } = await merger.withMarkers(ours.note, baseNote, theirs.note, names);
  const note = await mergeNote({ branch, topic, text: content, conflicts });
  checkMerged(note);
  const verdict = await judgeNote(note, options.allowSecret, cwd);
  if (verdict.kind === 'refuse')
    throw new Failure('secret', `${looksLike(verdict.findings)}; ${keptText(note)}`, {
      hint: 'git handoff sync --merge',
    });
  const [tree, author] = await Promise.all([workTreeFacts(cwd), committer(cwd)]);
  const caller = findCaller(context, sessions, options.session, author);
  const isHere = branch === repository.branch;
  const base = isHere
    ? tree.head
    : difference.here === undefined
      ? undefined
      : await branchTip(repository, difference.here.branch);
  const state = difference.here;
  if (state === undefined)
    throw new Failure('internal', `nothing to merge ${typedTopic(branch, topic)} with`);
  return mergeLines(repository, difference, lines, {
    me: caller.id,
    note,
    summary: summarise(Buffer.from(note).toString('utf8'), escapeLine),
    recorded: recordState({
      ...tree,
      branch: state.branch,
      topic: state.topic,
      head: base,
      client: caller.client,
      worktree: worktreeName(repository),
    }),
    base,
    client: caller.client,
    author,
    seconds: Math.floor(context.now / 1000),
  });
}

/** What an editor gave back must be a note, and decided. */
function checkMerged(note: Uint8Array): void {
  const refuse = (code: 'refused' | 'usage', what: string) =>
    new Failure(code, `${what}; ${keptText(note)}`, { hint: 'git handoff sync --merge' });
  if (hasMarkers(note)) throw refuse('refused', 'conflict markers are left in the note');
  if (note.length > MAX_NOTE_BYTES)
    throw refuse('usage', `the note has ${note.length} bytes, at most ${MAX_NOTE_BYTES} (1 MiB) are allowed`);
  if (Buffer.from(note).toString('latin1').trim() === '')
    throw new Failure('usage', 'the note is empty; nothing was merged', { hint: 'git handoff sync --merge' });
}

const sideName = (commit: Lines['ours']) => commitOwner(commit) ?? 'unknown';

/** git's own conflict markers, at the beginning of a line. */
function hasMarkers(note: Uint8Array): boolean {
  const text = Buffer.from(note).toString('latin1');
  return /^<<<<<<< /m.test(text) && /^>>>>>>> /m.test(text);
}
