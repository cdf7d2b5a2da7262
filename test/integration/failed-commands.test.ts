import { appendFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SessionId } from '../../src/domain/names.ts';
import { failedFolder, forgetFailed, readFailed, rememberFailed } from '../../src/notes/failed-commands.ts';

const ID = 'aaaaaaaa-1111' as SessionId;
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'git-notes-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

it('keeps the last five of a session, without repetitions, in a file that stays small', () => {
  for (let n = 0; n < 500; n++)
    rememberFailed(folder, ID, { command: `make ${n >> 1} ${'x'.repeat(100)}`, exit: 2 });
  const names = readFailed(folder, ID).map(({ command }) => command.split(' ')[1]);
  expect(names).toEqual(['245', '246', '247', '248', '249']);
  expect(statSync(join(failedFolder(folder), ID)).size).toBeLessThan(9000);
  expect(readFailed(folder, 'bbbbbbbb-2222' as SessionId)).toEqual([]);
  forgetFailed(folder, ID);
  expect(readFailed(folder, ID)).toEqual([]);
});

it('reads past a line that is torn', () => {
  rememberFailed(folder, ID, { command: 'one', exit: undefined });
  appendFileSync(join(failedFolder(folder), ID), '{"command":"to');
  rememberFailed(folder, ID, { command: 'two', exit: 1 });
  expect(readFailed(folder, ID)).toEqual([
    { command: 'one', exit: undefined },
    { command: 'two', exit: 1 },
  ]);
});
