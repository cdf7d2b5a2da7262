import fs, { mkdtempSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { WorktreeEvent } from '../../src/domain/journal/events.ts';
import type { SessionId } from '../../src/domain/names.ts';
import { type LedgerPlace, appendEvents, compactJournal, readLedger } from '../../src/sessions/journal.ts';

/**
 * Does what another process might do just before our next call of this function. Replaces it in `node:fs` itself, since a
 * mock would not reach a ledger that another test of this worker has already imported.
 */
function before(name: 'renameSync' | 'writeSync', act: () => void): void {
  const call: (...args: never[]) => unknown = fs[name];
  vi.spyOn(fs, name).mockImplementation((...args: unknown[]) => {
    putBack();
    act();
    return call(...(args as never[])) as never;
  });
  syncBuiltinESMExports();
}

function putBack(): void {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
}

const session = 'aaaaaaaa-1111' as SessionId;
let place: LedgerPlace;
beforeEach(() => {
  place = { commonDir: mkdtempSync(join(tmpdir(), 'git-notes-test-')), worktreeId: '0123456789abcdef' };
  appendEvents(place, session, [claim('first')]);
});
afterEach(() => {
  putBack();
  rmSync(place.commonDir, { recursive: true, force: true });
});

function claim(path: string): WorktreeEvent {
  const [base, before, after] = [null, null, { mode: '100644', oid: null }];
  return { t: 'claim', path, base, before, after, evidence: 'explicit', weak: false, at: Date.now() };
}

const claimed = () => [...readLedger(place, session).claims.keys()];

it('a claim that is appended while the ledger is rewritten is kept', () => {
  before('renameSync', () => appendEvents(place, session, [claim('meanwhile')]));
  compactJournal(place.commonDir, session);
  expect(claimed()).toEqual(['first', 'meanwhile']);
});

it('a claim that went to a ledger which was just replaced is appended again', () => {
  before('writeSync', () => compactJournal(place.commonDir, session));
  appendEvents(place, session, [claim('second')]);
  expect(claimed()).toEqual(['first', 'second']);
});
