import { escapeLine, Failure } from '../domain/messages.ts';
import { callingSession, succeededBy } from '../domain/session.ts';
import { type SessionId, canMean, isPerson, meantId, parseSessionId, shortId } from '../domain/names.ts';
import { type Committer, type Repository, personOf } from '../git/repository.ts';
import type { Budget } from '../host/io.ts';
import { type ProcessTable, ancestorsOf } from '../host/processes.ts';
import type { StoredSession } from './records.ts';

/** What a command may know about its process and its caller. */
export interface Context {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The parent of the launcher: the nearest process that can be a client. */
  readonly clientPid: number;
  /** The processes of this machine, read when the command first asks for them. */
  readonly processes: () => ProcessTable;
  /** When the command was called; milliseconds since the epoch. */
  readonly now: number;
  /** Returns the time now, in milliseconds since the epoch. */
  readonly clock: () => number;
  readonly budget: Budget;
}

export interface Caller {
  readonly id: SessionId;
  readonly client: string | undefined;
  readonly isPerson: boolean;
  /** Ended sessions whose conversation this one continues. */
  readonly succeeded: readonly SessionId[];
}

/**
 * Returns the session that runs this command (see `callingSession`), or `undefined` for a person.
 *
 * @throws Failure `usage` when `--session` is invalid, matches several sessions or contradicts the calling session.
 */
export function findSession(
  context: Context,
  sessions: readonly StoredSession[],
  option: string | undefined,
): Caller | undefined {
  const table = context.processes();
  const records = sessions.map((stored) => stored.record);
  const ids = records.map(({ session }) => session);
  const named = option === undefined ? undefined : (sessionMeant(option, ids) ?? option);
  const calling = callingSession({
    ancestors: ancestorsOf(context.clientPid, table),
    records: records.filter((record) => record.ended === null),
    bootId: table.bootId,
    pidNs: table.pidNs,
    variable: (name) => context.env[name],
  });
  const id = named === undefined ? calling?.id : parseSessionId(named);
  if (id === undefined) {
    if (named === undefined) return undefined;
    throw new Failure('usage', `not a session id: ${JSON.stringify(named)}`, {
      hint: 'letters, digits, ".", "_" and "-", at most 128, as the client reports it',
    });
  }
  if (calling !== undefined && calling.id !== id) {
    throw new Failure(
      'usage',
      `--session ${id} conflicts with the session that runs this command (${shortId(calling.id)})`,
      { hint: 'leave --session out' },
    );
  }
  const client = records.find((record) => record.session === id)?.client ?? calling?.client;
  return { id, client, isPerson: isPerson(id), succeeded: succeededBy(id, records) };
}

/**
 * Returns the session that a full or short id means; `undefined`: none.
 *
 * @throws Failure `usage` when a short id fits several sessions
 */
export function sessionMeant(text: string, ids: Iterable<SessionId>): SessionId | undefined {
  const known = [...ids];
  const meant = meantId(text, known);
  if (meant !== undefined || !known.some((id) => canMean(text, id))) return meant;
  throw new Failure('usage', `${escapeLine(text)} matches several sessions`, {
    hint: 'git handoff sessions --all --json',
  });
}

/**
 * Returns the session or person that runs this command.
 *
 * @throws Failure `usage` when a person has no e-mail address configured.
 */
export function findCaller(
  context: Context,
  sessions: readonly StoredSession[],
  option: string | undefined,
  committer: Committer,
): Caller {
  const session = findSession(context, sessions, option);
  if (session !== undefined) return session;
  const id = personOf(committer);
  if (id === undefined) {
    throw new Failure('usage', 'git does not know your e-mail address, and no session is running this', {
      hint: 'git config user.email you@example.com',
    });
  }
  return { id, client: undefined, isPerson: true, succeeded: [] };
}

/** Returns the name of a linked worktree; `undefined` for the main one. */
export function worktreeName(repository: Repository): string | undefined {
  if (repository.gitDir === repository.commonDir) return undefined;
  return repository.gitDir.slice(repository.gitDir.lastIndexOf('/') + 1);
}
