import type { LedgerEntry } from '../../domain/ledger/claims.ts';
import type { Snapshot } from '../../domain/ledger/snapshot.ts';
import { type WorkPlace, placeOf } from '../../changes/work-place.ts';
import type { Scene } from '../scene.ts';

/** Without a look before, what the client says that the command changed. */
export function toldChanges(scene: Scene, place: WorkPlace, after: Snapshot): LedgerEntry[] {
  return scene.event.changedFiles.flatMap((file): LedgerEntry[] => {
    const placed = placeOf(file, true);
    const dirty = placed === undefined ? undefined : after.dirty.get(placed.path);
    if (placed?.found.gitDir !== place.gitDir || dirty === undefined) return [];
    const { path, head, disk } = dirty;
    const claim = { path, base: head, before: head, after: disk, at: scene.now };
    return [{ t: 'claim', ...claim, evidence: 'window', weak: false }];
  });
}
