import { escapeLine, Failure, timestamp } from '../../domain/messages.ts';
import { acknowledgedOf, readerName } from '../../domain/note-owner.ts';
import type { RemoteRelation } from '../../domain/tracking/relation.ts';
import { listBookkeeping } from '../../git/migrate-ref-lists.ts';
import { REMOTE } from '../../git/namespace.ts';
import { type Repository, openRepository } from '../../git/repository.ts';
import type { Budget } from '../../host/io.ts';
import { ackOf, readAcks } from '../../notes/whose-note.ts';
import { requireTip, parseTopicArgument, typedTopic } from '../../notes/topic-argument.ts';
import { decodeNote, mayHaveFrontMatter } from '../../notes/front-matter/prepare.ts';
import { listLost, readLost } from '../../notes/lost.ts';
import { type ReadableTopic, type TopicState, readHistory } from '../../notes/topic.ts';
import { compareWithRemotes } from '../../notes/delete-notes.ts';
import type { Context } from '../../sessions/caller.ts';
import { handoffShape, noteShape } from '../handoff-shape.ts';
import type { CommandResult } from '../verb.ts';
import type { HandoffShape, LostShape, NoteShape } from '../shapes.ts';
import { loadVersion, openTopic } from './reader.ts';
import { versionIn } from './log.ts';

interface ShowOptions {
  readonly topic: string | undefined;
  readonly raw: boolean;
  readonly at: string | undefined;
  /** `true` lists the kept texts; a number prints one of them. */
  readonly lost: boolean | number;
  /** Whether to find out who the reader is, to show what is unread. This costs processes. */
  readonly reading: boolean;
  readonly session: string | undefined;
}

export type ShowValue =
  | ({
      readonly kind: 'handoff';
      /** How the topic compares with each remote that has been asked; only when `reading`. */
      readonly remotes?: readonly RemoteRelation[];
    } & HandoffShape &
      StructureShape &
      NoteShape)
  /** The kept texts, with the content of the one that was asked for. */
  | ({ readonly kind: 'lost'; readonly items: readonly LostShape[] } & Partial<NoteShape>);

/** Shows a note (if none is named, the newest open one), one of its versions, or the texts kept when writes were refused. */
export async function show(options: ShowOptions, context: Context): Promise<CommandResult<ShowValue>> {
  if (options.lost !== false) return showLost(await openRepository(context.cwd), options);
  const { repository, state, reader, notices } = await openTopic(options, context, { note: true });
  const [{ commit, note, acknowledged }, remotes] = await Promise.all([
    version(repository, state, options.at, options.reading ? readerName(reader) : undefined),
    options.reading ? relationsOf(repository, state, context.budget) : undefined,
  ]);
  const facts = await noteFacts(note, context.now);
  return {
    value: {
      kind: 'handoff',
      ...handoffShape(state, commit, reader, acknowledged),
      ...(remotes === undefined ? {} : { remotes }),
      ...facts.shape,
      ...noteShape(note),
    },
    notices: [...notices, ...facts.notices],
    ...(options.raw ? { bytes: note } : {}),
  };
}

async function relationsOf(
  repository: Repository,
  { path, tip, publicOid }: TopicState,
  budget: Budget,
): Promise<readonly RemoteRelation[]> {
  const refs = await listBookkeeping(repository, [REMOTE]);
  const tips = [{ path, oid: tip?.oid ?? publicOid }];
  return (await compareWithRemotes(repository, refs, tips, budget)).of(path);
}

/** Returns a version and its note. `acknowledged`: its object name, if `reader` has acknowledged it or a later version. */
async function version(
  repository: Repository,
  state: ReadableTopic,
  at: string | undefined,
  reader: string | undefined,
) {
  const tip = requireTip(state);
  const history = at === undefined ? [tip] : await readHistory(repository, tip.oid);
  const commit = at === undefined ? tip : versionIn(history, at, typedTopic(state.branch, state.topic));
  const newest =
    reader === undefined ? undefined : ackOf(await readAcks(repository, state.path), state.path, reader);
  const acknowledged = acknowledgedOf(history, newest).find((oid) => oid === commit.oid);
  const loaded = at === undefined ? state.note : undefined;
  const note = loaded ?? (await loadVersion(repository.cwd, commit.oid)).note;
  return { commit, note, acknowledged };
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
  return { value: { kind: 'lost', items } };
}

const PLAIN: StructureShape = { structured: false, handoffId: null, tags: [], references: [] };

/** Reads the front matter of a stored note, and reports its faults: the note may come from elsewhere. */
async function noteFacts(
  note: Uint8Array,
  now: number,
): Promise<{ shape: StructureShape; notices: readonly string[] }> {
  const text = decodeNote(note);
  if (text === undefined || !mayHaveFrontMatter(note)) return { shape: PLAIN, notices: [] };
  const { readNote } = await import('../../notes/front-matter/read.ts');
  const read = readNote(text, now);
  if (read.kind === 'none' || read.kind === 'foreign') return { shape: PLAIN, notices: [] };
  if (read.kind === 'invalid')
    return { shape: PLAIN, notices: [`${read.problem.message}; the front matter is ignored`] };
  const { id, otherId } = read;
  const { to, from, tags, references } = read.fields;
  return {
    shape: { structured: true, handoffId: id, to, from, tags, references },
    notices:
      otherId === undefined
        ? []
        : [`the note's handoff_id is ${escapeLine(otherId)}, but its content has ${id}`],
  };
}

/** What a note's front matter says. Its `to` and `from` replace those of the trailers. */
interface StructureShape {
  /** Whether the note has valid front matter of our format. */
  readonly structured: boolean;
  /** The id of the present content. */
  readonly handoffId: string | null;
  readonly to?: string | null;
  readonly from?: string | null;
  readonly tags: readonly string[];
  readonly references: readonly string[];
}
