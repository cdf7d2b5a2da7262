import type * as FileSystem from 'node:fs';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { LedgerEntry } from '../../src/domain/ledger/claims.ts';
import type { SessionId } from '../../src/domain/names.ts';
import { type LedgerPlace, appendEntries, compact, readLedger } from '../../src/changes/ledger.ts';

/** What another process does at one moment of ours; the moment is a system call. */
const moment = vi.hoisted(() => ({ beforeRename: () => {}, beforeWrite: () => {} }));
vi.mock('node:fs', async (importOriginal) => {
  const fs = await importOriginal<typeof FileSystem>();
  const once = (name: keyof typeof moment) => {
    const act = moment[name];
    moment[name] = () => {};
    act();
  };
  return {
    ...fs,
    renameSync: (...args: Parameters<typeof fs.renameSync>) => {
      once('beforeRename');
      fs.renameSync(...args);
    },
    writeSync: (...args: [number, string]) => {
      once('beforeWrite');
      return fs.writeSync(...args);
    },
  };
});

const session = 'aaaaaaaa-1111' as SessionId;
let place: LedgerPlace;
beforeEach(() => {
  place = { commonDir: mkdtempSync(join(tmpdir(), 'git-notes-test-')), worktreeId: '0123456789abcdef' };
  appendEntries(place, session, [claim('first')]);
});
afterEach(() => rmSync(place.commonDir, { recursive: true, force: true }));

function claim(path: string): LedgerEntry {
  const [base, before, after] = [null, null, { mode: '100644', oid: null }];
  return { t: 'claim', path, base, before, after, evidence: 'explicit', weak: false, at: Date.now() };
}

const claimed = () => [...readLedger(place, session).claims.keys()];

it('a claim that is appended while the ledger is written anew is kept', () => {
  moment.beforeRename = () => appendEntries(place, session, [claim('meanwhile')]);
  compact(place, session);
  expect(claimed()).toEqual(['first', 'meanwhile']);
});

it('a claim that goes to a ledger which was just replaced is appended again', () => {
  moment.beforeWrite = () => compact(place, session);
  appendEntries(place, session, [claim('second')]);
  expect(claimed()).toEqual(['first', 'second']);
});
