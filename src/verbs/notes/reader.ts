import { escapeLine, Failure } from '../../domain/messages.ts';
import type { Oid, SessionId } from '../../domain/names.ts';
import {
  ANYONE,
  type Operator,
  activeOperators,
  isOperatorId,
  parseOperators,
} from '../../domain/operators.ts';
import { type Reader, decideOperator, readerName } from '../../domain/note-owner.ts';
import { loadCommits } from '../../git/commits.ts';
import { readReaderSettings } from '../../git/config.ts';
import { type Repository, openRepository, personOf, workTreeTop } from '../../git/repository.ts';
import { OPERATORS_FILE, readOperatorsFile } from '../../host/marker-files.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import { findTopic, requireTip } from '../../notes/topic-argument.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import { type Workspace, openWorkspace } from '../workspace.ts';

/** The facts, besides the session, that tell who reads or writes a note here. */
export interface ReaderFacts {
  readonly operator: string | undefined;
  /** The operators in OPERATORS.md whose entry has not expired. */
  readonly operators: readonly Operator[];
  /** Whether notes may name only operators of OPERATORS.md. */
  readonly verify: boolean;
  readonly email: string | undefined;
}

/** The facts for an answer that does not depend on the reader. */
export const NOBODY: ReaderFacts = { operator: undefined, operators: [], verify: false, email: undefined };

/** The name that means the reader, wherever an operator can be named. */
const ME = 'me';

/**
 * Reads the facts with one process, which can run at the same time as others.
 *
 * @throws Failure `usage` when `handoff.operator` is no name.
 */
export async function readerFacts(repository: Repository, context: Context): Promise<ReaderFacts> {
  const [{ settings, email: configured }, top] = await Promise.all([
    readReaderSettings(repository.cwd),
    workTreeTop(repository),
  ]);
  const email = context.env['GIT_COMMITTER_EMAIL'] ?? configured ?? context.env['EMAIL'];
  const text = top === undefined ? undefined : readOperatorsFile(top);
  const today = new Date(context.now).toISOString().slice(0, 'YYYY-MM-DD'.length);
  const operators = text === undefined ? [] : activeOperators(parseOperators(text), today);
  const { operator: setting, verifyOperators: verify } = settings;
  if (setting !== undefined)
    requireOperator(setting, 'handoff.operator', 'git config handoff.operator alice');
  return { operator: decideOperator(setting, email, operators), operators, verify, email };
}

/** @throws Failure `usage` for a text that names no operator. */
function requireOperator(text: string, what: string, hint: string): void {
  if (isOperatorId(text) && text !== ME && (text !== ANYONE || what === '--to')) return;
  const message = `${what} is ${escapeLine(JSON.stringify(text))}, which names no operator: use 1 to 64 characters of A-Z a-z 0-9 _ -`;
  throw new Failure('usage', message, { hint });
}

/** Returns the reader: the session or, without one, the person with this e-mail address. */
export function readerOf(facts: ReaderFacts, session: SessionId | undefined): Reader {
  return { session: session ?? personOf(facts), operator: facts.operator };
}

/** Finds the reader of a command that only reads. */
export function findReader(
  facts: ReaderFacts,
  context: Context,
  { sessions }: Workspace,
  option: string | undefined,
): Reader {
  return readerOf(facts, findSession(context, sessions, option)?.id);
}

/**
 * Opens the topic that a command line names, or the newest of the branch, for its reader. `reading`: whether to find out who a
 * reader without a session is, which costs a process. `note`: whether to read the note, if that costs no process.
 *
 * @throws Failure `not-found`, or `integrity` for a topic without a valid commit
 */
export async function openTopic(
  options: {
    readonly topic: string | undefined;
    readonly session: string | undefined;
    readonly reading?: boolean;
  },
  context: Context,
  { note = false } = {},
) {
  const repository = await openRepository(context.cwd);
  const [workspace, facts, state] = await Promise.all([
    openWorkspace(context, repository),
    options.reading === true ? readerFacts(repository, context) : NOBODY,
    findTopic(repository, options.topic, { note }),
  ]);
  const reader = findReader(facts, context, workspace, options.session);
  const tip = requireTip(state);
  const moved = await reportIllegalMoves(repository, [state], context.now);
  return { repository, state, tip, reader, notices: [...workspace.notices, ...moved] };
}

/** Loads a version with the bytes of its note. */
export async function loadVersion(cwd: string, oid: Oid) {
  const [commit] = await loadCommits({ cwd }, [oid], { notes: true });
  if (commit?.note !== undefined) return { ...commit, note: commit.note };
  throw new Failure('integrity', `the note of ${oid} cannot be read`, {
    hint: 'git fsck --connectivity-only',
  });
}

/** Returns an operator as an option names it; `me` means the reader. */
export function namedOperator(text: string, reader: Reader, hint: string): string {
  const name = text === ME ? readerName(reader) : text;
  if (name === undefined) {
    throw new Failure('usage', 'git-handoff does not know who you are', {
      hint: 'git config handoff.operator alice',
    });
  }
  if (text !== ME) requireOperator(name, '--to', hint);
  return name;
}

/** @throws Failure `unknown-operator` when notes may name only operators of OPERATORS.md, and a name is not in it. */
export function verifyOperators(facts: ReaderFacts, names: readonly (string | undefined)[]): void {
  const known = facts.operators.map(({ id }) => id);
  const unknown = names.find((name) => name !== undefined && name !== ANYONE && !known.includes(name));
  if (!facts.verify || unknown === undefined) return;
  const list = known.length === 0 ? 'nobody yet' : known.slice(0, 20).join(', ');
  throw new Failure(
    'unknown-operator',
    `${OPERATORS_FILE} does not know the operator ${escapeLine(unknown)}`,
    {
      hint: `it knows ${list}; add a line "- ${escapeLine(unknown)} <address>" to it, or: git config handoff.verifyOperators false`,
    },
  );
}
