import { Failure } from '../domain/failure.ts';
import type { HandoffCommit } from '../domain/handoff.ts';
import { loadCommits } from '../git/commits.ts';
import { encodeBranch, handoffRef } from '../git/namespace.ts';
import type { Repository } from '../git/repository.ts';
import { listLost, readLost } from '../store/lost.ts';
import { type TopicState, readHistory } from '../store/topic.ts';
import { type CommandResult, type Context, findSession } from './context.ts';
import { findTopic, newestTopic, requireTip } from './find-topic.ts';
import { reportIllegalMoves } from './report-illegal.ts';
import {
  type HandoffShape,
  type LostShape,
  type NoteShape,
  handoffShape,
  noteShape,
  timestamp,
} from './shapes.ts';
import { parseTopicArgument, typedTopic } from './topic-argument.ts';
import { versionIn } from './versions.ts';
import { openWorkspace } from './workspace.ts';

export interface ShowOptions {
  readonly topic: string | undefined;
  /** Only the note's bytes. */
  readonly raw: boolean;
  /** A version of the topic's history. */
  readonly at: string | undefined;
  /** `true`: list the kept texts; a number: print that one. */
  readonly lost: boolean | number;
  readonly session: string | undefined;
}

export type ShowValue =
  | ({ readonly kind: 'handoff' } & HandoffShape & NoteShape)
  /** With the text of the one that was asked for. */
  | ({ readonly kind: 'lost'; readonly items: readonly LostShape[] } & Partial<NoteShape>);

/**
 * Shows a note (of the newest open handoff when none is named), one of its versions, or the texts that
 * were kept when a write was refused.
 */
export async function show(options: ShowOptions, context: Context): Promise<CommandResult<ShowValue>> {
  const { repository, sessions, notices } = await openWorkspace(context);
  if (options.lost !== false) return showLost(repository, options);
  const state =
    options.topic === undefined
      ? await newestTopic(repository, encodeBranch(repository.branch))
      : await findTopic(repository, options.topic, { note: true });
  const reader = findSession(context, sessions, options.session)?.id;
  const moved = await reportIllegalMoves(repository, [state], context.now);
  const { commit, note } = await version(repository, state, options.at);
  const shape = handoffShape({ ...state, ref: handoffRef(state.path) }, commit, reader);
  return {
    value: { kind: 'handoff', ...shape, ...noteShape(note) },
    notices: [...notices, ...moved],
    ...(options.raw ? { bytes: note } : {}),
  };
}

async function version(
  repository: Repository,
  state: TopicState & { note?: Buffer | undefined },
  at: string | undefined,
): Promise<{ commit: HandoffCommit; note: Buffer }> {
  const tip = requireTip(state);
  if (at === undefined && state.note !== undefined) return { commit: tip, note: state.note };
  const wanted =
    at === undefined
      ? tip.oid
      : versionIn(await readHistory(repository, tip.oid), at, typedTopic(state.branch, state.topic)).oid;
  const [commit] = await loadCommits({ cwd: repository.cwd }, [wanted], { notes: true });
  if (commit?.note !== undefined) return { commit, note: commit.note };
  throw new Failure('integrity', `the note of ${wanted} cannot be read`, {
    hint: 'git fsck --connectivity-only',
  });
}

async function showLost(repository: Repository, options: ShowOptions): Promise<CommandResult<ShowValue>> {
  if (options.topic === undefined) {
    throw new Failure('usage', '--lost needs a topic', { hint: 'git handoff list --all' });
  }
  const target = parseTopicArgument(options.topic, repository);
  const name = typedTopic(target.branch, target.topic);
  const texts = await listLost(repository, target.path);
  const items = texts
    .filter(({ number }) => options.lost === true || number === options.lost)
    .map(({ ref, number, details }) => ({
      number,
      ref,
      kind: details.kind,
      session: details.session,
      createdAt: timestamp(details.at),
      reason: details.reason,
    }));
  if (typeof options.lost === 'number') {
    const bytes = await readLost(repository, target.path, options.lost);
    if (bytes !== undefined) return { value: { kind: 'lost', items, ...noteShape(bytes) }, bytes };
    throw new Failure('not-found', `${name} has no kept text ${options.lost}`, {
      hint: `git handoff show ${name} --lost`,
    });
  }
  return { value: { kind: 'lost', items }, exitCode: items.length === 0 ? 1 : 0 };
}
