import type { OpenClaim } from '../domain/ledger/claims.ts';
import type { Wish } from '../domain/ledger/tree-status.ts';
import type { EventOf } from '../domain/journal/events.ts';
import { type Happening, happeningOf } from '../domain/journal/happenings.ts';
import { type SessionId, isPerson, peerName, sessionOfOwner } from '../domain/names.ts';
import { isInitialised, knownWorktreeId, repositoryFolder } from '../host/folders.ts';
import { randomName, realPath } from '../host/disk.ts';
import type { RecordedLines } from '../host/io.ts';
import { type LedgerPlace, appendEvents, appendSessionEvents, readLedger } from './journal.ts';
import { clientsOf, listSessions, readClients } from './records.ts';
import { readOwnSetting } from '../git/config.ts';
import { linkedWorktrees } from '../git/worktrees.ts';
import { startInBackground } from '../host/background.ts';
import { appendLog } from '../host/log.ts';

/** Tells the subscribers, so far only the user's program, what a finished call has recorded. Ignores their failures. */
export async function notifySubscribers(
  recorded: readonly RecordedLines[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const repositories = new Map<string, Happening[]>();
  for (const { commonDir, session, lines } of recorded) {
    const known = repositories.get(commonDir) ?? [];
    repositories.set(commonDir, [...known, ...lines.flatMap((line) => happeningOf(session, line) ?? [])]);
  }
  for (const [commonDir, happenings] of repositories) {
    if (happenings.length > 0) await runNotifyCommand(commonDir, happenings, env).catch(() => undefined);
  }
}

/** Makes news for all other sessions of a worktree, or for one; subscribers get it only if it has an `about`. */
export function news(
  text: string,
  at: number,
  more: Pick<EventOf<'news'>, 'to' | 'about' | 'paths'> = {},
): EventOf<'news'> {
  return { t: 'news', id: randomName(), text, ...more, at };
}

/** What a refused call wanted to do, and the changes because of which it was refused. */
export interface AskedFor {
  readonly place: LedgerPlace;
  /** The session or sub-agent that made the call, as an owner. */
  readonly from: SessionId;
  readonly wish: Wish;
  readonly claims: readonly Pick<OpenClaim, 'session' | 'path' | 'since'>[];
}

interface Refused {
  readonly commonDir: string;
  /** `undefined`: a person, for whom nothing is recorded. */
  readonly session: SessionId | undefined;
  readonly text: string;
  readonly asked?: AskedFor | undefined;
  readonly now: number;
}

/** Records a refusal, and requests to the sessions whose work it protects. If that fails, the call stays refused. */
export function recordRefusal(
  { commonDir, session, text, asked, now }: Refused,
  log: (kind: string, detail: string) => void = () => undefined,
): void {
  if (session === undefined || isPerson(session)) return;
  if (asked === undefined && !isInitialised(commonDir)) return;
  try {
    const refused = { t: 'refused', text: text.slice(0, MAX_TEXT), at: now } as const;
    appendSessionEvents(commonDir, asked?.from ?? session, [refused]);
    if (asked !== undefined) leaveRequests(asked, now);
  } catch (error) {
    log('open', `the refusal could not be recorded: ${String(error)}`);
  }
}

const MAX_TEXT = 1000;

/** Leaves the owners of these changes a request for their next call, unless this session has already made that request. */
function leaveRequests({ place, from, wish, claims }: AskedFor, now: number): void {
  const { requests } = readLedger(place, from);
  const isAsked = ({ session, path, since }: AskedFor['claims'][number]) =>
    requests.some(({ to, paths, at }) => to === session && at >= since && paths.includes(path));
  const fresh = claims.filter((claim) => claim.session !== from && !isAsked(claim));
  const entries = [...new Set(fresh.map(({ session }) => session))].map((to) => {
    const theirs = fresh.filter(({ session }) => session === to);
    // A request must not be older than its claim, even if the clocks of the two calls differ.
    const at = Math.max(now, ...theirs.map(({ since }) => since));
    return { t: 'request', to, wish, paths: [...new Set(theirs.map(({ path }) => path))], at } as const;
  });
  appendEvents(place, from, entries);
}

/** Records that a session took another session's note. If a person took it, only the note says so. */
export function recordTake(commonDir: string, session: SessionId, take: Omit<EventOf<'took'>, 't'>): void {
  if (isPerson(session) || !isInitialised(commonDir)) return;
  appendSessionEvents(commonDir, session, [{ t: 'took', ...take }]);
}

/** What was done, where, and whose work it concerns. */
interface Deed {
  readonly cwd: string;
  readonly gitDir: string;
  readonly commonDir: string;
  /** Who did it; `undefined`: a person. */
  readonly session: SessionId | undefined;
  /** Whose work it concerns; `undefined`: the work of every other session in this worktree. */
  readonly owners: readonly SessionId[] | undefined;
  /** Returns the message, given the name of whoever did it. */
  readonly text: (who: string) => string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly timeoutMs: number;
  readonly log: (kind: string, detail: string) => void;
}

/** Notifies the owners of the work when a person has let something through once. */
export const recordBypass = (done: Deed): Promise<void> => notifyOwners(done, { about: 'bypass' });

/** Tells the owners of the work what was done; each hears it at its next call in the worktree where it is at work. */
export async function notifyOwners(done: Deed, more: Pick<EventOf<'news'>, 'about'> = {}): Promise<void> {
  const { cwd, gitDir, commonDir, session, owners, text, now, timeoutMs, log } = done;
  if (owners?.length === 0) return;
  const concerned = owners?.map(sessionOfOwner);
  const here = knownWorktreeId(gitDir);
  const sessions = await listSessions({ cwd }, timeoutMs).catch((error: unknown) => {
    log('error', `the owners of the work could not be told: ${String(error)}`);
    return [];
  });
  const who = session === undefined ? 'somebody' : peerName(session, { clients: clientsOf(sessions) });
  const places = new Map<SessionId, string>();
  for (const { worktreeId, record } of sessions) {
    const isConcerned = concerned?.includes(record.session) ?? worktreeId === here;
    if (!isConcerned || record.ended !== null || record.session === session) continue;
    if (worktreeId === here || !places.has(record.session)) places.set(record.session, worktreeId);
  }
  for (const [to, worktreeId] of places) {
    // A person has no journal, so the news goes into the journal of the session that gets it.
    appendEvents({ commonDir, worktreeId }, session ?? to, [news(text(who), now, { to, ...more })]);
  }
}

/** A report with this many paths fits into a pipe on any system, so we need not wait until the program reads it. */
const MAX_PATHS = 20;

/**
 * Runs `handoff.notifyCommand`, the user's own program, in the background for each happening, with JSON on its standard
 * input. We ignore the setting in the repository's own files: they may come with a clone, and could name any program.
 */
async function runNotifyCommand(
  commonDir: string,
  happenings: readonly Happening[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  // The program need not hear about its own actions.
  if (env['GIT_HANDOFF'] === 'off') return;
  const repository = commonDir.replace(/\/\.git$/, '');
  const program = await readOwnSetting('handoff.notifyCommand', repository, insideOf(commonDir));
  if (program === undefined || program === '') return;
  const log = (detail: string) =>
    appendLog(repositoryFolder(commonDir), { event: 'notify', kind: 'open', detail });
  if (!program.startsWith('/')) {
    log(`handoff.notifyCommand is not an absolute path: ${program}`);
    return;
  }
  const clients = await readClients({ cwd: repository });
  for (const { session, paths, message, at, ...what } of happenings) {
    const report = {
      ...what,
      session,
      client: (session === null ? undefined : clients.get(session)) ?? null,
      ...(paths === undefined ? {} : { paths: paths.slice(0, MAX_PATHS) }),
      message: message({ clients }),
      repository,
      time: new Date(at).toISOString(),
    };
    if (!startInBackground(program, `${JSON.stringify(report)}\n`, withoutGit(env)))
      log(`handoff.notifyCommand could not be started: ${program}`);
  }
}

/** Returns a function that tells whether a file is in the repository's folder or in one of its working trees. */
function insideOf(commonDir: string): (file: string) => boolean {
  const folders = [commonDir, ...linkedWorktrees(commonDir).map(({ path }) => path)];
  const own = folders.map((folder) => `${realPath(folder)}/`);
  return (file) => own.some((folder) => realPath(file).startsWith(folder));
}

/** Drops the variables that git sets for its hooks, because they would mislead a git that the program runs. */
const withoutGit = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries([
    ...Object.entries(env).filter(([name]) => !name.startsWith('GIT_')),
    ['GIT_HANDOFF', 'off'],
  ]);
