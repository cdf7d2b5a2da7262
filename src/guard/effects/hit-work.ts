import type { WorktreeEvent } from '../../domain/journal/events.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { type TreeStatus, discardedBetween, overlaps, sameOnDisk } from '../../domain/ledger/tree-status.ts';
import { claimOwners } from '../../domain/ledger/vanished.ts';
import { type Oid, type SessionId, ownerName, peerName } from '../../domain/names.ts';
import { aliasesFrom } from '../../domain/settings.ts';
import { escapeLine, listed } from '../../domain/surfacing.ts';
import { ARRIVAL, type OpenWindow } from '../../changes/windows.ts';
import { keepVanished } from './keep-work.ts';
import { type TreeCall, windowId } from '../call.ts';
import { type Typed, typedIn } from '../checks/typed.ts';
import { pathWords } from '../../changes/hint-words.ts';
import { type Ledgers, type WorkPlace, lookTimeoutMs } from '../../changes/work-place.ts';
import { readConsumed } from '../../sessions/bypass.ts';
import { news } from '../../sessions/happenings.ts';
import { readClients } from '../../sessions/records.ts';

/** Uncommitted work that a session's command hit: whose it was, who must hear of it, and where it is kept. */

const MAX_NAMES = 5;

/** What a command of the session left behind. */
interface Left {
  readonly window: OpenWindow;
  readonly after: TreeStatus;
  readonly command: string;
  /** What is known of it already. */
  readonly entries: readonly WorktreeEvent[];
  /** See {@link claimsHit}. */
  readonly hit: readonly OpenClaim[];
}

/** Whose work was hit, how, and the rescue that holds it as it was. */
interface Hit {
  readonly owner: SessionId;
  readonly paths: readonly string[];
  /** `committed`: it went into the command's commit · `gone`: HEAD's content stands there · `changed`: something else does. */
  readonly how: 'committed' | 'gone' | 'changed';
  readonly kept: number | undefined;
}

/** Keeps what is gone or changed of others after the command, and says so to both sides. */
export async function keepHitWork(
  call: TreeCall,
  place: WorkPlace,
  ledgers: Ledgers,
  { window, after, command, entries, hit }: Left,
): Promise<{ entries: WorktreeEvent[]; notices: string[] }> {
  const { session, dialect, now } = call;
  const before = window.snapshot.head.oid;
  const isCommit = entries.some((entry) => entry.t === 'head' && entry.own);
  const isOthers = (path: string) => ledgers.all.some((one) => one !== ledgers.self && one.claims.has(path));
  const discarded = isStash(call, command)
    ? []
    : discardedBetween(window.snapshot, after).filter((path) => !isOthers(path));
  const kept = await keepOthers(call, place, ledgers, { window, after, command, hit });
  const clients = hit.length === 0 ? undefined : await clientsBeside(call, place);
  const howOf = (path: string) => (after.dirty.has(path) ? 'changed' : isCommit ? 'committed' : 'gone');
  // Both sides know already of a commit that a person has allowed, and nobody is to undo it.
  const hits = byOwner(hit, howOf, kept).filter(({ how }) => how !== 'committed' || !isAllowed(call, window));
  const who = ownerName(session, dialect);
  return {
    entries: [
      ...discardedEvents(discarded, call),
      ...hits.map((one) =>
        news(ownersText(one, who, place, before), now, { to: one.owner, paths: one.paths, about: 'loss' }),
      ),
    ],
    notices: hits.map((one) =>
      callersText(one, peerName(one.owner, { clients }), typedIn(call, place), before),
    ),
  };
}

/** Whether a person has let this command, or a commit of it, through. */
function isAllowed(call: TreeCall, { from }: OpenWindow): boolean {
  return readConsumed(call.tree.commonDir, call.session).some(({ key, at }) =>
    key.kind === 'git' ? at >= from : key.id === windowId(call),
  );
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
  return [
    news(
      `${ownerName(session, dialect)} discarded the uncommitted changes in ${named(gone)} with its own command. ` +
        'Do not restore them without asking.',
      now,
      { paths: gone, about: 'loss' },
    ),
  ];
}

/** Others' uncommitted work that is gone or another after this command, by nothing of their own. */
export function claimsHit(
  window: OpenWindow,
  windows: readonly OpenWindow[],
  { all, self }: Ledgers,
  after: TreeStatus,
): OpenClaim[] {
  return all.flatMap((ledger) => {
    if (ledger === self) return [];
    const running = [...ledger.windows, ...windows.filter(({ session }) => session === ledger.session)];
    const others = running.filter(({ id }) => id !== ARRIVAL);
    const mayHaveEnded = overlaps(window, others);
    // What runs on in the background (a server) commits at times, and leaves the sources as they are.
    const mayHaveChanged = overlaps(
      window,
      others.map((one) => ({ ...one, goesOn: false })),
    );
    return [...ledger.claims.values()].filter(({ path, weak, at }) => {
      const [then, now] = [window.snapshot.dirty.get(path), after.dirty.get(path)];
      const own = self.claims.get(path)?.at ?? 0;
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

/** Every commit since then is taken back; the files stay as they are. */
const undoing = (before: Oid) => `git reset ${before.slice(0, 12)}`;

const named = (paths: readonly string[]) => listed(paths.map(escapeLine), MAX_NAMES);

/** What the owner hears with its next call, wherever in the working tree that is made. */
function ownersText({ paths, how, kept }: Hit, who: string, place: WorkPlace, before: Oid | null): string {
  if (how === 'committed') {
    const undo = before === null ? '' : ` It can undo that, and keeps all files, with: ${undoing(before)}.`;
    return `${who} took your uncommitted changes in ${named(paths)} into its commit, or away with it.${undo} Look: git log -3 --stat`;
  }
  const deed =
    how === 'gone'
      ? `discarded the changes in ${named(paths)}: your uncommitted work there is gone`
      : `ran a command that changed ${named(paths)}, where you have uncommitted work`;
  const words = pathWords(place.commonDir, paths, (path) => `:/${path}`);
  return `${who} ${deed}. ${keptText(kept, words)}`;
}

/** What the session hears that ran the command. */
function callersText({ paths, how, kept }: Hit, owner: string, typed: Typed, before: Oid | null): string {
  const names = named(paths);
  if (how === 'committed') {
    const undo =
      before === null
        ? ''
        : `Undo the commit, which keeps all files: ${undoing(before)}; then commit your own: git handoff commit -m '<message>'. `;
    const look = kept === undefined ? 'git stash list; git log -3 --stat' : `git handoff rescue show ${kept}`;
    return `${names} went into your commit: ${owner} had uncommitted work in it. ${undo}Tell the user, and look: ${look}`;
  }
  const deed = how === 'gone' ? 'was put back to what HEAD has' : 'changed while the command ran';
  return `${names} ${deed}: ${owner} had uncommitted work in it. Tell the user. ${keptText(kept, typed.plainPaths(paths))}`;
}

/** Where the work is, and how it comes back. */
function keptText(kept: number | undefined, words: string): string {
  if (kept === undefined) return 'It could not be kept: look at git diff before you go on';
  return `It is kept as it was: git handoff rescue show ${kept}; to put it back: git handoff rescue restore --force ${kept}${words}`;
}

/** The clients of the sessions at work here, for a message that has to name one. */
async function clientsBeside(call: TreeCall, { top }: WorkPlace): Promise<ReadonlyMap<SessionId, string>> {
  return readClients({ cwd: top }, lookTimeoutMs(call));
}

/** What is gone or changed of others, or gone of nobody's: a session's own files are its own to change. */
async function keepOthers(
  call: TreeCall,
  place: WorkPlace,
  { all, self }: Ledgers,
  { window: { snapshot, session }, after, command, hit }: Omit<Left, 'entries'>,
): Promise<number | undefined> {
  const foreign = claimOwners(all.filter((ledger) => ledger !== self));
  const own = [...self.claims.keys()].filter((path) => !foreign.has(path));
  const dirty = new Map([...snapshot.dirty].filter(([path]) => !own.includes(path)));
  const changed = new Set(hit.map(({ path }) => path));
  return keepVanished(call, place, { ...snapshot, dirty }, after, foreign, { session, command, changed });
}
