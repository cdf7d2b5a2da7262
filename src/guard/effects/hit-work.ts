import type { WorktreeEvent } from '../../domain/journal/events.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { type TreeStatus, discardedBetween, overlaps, sameOnDisk } from '../../domain/ledger/tree-status.ts';
import { claimOwners, lastSeen } from '../../domain/ledger/vanished.ts';
import { type Oid, type SessionId, ownerName, peerName, sessionOfOwner } from '../../domain/names.ts';
import { escapeLine, listed } from '../../domain/messages.ts';
import {
  ARRIVAL,
  lookTimeoutMs,
  type OpenWindow,
  readWindows,
  type WorkPlace,
} from '../../changes/windows.ts';
import { keepVanished } from './keep-work.ts';
import { namesStash } from './look-around.ts';
import type { Finished, OpenLedger } from '../facts.ts';
import { type TreeCall, windowId } from '../call.ts';
import { type Typed, typedAt } from '../checks/typed.ts';
import { pathWords } from '../../changes/hint-words.ts';
import { readConsumed } from '../../sessions/bypass.ts';
import { news } from '../../sessions/happenings.ts';
import { appendEvents } from '../../sessions/journal.ts';
import { readClients } from '../../sessions/records.ts';

/** Reports and saves others' uncommitted work that a session's command removed, replaced or committed. */

const MAX_NAMES = 5;

/** Whose work was hit, how, and the number of the rescue that holds it as it was. */
interface Hit {
  readonly owner: SessionId;
  readonly paths: readonly string[];
  /** `committed`: the command's commit has the work · `gone`: the file is as in HEAD · `changed`: the file differs. */
  readonly how: 'committed' | 'gone' | 'changed';
  readonly kept: number | undefined;
}

/** Saves others' work that the command removed or replaced (`hit`), and tells both sides. `caused`: the command's events. */
export async function keepHitWork(
  call: TreeCall,
  done: Finished,
  hit: readonly OpenClaim[],
  caused: readonly WorktreeEvent[],
): Promise<{ entries: WorktreeEvent[]; notices: string[] }> {
  const { place, ledgers, window, after, command } = done;
  const { dialect, now } = call;
  const before = window.status.head.oid;
  const isCommit = caused.some((entry) => entry.t === 'head' && entry.own);
  const isOthers = (path: string) => ledgers.others.some(({ claims }) => claims.has(path));
  // A stash discards nothing: it sets aside the session's own work, and work that nobody has claimed.
  const discarded = namesStash(call, command)
    ? []
    : discardedBetween(window.status, after).filter((path) => !isOthers(path));
  const kept = await keepOthers(call, done, hit);
  const clients = hit.length === 0 ? undefined : await readClients({ cwd: place.top }, lookTimeoutMs(call));
  const howOf = (path: string) => (after.dirty.has(path) ? 'changed' : isCommit ? 'committed' : 'gone');
  // Both sides already know about a commit that a person allowed, and nobody should undo it.
  const hits = byOwner(hit, howOf, kept).filter(({ how }) => how !== 'committed' || !isAllowed(call, window));
  const who = ownerName(ledgers.self.session, dialect);
  return {
    entries: [
      ...discardedEvents(discarded, call),
      ...hits.map((one) =>
        news(ownersText(one, who, place, before), now, { to: one.owner, paths: one.paths, about: 'loss' }),
      ),
    ],
    notices: hits.map((one) => callersText(one, peerName(one.owner, { clients }), typedAt(call), before)),
  };
}

/** Whether a person allowed this command, or a commit that it made. */
function isAllowed(call: TreeCall, { from }: OpenWindow): boolean {
  return readConsumed(call.tree.commonDir, call.session).some(({ key, at }) =>
    key.kind === 'git' ? at >= from : key.id === windowId(call),
  );
}

/** Tells other sessions that uncommitted work was discarded on purpose, so that nobody "repairs" it. */
function discardedEvents(gone: readonly string[], { session, dialect, now }: TreeCall): WorktreeEvent[] {
  if (gone.length === 0) return [];
  const text =
    `${ownerName(session, dialect)} discarded the uncommitted changes in ${named(gone)} with its own command. ` +
    'Do not restore them without asking.';
  return [news(text, now, { paths: gone, about: 'loss' })];
}

/** Others' claims on work that is gone or replaced after this command, unless a command of the claiming session explains it. */
export function claimsHit({ window, windows, ledgers, after }: Finished): OpenClaim[] {
  return ledgers.others.flatMap((ledger) => {
    const running = [...ledger.windows, ...windows.filter(({ session }) => session === ledger.session)];
    const others = running.filter(({ id }) => id !== ARRIVAL);
    const mayHaveEnded = overlaps(window, others);
    // We assume that a background program (a server) may commit, but does not edit the sources.
    const inForeground = others.map((one) => ({ ...one, goesOn: false }));
    const mayHaveChanged = overlaps(window, inForeground);
    return [...ledger.claims.values()].filter(({ path, weak, at }) => {
      const [then, now] = [window.status.dirty.get(path), after.dirty.get(path)];
      const own = ledgers.self.claims.get(path)?.at ?? 0;
      if (at >= window.from || own > at || then === undefined) return false;
      return now === undefined ? !weak && !mayHaveEnded : !mayHaveChanged && !sameOnDisk(then, now);
    });
  });
}

function byOwner(
  claims: readonly OpenClaim[],
  howOf: (path: string) => Hit['how'],
  kept: number | undefined,
): Hit[] {
  const hits = new Map<string, Hit>();
  for (const { session: owner, path } of claims) {
    const how = howOf(path);
    const paths = [...(hits.get(`${owner} ${how}`)?.paths ?? []), path];
    hits.set(`${owner} ${how}`, { owner, paths, how, kept });
  }
  return [...hits.values()];
}

/** The command that undoes every commit since `before` and leaves the files as they are. */
const undoing = (before: Oid) => `git reset ${before.slice(0, 12)}`;

const named = (paths: readonly string[]) => listed(paths.map(escapeLine), MAX_NAMES);

/** The text for the owner's next call, which may be made in any folder of the working tree. */
function ownersText({ paths, how, kept }: Hit, who: string, place: WorkPlace, before: Oid | null): string {
  if (how === 'committed') {
    const undo = before === null ? '' : ` That session can undo its commit (files stay): ${undoing(before)}.`;
    return `A command of ${who} committed or removed your uncommitted changes in ${named(paths)}.${undo} To check: git log -3 --stat`;
  }
  const deed =
    how === 'gone'
      ? `discarded the changes in ${named(paths)}: your uncommitted work there is gone`
      : `ran a command that changed ${named(paths)}, where you have uncommitted work`;
  const words = pathWords(place.commonDir, paths, (path) => `:/${path}`);
  return `${who} ${deed}. ${keptText(kept, words)}`;
}

/** The text for the session that ran the command. */
function callersText({ paths, how, kept }: Hit, owner: string, typed: Typed, before: Oid | null): string {
  const names = named(paths);
  if (how === 'committed') {
    const undo =
      before === null
        ? ''
        : `Undo the commit, keeping all files: ${undoing(before)}; then commit your own: git handoff commit -m '<message>'. `;
    const look = kept === undefined ? 'git stash list; git log -3 --stat' : `git handoff rescue show ${kept}`;
    return `${names} went into your commit: ${owner} had uncommitted work there. ${undo}Tell the user, and check: ${look}`;
  }
  const deed = how === 'gone' ? 'went back to what HEAD has' : 'changed while the command ran';
  return `${names} ${deed}: ${owner} had uncommitted work there. Tell the user. ${keptText(kept, typed.plainPaths(paths))}`;
}

/** Says where the work is, and how to put it back. */
function keptText(kept: number | undefined, words: string): string {
  if (kept === undefined) return 'No rescue of the work could be made: check git diff before you go on';
  return `A rescue holds the work as it was: git handoff rescue show ${kept}; to put it back: git handoff rescue restore --force ${kept}${words}`;
}

/** Saves others' work that is gone or replaced, and unclaimed work that is gone. A session may change its own work. */
async function keepOthers(
  call: TreeCall,
  { place, ledgers: { others, self }, window: { status, session }, after, command }: Finished,
  hit: readonly OpenClaim[],
): Promise<number | undefined> {
  const foreign = claimOwners(others);
  const own = [...self.claims.keys()].filter((path) => !foreign.has(path));
  const dirty = new Map([...status.dirty].filter(([path]) => !own.includes(path)));
  const changed = new Set(hit.map(({ path }) => path));
  const ran = { session: sessionOfOwner(session), command, changed };
  return (await keepVanished(call, place, { ...status, dirty }, after, foreign, ran))?.kept;
}

/**
 * Saves work that has disappeared since the last status although no session's command ran, and tells the owners. Does not
 * report what was missing before: a session removed it, or it has been reported. Returns whether there is news.
 */
export async function keepGoneOutside(
  call: TreeCall,
  { place, ledgers: { all, self } }: OpenLedger,
  known: TreeStatus | undefined,
  after: TreeStatus,
): Promise<boolean> {
  const owners = claimOwners(all);
  const before = lastSeen(known, all);
  const { lost: missing = [], kept } = (await keepVanished(call, place, before, after, owners)) ?? {};
  const isNew = (path: string) =>
    known?.dirty.has(path) === true ||
    all.some(({ claims }) => (claims.get(path)?.at ?? -1) >= (known?.at ?? 0));
  const lost = missing.filter(({ path }) => isNew(path));
  // A command that is running may have removed the work: we check again when that command has ended.
  if (kept === undefined || readWindows(place).some(({ id }) => id !== ARRIVAL)) return false;
  const told = [...new Set(lost.flatMap(({ path }) => owners.get(path) ?? []))].map((to) => {
    const paths = lost.map(({ path }) => path).filter((path) => owners.get(path) === to);
    const words = pathWords(place.commonDir, paths, (path) => `:/${path}`);
    const text = `your uncommitted work in ${named(paths)} is gone. No session's tool call removed it, so the user or another program did. Ask the user before you bring it back. ${keptText(kept, words)}`;
    // Several sessions may see the same loss. Because of this id, the owner hears of the loss only once.
    return { ...news(text, call.now, { to, paths, about: 'loss' }), id: `gone:${kept}:${to}` };
  });
  appendEvents(place, self.session, told);
  return told.length > 0;
}
