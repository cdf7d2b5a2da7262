import type { WorktreeEvent } from '../../../src/domain/journal/events.ts';
import type { FileState, DirtyPath, TreeStatus } from '../../../src/domain/ledger/tree-status.ts';
import type { Oid } from '../../../src/domain/names.ts';

/** A blob whose name contains its number. */
export function blob(n: number, mode = '100644'): NonNullable<FileState> {
  return { mode, oid: n.toString(16).padStart(40, '0') as Oid };
}

export function oid(n: number): Oid {
  return n.toString(16).padStart(40, 'c') as Oid;
}

export type ClaimEntry = Extract<WorktreeEvent, { t: 'claim' }>;

/** A claim from one state to another; `base` is what HEAD has. */
export function claim(
  path: string,
  before: FileState,
  after: FileState,
  more: Partial<ClaimEntry> = {},
): ClaimEntry {
  return { t: 'claim', path, base: before, before, after, evidence: 'explicit', weak: false, at: 1, ...more };
}

export function dirty(path: string, states: Partial<DirtyPath> = {}): DirtyPath {
  return { path, head: blob(1), index: blob(1), disk: blob(2), stamp: '', ...states };
}

export function snapshot(
  paths: readonly DirtyPath[],
  head: Partial<TreeStatus['head']> = {},
  at = 0,
): TreeStatus {
  return {
    at,
    head: { ref: 'refs/heads/main', oid: oid(1), ...head },
    dirty: new Map(paths.map((entry) => [entry.path, entry])),
  };
}
