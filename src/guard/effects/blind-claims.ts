import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LedgerEntry } from '../../domain/ledger/claims.ts';
import type { FileState } from '../../domain/ledger/file-state.ts';
import { parseOid } from '../../domain/names.ts';
import { formatOf, objectName } from '../../git/hash.ts';
import { diskState } from '../../git/work-tree.ts';
import { changedWithin } from '../../changes/window-changes.ts';
import type { OpenWindow } from '../../changes/windows.ts';
import type { WorkPlace } from '../../changes/work-place.ts';

/** What HEAD has there is not known. */
const UNREAD: FileState = { mode: '100644', oid: null };

/**
 * The claims on what a command named, when git could not be asked after it: by the disk alone. A path that was left as it
 * was, by its times, is not claimed.
 */
export function blindClaims({ top }: WorkPlace, window: OpenWindow, now: number): LedgerEntry[] {
  const { snapshot, from } = window;
  const time = { session: window.session, id: window.id, from, to: now };
  return window.named.flatMap((path): LedgerEntry[] => {
    const then = snapshot.dirty.get(path);
    const after = contentState(top, path, snapshot.head.oid ?? '');
    const [base, before] = then === undefined ? [UNREAD, UNREAD] : [then.head, then.disk];
    const change = { path, base, before, after, wasDirty: then !== undefined };
    if ((before === null && after === null) || !changedWithin(top, change, time)) return [];
    return [{ t: 'claim', path, base, before, after, evidence: 'named', weak: false, at: now }];
  });
}

function contentState(top: string, path: string, like: string): FileState {
  const state = diskState(top, { path });
  if (state?.mode.startsWith('100') !== true) return state;
  try {
    const oid = parseOid(objectName(formatOf(like), 'blob', readFileSync(join(top, path))));
    return { ...state, oid: oid ?? null };
  } catch {
    return state;
  }
}
