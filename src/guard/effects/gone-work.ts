import type { LedgerEntry, OpenClaim } from '../../domain/ledger/claims.ts';
import { type Snapshot, discardedBetween, overlaps } from '../../domain/ledger/snapshot.ts';
import { claimOwners } from '../../domain/ledger/vanished.ts';
import type { Oid, SessionId } from '../../domain/names.ts';
import { escapeLine, listed } from '../../domain/surfacing.ts';
import { ARRIVAL, type OpenWindow } from '../../changes/windows.ts';
import { keepVanished } from './rescue/keep-vanished.ts';
import type { Scene } from '../scene.ts';
import { event, theSession } from '../../changes/news.ts';
import type { Ledgers, WorkPlace } from '../../changes/work-place.ts';

/** Uncommitted work that is gone after a session's command: whose it was, who must hear of it, and where it is kept. */

const MAX_NAMES = 5;

/** What a command of the session left behind. */
export interface Left {
  readonly window: OpenWindow;
  readonly after: Snapshot;
  readonly command: string;
  /** What is known of it already. */
  readonly entries: readonly LedgerEntry[];
  /** See {@link endedOfOthers}. */
  readonly ended: readonly OpenClaim[];
}

/** What has to be kept and told of uncommitted work that is gone after the command. */
export async function goneWork(
  scene: Scene,
  place: WorkPlace,
  ledgers: Ledgers,
  { window, after, command, entries, ended }: Left,
): Promise<{ entries: LedgerEntry[]; notices: string[] }> {
  const before = window.snapshot.head.oid;
  const isCommit = entries.some((entry) => entry.t === 'head' && entry.own);
  const told = endedEvents(ended, window.session, isCommit, before, scene.now);
  const discarded = discardedBetween(window.snapshot, after).filter((path) => {
    const isOthers = ledgers.all.some((one) => one !== ledgers.self && one.claims.has(path));
    return isOthers ? ended.some((claim) => claim.path === path) : !isStash(scene, command);
  });
  const kept = await keepOthers(scene, place, ledgers, window, after, command);
  return {
    entries: [...discardedEvents(discarded, ledgers, scene.now), ...told],
    notices: ended.map((claim) => endedNotice(claim, isCommit, before, kept)),
  };
}

/** Its own work and nobody's is put aside by that, and not gone. */
function isStash({ aliases }: Scene, command: string): boolean {
  const isNamed = (text: string) => /\bstash\b/.test(text);
  return isNamed(command) || [...aliases].some(([name, value]) => isNamed(value) && command.includes(name));
}

/** Tells the others that uncommitted work was thrown away, so that nobody "repairs" it. */
function discardedEvents(gone: readonly string[], { self }: Ledgers, now: number): LedgerEntry[] {
  if (gone.length === 0) return [];
  const names = listed(gone.map(escapeLine), MAX_NAMES);
  return [
    event(
      `${theSession(self.session)} put back what HEAD has in ${names}: the uncommitted changes there are gone, ` +
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
  after: Snapshot,
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
  session: SessionId,
  isCommit: boolean,
  before: Oid | null,
  now: number,
): LedgerEntry[] {
  if (!isCommit) return [];
  const undo = before === null ? '' : ` It can undo that, and keeps all files, with: ${undoing(before)}.`;
  return [...new Set(ended.map((claim) => claim.session))].map((owner) => {
    const paths = ended.filter((claim) => claim.session === owner).map(({ path }) => escapeLine(path));
    const names = paths.slice(0, MAX_NAMES).join(', ') + (paths.length > MAX_NAMES ? ' …' : '');
    return event(
      `${theSession(session)} took your uncommitted changes in ${names} into its commit, or away with it.${undo} Look: git log -3 --stat`,
      now,
      owner,
    );
  });
}

/** Every commit since then is taken back; the files stay as they are. */
const undoing = (before: Oid) => `git reset ${before.slice(0, 12)}`;

function endedNotice(
  { path, session }: OpenClaim,
  isCommit: boolean,
  before: Oid | null,
  kept: number | undefined,
): string {
  const deed = isCommit ? 'went into your commit' : 'was put back to what HEAD has';
  const look = kept === undefined ? 'git stash list; git log -3 --stat' : `git handoff rescue show ${kept}`;
  const undo =
    isCommit && before !== null
      ? `Undo the commit, which keeps all files: ${undoing(before)}; then commit your own: git handoff commit -m '<message>'. `
      : '';
  return `${escapeLine(path)} ${deed}: ${theSession(session).toLowerCase()} had uncommitted work in it. ${undo}Tell your person, and look: ${look}`;
}

/** What is gone of others, or nobody's: a session's own files are its own to remove. */
async function keepOthers(
  scene: Scene,
  place: WorkPlace,
  { all, self }: Ledgers,
  { snapshot, session }: OpenWindow,
  after: Snapshot,
  command: string,
): Promise<number | undefined> {
  const foreign = claimOwners(all.filter((ledger) => ledger !== self));
  const own = [...self.claims.keys()].filter((path) => !foreign.has(path));
  const dirty = new Map([...snapshot.dirty].filter(([path]) => !own.includes(path)));
  return keepVanished(scene, place, { ...snapshot, dirty }, after, foreign, { session, command });
}
