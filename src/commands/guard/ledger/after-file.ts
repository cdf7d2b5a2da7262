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
import { takeBefore } from '../../../store/before-copies.ts';
import { appendEntries } from '../../../store/ledger.ts';
import type { Scene } from '../scene.ts';
import { newsFor } from './news.ts';
import { placesOf } from './places.ts';
import { type WorkPlace, lookingTime, openLedgers } from './work-place.ts';

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

async function claimPaths(
  scene: Scene,
  place: WorkPlace,
  session: SessionId,
  paths: readonly string[],
): Promise<void> {
  const scratch = scratchStore(place.commonDir);
  const timeoutMs = lookingTime(scene);
  const looking = takeSnapshot(place.top, { paths, scratch, timeoutMs, now: scene.now });
  // While git looks: what stood there before, by the name that git would give it in most repositories.
  const copies = new Map(paths.map((path) => [path, copyOf(place, session, path)]));
  const snapshot = await looking;
  const { self, all } = openLedgers(place, session);
  const entries: LedgerEntry[] = [];
  for (const path of paths) {
    const dirty = snapshot.dirty.get(path);
    if (dirty === undefined) {
      if (self.claims.has(path)) entries.push({ t: 'end', path, why: 'clean', at: scene.now });
      continue;
    }
    const before = await stateBefore(dirty, copies.get(path), all, self, { place, timeoutMs });
    const { head: base, disk: after } = dirty;
    if (sameState(before, after) && self.claims.has(path)) continue;
    entries.push({ t: 'claim', path, base, before, after, evidence: 'explicit', weak: false, at: scene.now });
  }
  appendEntries(place, session, entries);
}

/** A file as it was before the tool, with the name of the blob that it would be. */
interface Copy {
  readonly content: Buffer;
  readonly sha1: string;
}

function copyOf(place: WorkPlace, session: SessionId, path: string): Copy | undefined {
  const content = takeBefore(place, session, path);
  return content === undefined ? undefined : { content, sha1: objectName('sha1', 'blob', content) };
}

/** What stood at a path before the tool: the copy's name, or else what the ledgers knew last, or HEAD's. */
async function stateBefore(
  dirty: DirtyPath,
  copy: Copy | undefined,
  ledgers: readonly SessionLedger[],
  self: SessionLedger,
  { place, timeoutMs }: { place: WorkPlace; timeoutMs: number },
): Promise<FileState> {
  const claims = ledgers.flatMap((ledger) => ledger.claims.get(dirty.path) ?? []);
  const last = [...claims].sort((a, b) => b.at - a.at)[0];
  const known = [dirty.head, ...claims.map(({ after }) => after), self.claims.get(dirty.path)?.after ?? null];
  const guess = last === undefined ? dirty.head : last.after;
  if (copy === undefined) return guess;
  const { content } = copy;
  const format = formatOf(known.find((state) => (state?.oid ?? null) !== null)?.oid ?? dirty.disk?.oid ?? '');
  const raw = format === 'sha1' ? copy.sha1 : objectName(format, 'blob', content);
  const found = known.find((state) => state?.oid === raw);
  if (found !== undefined) return found;
  const scratch = scratchStore(place.commonDir);
  const oid = await hashContent(place.top, dirty.path, content, scratch, timeoutMs);
  const mode = dirty.head?.mode ?? dirty.disk?.mode ?? '100644';
  return oid === undefined ? guess : { mode, oid };
}
