import { Failure } from '../../domain/failure.ts';
import type { HandoffCommit } from '../../domain/handoff.ts';
import { loadCommits } from '../../git/commits.ts';
import { noteHunks } from '../../git/note-diff.ts';
import { readHistory } from '../../notes/topic.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import type { CommandResult } from '../result.ts';
import { findTopic, requireTip } from '../../notes/find-topic.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import type { HandoffShape } from '../shapes.ts';
import { handoffShape } from '../handoff-shape.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import { firstLine, versionIn } from './versions.ts';
import { openWorkspace } from '../workspace.ts';

interface DiffOptions {
  readonly topic: string;
  /** Versions by their object names or beginnings of them; none: what the last change of the note changed. */
  readonly versions: readonly string[];
  readonly session: string | undefined;
}

export interface DiffValue {
  /** `null`: there was nothing before. */
  readonly from: HandoffShape | null;
  readonly to: HandoffShape;
  /** Hunks as git-diff(1) prints them; empty when the notes are the same. */
  readonly diff: string;
}

/** What changed in a note between two of its versions: by default, what its last change changed. */
export async function diff(options: DiffOptions, context: Context): Promise<CommandResult<DiffValue>> {
  const { repository, sessions, notices } = await openWorkspace(context);
  const state = await findTopic(repository, options.topic);
  const history = await readHistory(repository, requireTip(state).oid);
  const name = typedTopic(state.branch, state.topic);
  const [first, second] = options.versions.map((text) => versionIn(history, text, name));
  const to = second ?? history[0] ?? requireTip(state);
  const from = first ?? (await lastOther(firstLine(history), context.cwd));
  const [note] = await readNotes(from === undefined ? [to] : [to, from], context.cwd);
  const hunks = from === undefined ? added(note) : await noteHunks(repository, from.oid, to.oid);
  const reader = findSession(context, sessions, options.session)?.id;
  const shape = (commit: HandoffCommit) => handoffShape(state, commit, reader);
  return {
    value: { from: from === undefined ? null : shape(from), to: shape(to), diff: hunks.toString('utf8') },
    notices: [...notices, ...(await reportIllegalMoves(repository, [state], context.now))],
  };
}

/** The newest version whose note is not the tip's, or cannot be read: takes and closes leave it as it is. */
async function lastOther(history: readonly HandoffCommit[], cwd: string): Promise<HandoffCommit | undefined> {
  const oids = history.map(({ oid }) => oid);
  const loaded = await loadCommits({ cwd }, oids, { notes: true });
  const tip = loaded[0]?.note;
  const at = loaded.findIndex((one) => tip !== undefined && one?.note?.equals(tip) !== true);
  return history[at];
}

async function readNotes(versions: readonly HandoffCommit[], cwd: string): Promise<Buffer[]> {
  const oids = versions.map(({ oid }) => oid);
  const loaded = await loadCommits({ cwd }, oids, { notes: true });
  return oids.map((oid, at) => {
    const note = loaded[at]?.note;
    if (note !== undefined) return note;
    throw new Failure('integrity', `the note of ${oid} cannot be read`, {
      hint: 'git fsck --connectivity-only',
    });
  });
}

/** A first version, as a diff from nothing. */
function added(note: Buffer | undefined): Buffer {
  const lines = (note?.toString('utf8') ?? '').replace(/\n$/, '').split('\n');
  return Buffer.from(`@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`);
}
