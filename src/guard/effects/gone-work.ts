import type { OpenClaim } from '../../domain/ledger/claims.ts';
import type { WorktreeEvent } from '../../domain/journal/events.ts';
import { type TreeStatus, discardedBetween, overlaps } from '../../domain/ledger/tree-status.ts';
import { claimOwners } from '../../domain/ledger/vanished.ts';
import type { Oid, SessionId } from '../../domain/names.ts';
import { aliasesFrom } from '../../domain/settings.ts';
import { escapeLine, listed } from '../../domain/surfacing.ts';
import { ARRIVAL, type OpenWindow } from '../../changes/windows.ts';
import { keepVanished } from './rescue/keep-vanished.ts';
import type { TreeCall } from '../call.ts';
import { ownerName, peerName } from '../../domain/owner-name.ts';
import { event } from '../../changes/news.ts';
import { type Ledgers, type WorkPlace, lookingTime } from '../../changes/work-place.ts';
import { readClients } from '../../sessions/records.ts';

/** Uncommitted work that is gone after a session's command: whose it was, who must hear of it, and where it is kept. */

const MAX_NAMES = 5;

/** What a command of the session left behind. */
export interface Left {
  readonly window: OpenWindow;
  readonly after: TreeStatus;
  readonly command: string;
  /** What is known of it already. */
  readonly entries: readonly WorktreeEvent[];
  /** See {@link endedOfOthers}. */
  readonly ended: readonly OpenClaim[];
}

/** What must be kept, and what must be said, of uncommitted work that is gone after the command. */
export async function goneWork(
  call: TreeCall,
  place: WorkPlace,
  ledgers: Ledgers,
  { window, after, command, entries, ended }: Left,
): Promise<{ entries: WorktreeEvent[]; notices: string[] }> {
  const before = window.snapshot.head.oid;
  const isCommit = entries.some((entry) => entry.t === 'head' && entry.own);
  const told = endedEvents(ended, isCommit, before, call);
  const discarded = discardedBetween(window.snapshot, after).filter((path) => {
    const isOthers = ledgers.all.some((one) => one !== ledgers.self && one.claims.has(path));
    return isOthers ? ended.some((claim) => claim.path === path) : !isStash(call, command);
  });
  const kept = await keepOthers(call, place, ledgers, window, after, command);
  const clients = ended.length === 0 ? undefined : await clientsBeside(call, place);
  return {
    entries: [...discardedEvents(discarded, call), ...told],
    notices: ended.map((claim) =>
      endedNotice(claim, peerName(claim.session, { clients }), { isCommit, before, kept }),
    ),
  };
}

/** Its own work and nobody's is put aside by that, and not gone. */
function isStash({ entries }: TreeCall, command: string): boolean {
  const isNamed = (text: string) => /\bstash\b/.test(text);
  return (
    isNamed(command) ||
    [...aliasesFrom(entries)].some(([name, value]) => isNamed(value) && command.includes(name))
  );
}

/** Tells the others that uncommitted work was thrown away, so that nobody "repairs" it. */
function discardedEvents(gone: readonly string[], { session, dialect, now }: TreeCall): WorktreeEvent[] {
  if (gone.length === 0) return [];
  const names = listed(gone.map(escapeLine), MAX_NAMES);
  return [
    event(
      `${ownerName(session, dialect)} put back what HEAD has in ${names}: the uncommitted changes there are gone, ` +
        'by its own command. Ask before you repair it.',
      now,
    ),
  ];
}

/** Others' uncommitted work that is gone from the working tree, by this command and by nothing of their own. */
export function endedOfOthers(
  window: OpenWindow,
  windows: readonly OpenWindow[],
  { all, self }: Ledgers,
  after: TreeStatus,
): OpenClaim[] {
  return all.flatMap((ledger) => {
    const busy = [...ledger.windows, ...windows.filter(({ session }) => session === ledger.session)];
    if (
      ledger === self ||
      overlaps(
        window,
        busy.filter(({ id }) => id !== ARRIVAL),
      )
    )
      return [];
    return [...ledger.claims.values()].filter(
      ({ path, weak, at }) =>
        !weak && at < window.from && window.snapshot.dirty.has(path) && !after.dirty.has(path),
    );
  });
}

/** Tells an owner what became of its work. That it was thrown away is told to everybody, as it is. */
function endedEvents(
  ended: readonly OpenClaim[],
  isCommit: boolean,
  before: Oid | null,
  { session, dialect, now }: TreeCall,
): WorktreeEvent[] {
  if (!isCommit) return [];
  const undo = before === null ? '' : ` It can undo that, and keeps all files, with: ${undoing(before)}.`;
  return [...new Set(ended.map((claim) => claim.session))].map((owner) => {
    const paths = ended.filter((claim) => claim.session === owner).map(({ path }) => escapeLine(path));
    const names = paths.slice(0, MAX_NAMES).join(', ') + (paths.length > MAX_NAMES ? ' …' : '');
    return event(
      `${ownerName(session, dialect)} took your uncommitted changes in ${names} into its commit, or away with it.${undo} Look: git log -3 --stat`,
      now,
      owner,
    );
  });
}

/** Every commit since then is taken back; the files stay as they are. */
const undoing = (before: Oid) => `git reset ${before.slice(0, 12)}`;

/** The clients of the sessions at work here, for a message that has to name one. */
export async function clientsBeside(
  call: TreeCall,
  { top }: WorkPlace,
): Promise<ReadonlyMap<SessionId, string>> {
  return readClients({ cwd: top }, lookingTime(call));
}

interface Ending {
  readonly isCommit: boolean;
  /** Where HEAD was before the command. */
  readonly before: Oid | null;
  /** The rescue that holds it. */
  readonly kept: number | undefined;
}

function endedNotice({ path }: OpenClaim, owner: string, { isCommit, before, kept }: Ending): string {
  const deed = isCommit ? 'went into your commit' : 'was put back to what HEAD has';
  const look = kept === undefined ? 'git stash list; git log -3 --stat' : `git handoff rescue show ${kept}`;
  const undo =
    isCommit && before !== null
      ? `Undo the commit, which keeps all files: ${undoing(before)}; then commit your own: git handoff commit -m '<message>'. `
      : '';
  return `${escapeLine(path)} ${deed}: ${owner} had uncommitted work in it. ${undo}Tell the user, and look: ${look}`;
}

/** What is gone of others, or nobody's: a session's own files are its own to remove. */
async function keepOthers(
  call: TreeCall,
  place: WorkPlace,
  { all, self }: Ledgers,
  { snapshot, session }: OpenWindow,
  after: TreeStatus,
  command: string,
): Promise<number | undefined> {
  const foreign = claimOwners(all.filter((ledger) => ledger !== self));
  const own = [...self.claims.keys()].filter((path) => !foreign.has(path));
  const dirty = new Map([...snapshot.dirty].filter(([path]) => !own.includes(path)));
  return keepVanished(call, place, { ...snapshot, dirty }, after, foreign, { session, command });
}
