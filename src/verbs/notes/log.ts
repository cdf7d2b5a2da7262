import type { HandoffCommit } from '../../domain/handoff.ts';
import { acknowledgedOf, readerName } from '../../domain/reader.ts';
import { checkStep } from '../../domain/transition.ts';
import { openRepository } from '../../git/repository.ts';
import { ackOf, readAcks } from '../../notes/acks.ts';
import { readHistory } from '../../notes/topic.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CommandResult } from '../verb.ts';
import { findTopic, requireTip } from '../../notes/find-topic.ts';
import { NOBODY, findReader, readerFacts } from './reader.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import type { StepName, VersionShape } from '../shapes.ts';
import { handoffShape } from '../handoff-shape.ts';
import { openWorkspace } from '../workspace.ts';
import { Failure } from '../../domain/failure.ts';
import { escapeLine } from '../../domain/surfacing.ts';

interface LogOptions {
  readonly topic: string | undefined;
  /** Whether to find out who reads, to show what is unread. It costs processes. */
  readonly reading: boolean;
  readonly session: string | undefined;
}

export interface LogValue {
  readonly branch: string;
  readonly topic: string;
  readonly items: readonly VersionShape[];
}

/** Shows the history of a topic, newest first: who wrote it when, and how its owner changed. */
export async function log(options: LogOptions, context: Context): Promise<CommandResult<LogValue>> {
  const repository = await openRepository(context.cwd);
  const [workspace, facts] = await Promise.all([
    openWorkspace(context, repository),
    options.reading ? readerFacts(repository, context) : NOBODY,
  ]);
  const reader = findReader(facts, context, workspace, options.session);
  const state = await findTopic(repository, options.topic);
  const [history, acks] = await Promise.all([
    readHistory(repository, requireTip(state).oid),
    options.reading ? readAcks(repository, state.path) : new Map(),
  ]);
  const read = new Set(acknowledgedOf(history, ackOf(acks, state.path, readerName(reader) ?? '')));
  const known = new Map<string, HandoffCommit>(history.map((commit) => [commit.oid, commit]));
  const items = history.map((commit) => ({
    ...handoffShape(state, commit, reader, read.has(commit.oid) ? commit.oid : undefined),
    step: stepOf(known.get(commit.parents[0] ?? ''), commit),
  }));
  return {
    value: { branch: state.branch, topic: state.topic, items },
    notices: [...workspace.notices, ...(await reportIllegalMoves(repository, [state], context.now))],
  };
}

/** Returns the step from a parent to a commit. It reports a merge as such, without loading the second parent. */
function stepOf(parent: HandoffCommit | undefined, commit: HandoffCommit): StepName {
  if (commit.parents.length > 1) return 'merge';
  const verdict = checkStep(parent === undefined ? [] : [parent], commit);
  return verdict.legal ? verdict.step : 'illegal';
}

/** Filters a history, newest first, to the line of first parents, on top of which merges were made. */
export function firstLine(history: readonly HandoffCommit[]): HandoffCommit[] {
  let next = history[0]?.oid;
  return history.filter((commit) => {
    if (commit.oid !== next) return false;
    next = commit.parents[0];
    return true;
  });
}

/**
 * Finds a version of a topic by its object name or the beginning of it.
 *
 * @param name the topic as people type it
 * @throws Failure `not-found`, or `usage` for what cannot be an object name
 */
export function versionIn(history: readonly HandoffCommit[], text: string, name: string): HandoffCommit {
  const isName = /^[0-9a-f]{4,64}$/.test(text);
  const found = isName ? history.filter(({ oid }) => oid.startsWith(text)) : [];
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  throw new Failure(
    isName ? 'not-found' : 'usage',
    `${name} has no version ${escapeLine(JSON.stringify(text))}`,
    {
      hint: `git handoff log ${name}`,
    },
  );
}
