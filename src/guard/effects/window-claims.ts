import type { LedgerEntry } from '../../domain/ledger/claims.ts';
import { sameState } from '../../domain/ledger/file-state.ts';
import {
  type Snapshot,
  type Window,
  type WindowChange,
  changesBetween,
  windowEvidence,
} from '../../domain/ledger/snapshot.ts';
import { changedAt } from '../../git/work-tree.ts';
import { ARRIVAL, type OpenWindow } from '../../changes/windows.ts';
import type { Scene } from '../scene.ts';
import { type Ledgers, type WorkPlace, placeOf } from '../../changes/work-place.ts';

/** File times lag behind the clock by up to a tick of the kernel. Milliseconds. */
const CLOCK_SLACK_MS = 20;

/** A command with the working tree after it. */
export interface Around {
  readonly window: OpenWindow;
  readonly windows: readonly OpenWindow[];
  readonly after: Snapshot;
}

/** The claims on what changed while a session's command ran. */
export function claimsOf(scene: Scene, place: WorkPlace, ledgers: Ledgers, around: Around): LedgerEntry[] {
  const { window, windows, after } = around;
  const closed: Window[] = ledgers.all.flatMap((ledger) => ledger.windows);
  const others = [...windows, ...closed].filter(
    (one) => one.session !== window.session && one.id !== ARRIVAL && !isForgotten(one, scene.now),
  );
  const sure = windowEvidence({ ...window, to: scene.now }, others);
  return changesBetween(window.snapshot, after).flatMap((change): LedgerEntry[] => {
    const { path, base, before } = change;
    const named = window.named.some((name) => path === name || path.startsWith(`${name}/`));
    const agent = scene.event.agent === undefined ? {} : { agent: scene.event.agent };
    const claim = { t: 'claim' as const, path, base, before, after: change.after, ...agent, at: scene.now };
    if (isOthers(change, ledgers, window)) return [];
    if (named) return [{ ...claim, evidence: 'named', weak: false }];
    const mine = ledgers.self.claims.has(path);
    const theirs = ledgers.all.some((one) => one !== ledgers.self && one.claims.has(path));
    // Dirty before, and nobody's: a formatter or a test run does not make it anybody's.
    if (change.wasDirty && !mine && !theirs) return [];
    const weak = sure.weak || !changedWithin(place, change, window, scene.now);
    return [{ ...claim, evidence: 'window', weak }];
  });
}

/** A command whose end nobody has told of: the session has crashed, or its client gave it up. Milliseconds. */
const FORGOTTEN_MS = 10 * 60_000;

function isForgotten({ from, to }: Window, now: number): boolean {
  return to === undefined && now - from > FORGOTTEN_MS;
}

/** Another session's own tool call, on record since the window opened, made this very change. */
function isOthers(change: WindowChange, { all, self }: Ledgers, window: OpenWindow): boolean {
  return all.some((ledger) => {
    const claim = ledger === self ? undefined : ledger.claims.get(change.path);
    return (
      claim !== undefined &&
      claim.evidence !== 'window' &&
      claim.at >= window.from &&
      sameState(claim.after, change.after)
    );
  });
}

function changedWithin(
  place: WorkPlace,
  { path, before, after }: WindowChange,
  window: Window,
  now: number,
): boolean {
  // What is gone has no time, and that of a submodule's folder says nothing about its commit.
  if (after === null || after.mode === '160000') return true;
  // A change of the mode leaves the time of the content.
  if (before?.oid === after.oid && after.oid !== null) return true;
  const at = changedAt(place.top, path);
  return at !== undefined && at >= window.from - CLOCK_SLACK_MS && at <= now + CLOCK_SLACK_MS;
}

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
