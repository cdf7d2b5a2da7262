import { escapeLine, Failure } from '../../domain/messages.ts';
import { type HandoffCommit, NOTE_FILE } from '../../domain/handoff.ts';
import type { Oid } from '../../domain/names.ts';
import { acknowledgedOf, readerName } from '../../domain/note-owner.ts';
import { checkStep } from '../../domain/transition.ts';
import { noteNames } from '../../git/commits.ts';
import { gitFailure, runGit } from '../../git/run.ts';
import { readHistory } from '../../notes/topic.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import { ackOf, readAcks } from '../../notes/whose-note.ts';
import type { Context } from '../../sessions/caller.ts';
import { handoffShape } from '../handoff-shape.ts';
import type { HandoffShape, StepName, VersionShape } from '../shapes.ts';
import type { CommandResult } from '../verb.ts';
import { loadVersion, openTopic } from './reader.ts';

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
  const { repository, state, tip, reader, notices } = await openTopic(options, context);
  const [history, acks] = await Promise.all([
    readHistory(repository, tip.oid),
    options.reading ? readAcks(repository, state.path) : new Map(),
  ]);
  const read = new Set(acknowledgedOf(history, ackOf(acks, state.path, readerName(reader) ?? '')));
  const known = new Map<string, HandoffCommit>(history.map((commit) => [commit.oid, commit]));
  const items = history.map((commit) => ({
    ...handoffShape(state, commit, reader, read.has(commit.oid) ? commit.oid : undefined),
    step: stepOf(known.get(commit.parents[0] ?? ''), commit),
  }));
  return { value: { branch: state.branch, topic: state.topic, items }, notices };
}

/** Returns the step from a parent to a commit. */
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
  const { repository, state, tip, reader, notices } = await openTopic(options, context);
  const history = await readHistory(repository, tip.oid);
  const name = typedTopic(state.branch, state.topic);
  const [first, second] = options.versions.map((text) => versionIn(history, text, name));
  const to = second ?? history[0] ?? tip;
  const from = first ?? (await lastOther(firstLine(history), context.cwd));
  const { note } = await loadVersion(context.cwd, to.oid);
  const diff = from === undefined ? added(note) : await noteHunks(context.cwd, from.oid, to.oid);
  const shape = (commit: HandoffCommit) => handoffShape(state, commit, reader);
  return { value: { from: from === undefined ? null : shape(from), to: shape(to), diff }, notices };
}

/** Returns the newest version whose note differs from the tip's, or is missing. A take or a close does not change the note. */
async function lastOther(history: readonly HandoffCommit[], cwd: string): Promise<HandoffCommit | undefined> {
  const oids = history.map(({ oid }) => oid);
  const notes = await noteNames({ cwd }, oids);
  const [tip] = history;
  return history.find(({ oid }) => tip !== undefined && notes.get(oid) !== notes.get(tip.oid));
}

/** Returns a first version as a diff from nothing. */
function added(note: Buffer): string {
  const lines = note.toString('utf8').replace(/\n$/, '').split('\n');
  return `@@ -0,0 +1,${lines.length} @@\n${lines.map((line) => `+${line}\n`).join('')}`;
}

/**
 * Returns the hunks between the notes of two handoff commits, as git-diff(1) prints them without its header; empty when
 * the notes are the same. Runs no diff program that the repository or the user configured.
 *
 * @throws Failure `integrity` when the older note cannot be read
 */
async function noteHunks(cwd: string, from: Oid, to: Oid): Promise<string> {
  await loadVersion(cwd, from);
  const quiet = '--no-ext-diff --no-textconv --no-color --no-renames --no-relative --text --unified=3';
  const notes = [`${from}:${NOTE_FILE}`, `${to}:${NOTE_FILE}`];
  const result = await runGit(['diff', ...quiet.split(' '), '--end-of-options', ...notes], { cwd });
  if (result.code !== 0) throw gitFailure('diff', result);
  const at = result.stdout.indexOf('\n@@ ');
  return at < 0 ? '' : result.stdout.subarray(at + 1).toString('utf8');
}
