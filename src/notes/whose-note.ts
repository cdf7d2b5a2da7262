import { type SessionGroups, atWorkBeside } from '../domain/ledger/ownership.ts';
import type { Oid, SessionId } from '../domain/names.ts';
import type { Intent } from '../domain/note-owner.ts';
import { readSettings } from '../git/config.ts';
import type { Repository, InRepository } from '../git/repository.ts';
import { notifyOwners } from '../sessions/happenings.ts';
import { isAllowedOnce } from '../sessions/bypass.ts';
import type { Caller, Context } from '../sessions/caller.ts';
import { type WriteResult, refFailure } from './handoffs.ts';
import { type StoredSession, judgeSessions, listSessions, groupSessions } from '../sessions/records.ts';
import { Failure } from '../domain/messages.ts';
import { ACKS, type HandoffPath, ackRef } from '../git/namespace.ts';
import { listRefNames, type RefValue, updateRefs } from '../git/refs.ts';

/**
 * What an agent may do with the notes of other sessions. It may take over a note whose owner has ended or waits for its
 * user. Only a person may take a note from a session at work, or close or delete another session's note; an agent may do so if a
 * person allows it once.
 */

/** Whether a note's owner still works, as far as this machine knows. Also `gone` if owner and asker count as one session. */
export async function ownerState(
  repository: Repository,
  owner: SessionId,
  asking: SessionId,
  context: Context,
): Promise<'at work' | 'idle' | 'gone'> {
  const groups = await readSessionGroups(repository, await listSessions(repository), asking, context);
  if (!groups.foreign.has(owner)) return 'gone';
  return atWorkBeside([owner], groups).length > 0 ? 'at work' : 'idle';
}

interface Wish {
  /** The note, as it is typed. */
  readonly name: string;
  /** Whether to become the owner. */
  readonly take: boolean;
  readonly closes?: boolean;
  /** The tip that the caller expects; `null`: it expects no tip (domain/note-owner.ts). */
  readonly expect: Oid | null | undefined;
}

/**
 * Puts a commit on a note, within what the caller may do. If the commit is refused but a person has typed `allow --once`, tries
 * again with a person's rights.
 */
export async function commitAs(
  caller: Caller,
  { name, take, closes = false, expect }: Wish,
  { repository, sessions }: { readonly repository: Repository; readonly sessions: readonly StoredSession[] },
  context: Context,
  commit: (intent: Intent) => Promise<WriteResult>,
): Promise<WriteResult> {
  const whole = { me: caller.id, succeeded: caller.succeeded, take, expect };
  if (!take) return commit(whole);
  const result = await attempt();
  const taken = result.kind === 'written' ? result.passing.takenFrom : undefined;
  if (taken !== undefined) await notifyFormerOwner(repository, caller, { owner: taken, name }, context);
  return result;

  async function attempt(): Promise<WriteResult> {
    if (caller.isPerson) return commit(whole);
    const groups = closes ? undefined : await readSessionGroups(repository, sessions, caller.id, context);
    const spared = groups && new Set(atWorkBeside([...groups.foreign], groups));
    const result = await commit({ ...whole, take: !closes, ...(spared && { spared }) });
    if (result.kind !== 'not-owner' || !isAllowedOnce(repository.commonDir, caller.id, context.now))
      return result;
    return commit(whole);
  }
}

/** Tells the former owner about the take; a failure is ignored, because the note has its new owner already. */
async function notifyFormerOwner(
  { cwd, gitDir, commonDir }: Repository,
  caller: Caller,
  { owner, name }: { readonly owner: SessionId; readonly name: string },
  { now, budget }: Context,
): Promise<void> {
  const text = (who: string) =>
    `${who} took over your note ${name}, and owns it now: git handoff show ${name}`;
  const session = caller.isPerson ? undefined : caller.id;
  const notice = { cwd, gitDir, commonDir, session, owners: [owner], text, now, timeoutMs: budget.left() };
  await notifyOwners({ ...notice, log: () => undefined }).catch(() => undefined);
}

async function readSessionGroups(
  { cwd, commonDir }: Repository,
  sessions: readonly StoredSession[],
  asking: SessionId,
  { processes, now }: Context,
): Promise<SessionGroups> {
  const { staleAfterMs } = await readSettings(cwd);
  return groupSessions(asking, judgeSessions(sessions, commonDir, processes(), staleAfterMs, now), []);
}

const MAX_TRIES = 5;

/** What readers have acknowledged: `refs/handoffs-local/acks/<branch>/<topic>/<reader>`. */
type Acks = ReadonlyMap<string, Oid>;

/** Reads the acknowledgements of one handoff. */
export async function readAcks(repository: InRepository, path: HandoffPath): Promise<Acks> {
  return acksFrom(await listRefNames(repository, [ackRef(path, '')]));
}

/** Picks the acknowledgements out of listed refs. */
export function acksFrom(refs: readonly RefValue[]): Acks {
  return new Map(refs.flatMap(({ name, oid }) => (name.startsWith(ACKS) ? [[name, oid]] : [])));
}

/** The commit that a reader acknowledged last. */
export function ackOf(acks: Acks, path: HandoffPath, reader: string): Oid | undefined {
  return acks.get(ackRef(path, reader));
}

/**
 * Moves a reader's acknowledgement to the tip, by compare-and-swap. Calls `tip` again at every try, so that an
 * acknowledgement of an older tip never replaces that of a newer one.
 *
 * @throws Failure `lost-race` when others moved it at every try, `environment` when a lock is in the way.
 */
export async function acknowledge(
  repository: InRepository,
  path: HandoffPath,
  reader: string,
  tip: () => Promise<Oid>,
): Promise<{ readonly tip: Oid; readonly changed: boolean }> {
  const ref = ackRef(path, reader);
  for (let tries = 1; tries <= MAX_TRIES; tries++) {
    const old = ackOf(await readAcks(repository, path), path, reader);
    const next = await tip();
    if (old === next) return { tip: next, changed: false };
    const result = await updateRefs(repository, [{ ref, next, old }]);
    if (result.kind === 'done') return { tip: next, changed: true };
    const isLocked = result.kind === 'locked' && tries === MAX_TRIES;
    if (result.kind === 'name-conflict' || isLocked) throw refFailure(result);
  }
  throw new Failure('lost-race', 'the acknowledgement changed at every attempt', {
    hint: 'git handoff list --unread',
  });
}
