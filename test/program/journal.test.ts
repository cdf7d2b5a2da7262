import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { join } from 'node:path';
import type { SessionId } from '../../src/domain/names.ts';
import { journalFile } from '../../src/host/folders.ts';
import {
  appendSessionEvents,
  closeJournal,
  isFirstToReport,
  readJournal,
  readJournals,
  reopenJournal,
} from '../../src/sessions/journal.ts';

const [A, B] = ['aaaaaaaa-1111', 'bbbbbbbb-2222'] as [SessionId, SessionId];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'git-notes-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const asks = (session: SessionId, note: string) =>
  appendSessionEvents(folder, session, [{ t: 'asked', note, atStop: false, at: 1 }]);
const isNotifiedOf = (session: SessionId, ...ids: string[]) =>
  appendSessionEvents(folder, session, [{ t: 'notified', ids, at: 1 }]);
const notifiedOf = (session: SessionId) => [...readJournal(folder, session).notified.keys()];

describe('the journal of a session', () => {
  it('stays small, however much is added to it', () => {
    for (let n = 0; n < 3000; n++) asks(A, `${n} ${'x'.repeat(100)}`);
    expect(readJournal(folder, A).asked?.note).toMatch(/^2999 /);
    expect(statSync(journalFile(folder, A)).size).toBeLessThan(130 * 1024);
    expect(readJournal(folder, B).asked).toBeUndefined();
  });

  it('is read beyond a torn line, even if it was read before', () => {
    isNotifiedOf(A, 'one');
    expect(notifiedOf(A)).toEqual(['one']);
    appendFileSync(journalFile(folder, A), '{"t":"notified","ids":["to');
    expect(notifiedOf(A)).toEqual(['one']);
    isNotifiedOf(A, 'two');
    expect(notifiedOf(A)).toEqual(['one', 'two']);
  });

  it('lets only one of several simultaneous calls say a thing', () => {
    const said = ['x', 'y', 'z'].map((by) => isFirstToReport(folder, A, 'n', by, 1));
    expect(said).toEqual([true, false, false]);
    appendSessionEvents(folder, A, [{ t: 'notified', ids: ['m'], by: 'another process', at: 1 }]);
    expect(isFirstToReport(folder, A, 'm', 'x', 2)).toBe(false);
  });

  it('is not read by others once it is closed, and continues when the session comes back', () => {
    isNotifiedOf(A, 'one');
    closeJournal(folder, A);
    expect([readJournals(folder), notifiedOf(A)]).toEqual([[], ['one']]);
    reopenJournal(folder, A);
    isNotifiedOf(A, 'two');
    expect([readJournals(folder).length, notifiedOf(A)]).toEqual([1, ['one', 'two']]);
  });
});
