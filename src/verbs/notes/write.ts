import { asFailure, escapeLine, Failure, shellWord } from '../../domain/messages.ts';
import { MAX_NOTE_BYTES, recordState } from '../../domain/handoff.ts';
import { type Oid, type SessionId, parseOid, topicsOverlap } from '../../domain/names.ts';
import { loadForWriting } from '../../git/objects.ts';
import { type Repository, committer, openRepository, workTreeFacts } from '../../git/repository.ts';
import { type WriteResult, commitHandoff } from '../../notes/handoffs.ts';
import { readTopic, readTopics } from '../../notes/topic.ts';
import { type Context, type Caller, findCaller, worktreeName } from '../../sessions/caller.ts';
import type { CommandResult } from '../verb.ts';
import { type Address, type NoteScene, isAddressed } from '../../domain/note/sections.ts';
import { mayHaveFrontMatter, prepareNote } from '../../notes/front-matter/prepare.ts';
import { NOBODY, type ReaderFacts, namedOperator, readerFacts, readerOf, verifyOperators } from './reader.ts';
import { commitOwner } from '../../notes/person-name.ts';
import { commitAs } from '../../notes/whose-note.ts';
import { exists } from '../../host/disk.ts';
import { keepInFile, knownWorktreeId, tryTree } from '../../host/folders.ts';
import { readJournal } from '../../sessions/journal.ts';
import { MAX_TRIED, type Tried, formatTried } from '../../domain/tried.ts';
import { type WriteIntent, failKeeping, keptText, refusal } from '../../notes/refusal.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import { checkSecrets, findSecrets } from '../../notes/secrets/check-note.ts';
import type { HandoffShape } from '../shapes.ts';
import { clientsOfOwner, handoffShape } from '../handoff-shape.ts';
import {
  type TopicArgument,
  parseTopicArgument,
  requireBranch,
  typedTopic,
} from '../../notes/topic-argument.ts';
import type { CarriedByNote, CarryOptions } from '../work/carry.ts';
import { openWorkspace } from '../workspace.ts';

interface WriteOptions {
  readonly topic: string;
  /** The note's bytes, or a function that opens an editor for them after everything else was checked. */
  readonly note: Uint8Array | ((target: EditedNote) => Promise<Uint8Array>);
  /** The front matter that the note is to have. */
  readonly address: Address;
  readonly take: boolean;
  readonly expect: string | undefined;
  readonly allowSecret: boolean;
  /** If set, the note carries the caller's uncommitted changes: those that match these pathspecs, or all. */
  readonly withWork?: { readonly pathspecs: readonly string[] } | undefined;
  readonly session: string | undefined;
}

/** The note for which an editor is opened; `head` is the front matter with which it begins. */
interface EditedNote {
  readonly branch: string;
  readonly topic: string;
  readonly head: string;
}

/**
 * Writes a note: one commit on `refs/handoffs/<branch>/<topic>`, by compare-and-swap.
 *
 * @throws Failure; the text is then kept under a ref, or in a file that the message names.
 */
export async function write(options: WriteOptions, context: Context): Promise<CommandResult<HandoffShape>> {
  const text = typeof options.note === 'function' || options.note.length === 0 ? undefined : options.note;
  let file: string | undefined;
  const keep = () => (file ??= text && keepInFile(text));
  try {
    return await writeNote(options, context, keep);
  } catch (error) {
    const failure = asFailure(error);
    if (failure.locatesText || text === undefined) throw failure;
    const details = { cause: error, ...(failure.hint === undefined ? {} : { hint: failure.hint }) };
    throw new Failure(failure.code, `${failure.message}; ${keptText(keep())}`, details);
  }
}

/** @param keep saves the text to a file, for a hint that suggests another name for the topic */
async function writeNote(
  options: WriteOptions,
  context: Context,
  keep: () => string | undefined,
): Promise<CommandResult<HandoffShape>> {
  const repository = await openRepository(context.cwd);
  const target = parseTopicArgument(options.topic, repository, (topic) => {
    const file = keep();
    return `git handoff write ${topic}${file === undefined ? '' : ` --file ${shellWord(file)}`}`;
  });
  const { cwd } = context;
  const facts = Promise.all([
    workTreeFacts(cwd),
    committer(cwd),
    openWorkspace(context, repository),
    mayBeAddressed(options) ? readerFacts(repository, context) : NOBODY,
  ]);
  const read = readTopic(repository, target.path);
  // `commitHandoff` awaits `read` and reports its error, if the write gets that far.
  read.catch(() => undefined);
  loadForWriting();
  const [tree, author, { sessions, notices: seen }, reader] = await facts;
  const expect = parseExpectation(options.expect);
  const stands = async () => (await read).tip !== undefined;
  const base = await requireBranch(repository, target, tree.head, stands);
  const caller = findCaller(context, sessions, options.session, author);
  const address = addressOf(options.address, reader, caller);
  const scene = { topic: target.topic, from: reader.operator ?? caller.id, now: context.now };
  const given = await givenNote(options.note, target, address, scene);
  const text = { repository, target, note: given, caller: caller.id, context };
  checkNote(given, target);
  // Scan before anything is kept: a refused text may become an object of the repository, and a secret must not.
  const scanned = await checkSecrets(text, given, options);
  if (given.length > MAX_NOTE_BYTES) throw await failKeeping(text, 'usage', tooLong(given), SHORTEN);
  const prepared = await orKeep(text, 'git handoff write -h', async () => {
    const done = await prepareNote(given, address, scene);
    verifyOperators(reader, [done.to, done.from]);
    return done;
  });
  const secrets = prepared.note === given ? scanned : await checkSecrets(text, prepared.note, options);
  const client = caller.client;
  const carried = await workFor(options, { repository, target, note: given, caller, author }, context);
  const content = {
    ...prepared,
    secretAllowed: secrets.allowed,
    carried: carried?.trailers,
    tried: caller.isPerson ? undefined : await triedBy(caller.id, repository),
    state: 'open' as const,
    base,
    client,
    recorded: recordState({ ...target, ...tree, head: base, client, worktree: worktreeName(repository) }),
    author,
    seconds: Math.floor(context.now / 1000),
  };
  const wish = { name: typedTopic(target.branch, target.topic), take: options.take, expect };
  const result = await orKeep(text, 'git handoff doctor', () =>
    commitAs(caller, wish, { repository, sessions }, context, (intent) =>
      commitHandoff(repository, target.path, intent, content, { read }),
    ),
  )
    .then((done) => requireWritten(done, text))
    .catch(async (error: unknown) => {
      await carried?.drop();
      throw error;
    });
  const created = result.parent === undefined && result.before.illegal === undefined;
  return {
    value: handoffShape(target, result.commit, caller.id),
    clients: clientsOfOwner(result.before.tip),
    notices: [
      ...seen,
      ...secrets.notices,
      ...(carried?.notices ?? []),
      ...(await reportIllegalMoves(repository, [result.before], context.now)),
      ...(created ? await creationNotices(repository, target) : []),
    ],
  };
}

/** Whether the note may name operators: a note without front matter names none. */
function mayBeAddressed({ note, address }: WriteOptions): boolean {
  return typeof note === 'function' || isAddressed(address) || mayHaveFrontMatter(note);
}

/** What a session last tried in this worktree, for the note. Commands that seem to contain a secret are left out. */
async function triedBy(session: SessionId, { commonDir, gitDir }: Repository): Promise<string | undefined> {
  // Most clones have never run `git handoff try`.
  if (!exists(tryTree(commonDir))) return undefined;
  const id = knownWorktreeId(gitDir);
  const known = id === undefined ? undefined : readJournal(commonDir, session).trees.get(id)?.tried;
  const tried: Tried[] = [];
  for (const { command, status, on } of [...(known?.values() ?? [])].slice(-MAX_TRIED))
    if ((await findSecrets(Buffer.from(command))).length === 0) tried.push({ command, status, tree: on });
  return formatTried(tried);
}

/** @throws Failure if the note was not written; its text is then kept */
async function requireWritten(result: WriteResult, text: WriteIntent) {
  if (result.kind === 'written') return result;
  if (result.kind === 'unchanged')
    throw new Failure('internal', 'a write was mistaken for a change of state');
  throw await refusal(result, text);
}

/** Takes a step of a write. If the step fails, keeps the text; a failure without a hint gets the hint `next`. */
async function orKeep<T>(text: WriteIntent, next: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw await failKeeping(text, error.code, error.message, error.hint ?? next);
  }
}

/** Packs and keeps the work before the note is written, because a note must never name work that does not exist. */
async function workFor(
  { withWork, session, allowSecret }: WriteOptions,
  note: Omit<CarryOptions, 'pathspecs' | 'session' | 'allowSecret'>,
  context: Context,
): Promise<CarriedByNote | undefined> {
  if (withWork === undefined) return undefined;
  const { carryWork } = await import('../work/carry.ts');
  return carryWork({ ...note, ...withWork, session, allowSecret }, context);
}

/** @throws Failure `usage` for an option that front matter cannot hold. */
function addressOf(given: Address, facts: ReaderFacts, caller: Caller): Address {
  if (given.to === undefined) return given;
  return { ...given, to: namedOperator(given.to, readerOf(facts, caller.id), '--to alice') };
}

async function givenNote(
  note: WriteOptions['note'],
  target: TopicArgument,
  address: Address,
  scene: NoteScene,
): Promise<Uint8Array> {
  if (typeof note !== 'function') return note;
  if (!isAddressed(address)) return note({ ...target, head: '' });
  const { addressedHead } = await import('../../notes/front-matter/structured.ts');
  return note({ ...target, head: addressedHead(address, scene) });
}

const SHORTEN = 'keep the note short and name files instead of quoting them';

function tooLong(note: Uint8Array): string {
  return `the note has ${note.length} bytes, at most ${MAX_NOTE_BYTES} (1 MiB) are allowed`;
}

function checkNote(note: Uint8Array, target: TopicArgument): void {
  if (Buffer.from(note).toString('latin1').trim() !== '') return;
  throw new Failure('usage', 'the note is empty; nothing was written', {
    hint: `git handoff write ${typedTopic(target.branch, target.topic)} -m 'what the next session must know'`,
  });
}

/** Parses `--expect <oid>`; all zeros (or `none`) means that no handoff may exist yet. */
export function parseExpectation(text: string | undefined): Oid | null | undefined {
  if (text === undefined) return undefined;
  if (text === 'none' || /^0+$/.test(text)) return null;
  const oid = parseOid(text);
  if (oid !== undefined) return oid;
  throw new Failure('usage', `--expect takes a whole object name, not ${escapeLine(JSON.stringify(text))}`, {
    hint: 'git handoff show --json',
  });
}

/** Returns notices for a topic's first write: about related topics of this branch, and the same topic on other branches. */
async function creationNotices(repository: Repository, target: TopicArgument): Promise<string[]> {
  const all = await readTopics(repository);
  const open = all.filter((state) => state.tip?.trailers?.state === 'open');
  const siblings = open.filter(
    ({ branch, topic }) => branch === target.branch && topicsOverlap(topic, target.topic),
  );
  const elsewhere = target.explicit
    ? []
    : open.filter(({ branch, topic }) => branch !== target.branch && topic === target.topic);
  return [
    ...siblings.map((state) => {
      const owner = commitOwner(state.tip);
      const who = owner === undefined ? '' : ` of ${owner}`;
      const name = typedTopic(state.branch, state.topic);
      return `${name}${who} looks like the same work: git handoff show ${name}`;
    }),
    ...elsewhere.map(
      ({ branch, topic }) =>
        `${topic} also exists on another branch: git handoff show ${typedTopic(branch, topic)}`,
    ),
  ];
}
