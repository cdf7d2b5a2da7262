import type { Verdict } from '../../../agents/dialect.ts';
import {
  type FileState,
  type LedgerEntry,
  type SessionLedger,
  sameState,
} from '../../../domain/ledger/claims.ts';
import type { DirtyPath } from '../../../domain/ledger/snapshot.ts';
import type { SessionId } from '../../../domain/names.ts';
import { formatOf, objectName } from '../../../git/hash.ts';
import { hashContent, scratchStore } from '../../../git/scratch-store.ts';
import { takeSnapshot } from '../../../git/work-tree.ts';
import { appendEntries } from '../../../store/ledger.ts';
import { keepBefore, takeBefore } from '../../../store/before-copies.ts';
import type { Scene } from '../scene.ts';
import { contention } from './contention.ts';
import { elsewhere } from './elsewhere.ts';
import { newsFor } from './news.ts';
import {
  type PlacedPath,
  type WorkPlace,
  ledgerOf,
  lookingTime,
  openLedgers,
  placeOf,
} from './work-place.ts';

/** Before a file tool: is any of its paths somebody else's? Then what stands there now is kept. */
export async function beforeFiles(
  scene: Scene,
  session: SessionId,
  paths: readonly string[],
): Promise<Verdict | undefined> {
  for (const [place, placed] of await placesOf(scene, session, paths)) {
    const [first] = placed;
    if (first === undefined) continue;
    const touches = placed.map(({ path }) => ({ path, whole: false }));
    const verdict = await contention(scene, first.found, place, session, touches);
    if (verdict?.kind === 'deny') return verdict;
    for (const { path } of placed) keepBefore(place, session, place.top, path);
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

/** After a file tool: its paths are this session's. Returns what the others have to tell it. */
export async function afterFiles(
  scene: Scene,
  session: SessionId,
  paths: readonly string[],
): Promise<readonly string[]> {
  const news: string[] = [];
  for (const [place, placed] of await placesOf(scene, session, paths)) {
    await claimPaths(
      scene,
      place,
      session,
      placed.map(({ path }) => path),
    );
    const { lines, told } = newsFor(openLedgers(place, session), undefined, scene.now);
    appendEntries(place, session, told);
    news.push(...lines);
  }
  return news;
}

/** The paths by worktree; a worktree where the session works for the first time gets to know it. */
async function placesOf(
  scene: Scene,
  session: SessionId,
  paths: readonly string[],
): Promise<Map<WorkPlace, PlacedPath[]>> {
  const places = new Map<string, PlacedPath[]>();
  for (const path of paths) {
    const placed = placeOf(path, true);
    if (placed === undefined) continue;
    const { gitDir } = placed.found;
    places.set(gitDir, [...(places.get(gitDir) ?? []), placed]);
  }
  const result = new Map<WorkPlace, PlacedPath[]>();
  for (const placed of places.values()) {
    const [first] = placed;
    if (first === undefined) continue;
    if (first.found.gitDir !== scene.place?.gitDir) await elsewhere(scene, session, first.found);
    const ledger = ledgerOf(first.found, session);
    if (ledger !== undefined) result.set(ledger, placed);
  }
  return result;
}

async function claimPaths(
  scene: Scene,
  place: WorkPlace,
  session: SessionId,
  paths: readonly string[],
): Promise<void> {
  const scratch = scratchStore(place.commonDir);
  const timeoutMs = lookingTime(scene);
  const snapshot = await takeSnapshot(place.top, { paths, scratch, timeoutMs, now: scene.now });
  const { self, all } = openLedgers(place, session);
  const entries: LedgerEntry[] = [];
  for (const path of paths) {
    const dirty = snapshot.dirty.get(path);
    const content = takeBefore(place, session, path);
    if (dirty === undefined) {
      if (self.claims.has(path)) entries.push({ t: 'end', path, why: 'clean', at: scene.now });
      continue;
    }
    const before = await stateBefore(dirty, content, all, self, { place, timeoutMs });
    const { head: base, disk: after } = dirty;
    if (sameState(before, after) && self.claims.has(path)) continue;
    entries.push({ t: 'claim', path, base, before, after, evidence: 'explicit', weak: false, at: scene.now });
  }
  appendEntries(place, session, entries);
}

/** What stood at a path before the tool: the copy's name, or else what the ledgers knew last, or HEAD's. */
async function stateBefore(
  dirty: DirtyPath,
  content: Buffer | undefined,
  ledgers: readonly SessionLedger[],
  self: SessionLedger,
  { place, timeoutMs }: { place: WorkPlace; timeoutMs: number },
): Promise<FileState> {
  const claims = ledgers.flatMap((ledger) => ledger.claims.get(dirty.path) ?? []);
  const last = [...claims].sort((a, b) => b.at - a.at)[0];
  const known = [dirty.head, ...claims.map(({ after }) => after), self.claims.get(dirty.path)?.after ?? null];
  const guess = last === undefined ? dirty.head : last.after;
  if (content === undefined) return guess;
  const format = formatOf(known.find((state) => (state?.oid ?? null) !== null)?.oid ?? dirty.disk?.oid ?? '');
  const raw = objectName(format, 'blob', content);
  const found = known.find((state) => state?.oid === raw);
  if (found !== undefined) return found;
  const scratch = scratchStore(place.commonDir);
  const oid = await hashContent(place.top, dirty.path, content, scratch, timeoutMs);
  const mode = dirty.head?.mode ?? dirty.disk?.mode ?? '100644';
  return oid === undefined ? guess : { mode, oid };
}
