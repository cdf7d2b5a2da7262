import { type HandoffCommit, NOTE_FILE } from '../../domain/handoff.ts';
import { acknowledgedOf, readerName } from '../../domain/note-owner.ts';
import { checkStep } from '../../domain/transition.ts';
import { openRepository, type InRepository } from '../../git/repository.ts';
import { ackOf, readAcks } from '../../notes/whose-note.ts';
import { readHistory } from '../../notes/topic.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import type { CommandResult } from '../verb.ts';
import { findTopic, requireTip, typedTopic } from '../../notes/topic-argument.ts';
import { NOBODY, findReader, readerFacts } from './reader.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import type { StepName, VersionShape, HandoffShape } from '../shapes.ts';
import { handoffShape } from '../handoff-shape.ts';
import { openWorkspace } from '../workspace.ts';
import { Failure } from '../../domain/failure.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import type { Oid } from '../../domain/names.ts';
import { loadCommits, noteNames } from '../../git/commits.ts';
import { gitFailure, runGit } from '../../git/run.ts';

interface LogOptions {
  readonly topic: string | undefined;
  /** Whether to find out who the reader is, to show what is unread. This costs processes. */
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

/** Returns the step from a parent to a commit. For a merge, the first parent is enough. */
function stepOf(parent: HandoffCommit | undefined, commit: HandoffCommit): StepName {
  if (commit.parents.length > 1) return 'merge';
  const verdict = checkStep(parent === undefined ? [] : [parent], commit);
  return verdict.legal ? verdict.step : 'illegal';
}

/** Reduces a history, newest first, to the chain of first parents, without the versions that merges brought in. */
function firstLine(history: readonly HandoffCommit[]): HandoffCommit[] {
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
  const message = `${name} has no version ${escapeLine(JSON.stringify(text))}`;
  throw new Failure(isName ? 'not-found' : 'usage', message, { hint: `git handoff log ${name}` });
}

interface DiffOptions {
  readonly topic: string | undefined;
  /** Object names of versions, whole or abbreviated; empty: the last change of the note. */
  readonly versions: readonly string[];
  readonly session: string | undefined;
}

export interface NoteDiffValue {
  /** The older version; `null` when there was none. */
  readonly from: HandoffShape | null;
  readonly to: HandoffShape;
  /** Hunks as git-diff(1) prints them; empty when the notes are the same. */
  readonly diff: string;
}

/** Shows what changed in a note between two of its versions, or else in its last change. */
export async function diffNotes(
  options: DiffOptions,
  context: Context,
): Promise<CommandResult<NoteDiffValue>> {
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

/** Returns the newest version whose note differs from the tip's, or is missing: takes and closes change no note. */
async function lastOther(history: readonly HandoffCommit[], cwd: string): Promise<HandoffCommit | undefined> {
  const oids = history.map(({ oid }) => oid);
  const notes = await noteNames({ cwd }, oids);
  const [tip] = history;
  return history.find(({ oid }) => tip !== undefined && notes.get(oid) !== notes.get(tip.oid));
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

/** Returns a first version as a diff from nothing. */
function added(note: Buffer | undefined): Buffer {
  const lines = (note?.toString('utf8') ?? '').replace(/\n$/, '').split('\n');
  return Buffer.from(`@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`);
}

/**
 * Returns the hunks between the notes of two handoff commits, as git-diff(1) prints them without its header; empty when
 * the notes are the same. It runs no diff program that the repository or the user configured.
 *
 * @throws Failure when git cannot read one of the notes
 */
async function noteHunks(repository: InRepository, from: Oid, to: Oid): Promise<Buffer> {
  const quiet = [
    '--no-ext-diff',
    '--no-textconv',
    '--no-color',
    '--no-renames',
    '--no-relative',
    '--text',
    '--unified=3',
  ];
  const notes = [`${from}:${NOTE_FILE}`, `${to}:${NOTE_FILE}`];
  const result = await runGit(['diff', ...quiet, '--end-of-options', ...notes], { cwd: repository.cwd });
  if (result.code !== 0) throw gitFailure('diff', result);
  const at = result.stdout.indexOf('\n@@ ');
  return at < 0 ? Buffer.alloc(0) : result.stdout.subarray(at + 1);
}
