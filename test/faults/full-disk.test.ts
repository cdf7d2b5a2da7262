import { describe, expect, it } from 'vitest';
import { REF } from '../support/faults/fault-world.ts';
import { amount, seeded, Tally } from '../support/faults/seed.ts';
import { NO_MOUNT, SmallDisk } from '../support/faults/small-disk.ts';

const PAGE = 4096;
const LEVELS = amount(8, 100);
/** What earlier levels have written stays on the disk. */
const [SIZE, INODES] = [amount(1, 32), amount(400, 40_000)];
const skipped = NO_MOUNT === undefined ? '' : ` (skipped: ${NO_MOUNT})`;

/** Writes while the disk has almost no room; the text is at the tip or kept on another disk. */
function writeWithLittle(disk: SmallDisk, text: string, take: () => void, tally: Tally): void {
  const before = disk.tip();
  take();
  const done = disk.write(text);
  const where = disk.whereabouts(text, done.stderr);
  tally.add(`text: ${where ?? 'lost'}`);
  expect(where, `exit ${done.status}: ${done.stderr}`).toBeDefined();
  expect(disk.expectOldOrNew(before, text, done.stdout)).toBe(done.status === 0);
  if (done.status !== 0) {
    expect(done.status, done.stderr).toBe(7);
    expect(done.stderr).toMatch(/^error: .*\nhint: (?:free some disk space|look for free space)/);
  }
  disk.giveBack();
  expect(disk.locks()).toEqual([]);
}

describe.skipIf(NO_MOUNT)(`a repository on a full disk${skipped}`, () => {
  it(`keeps its notes and the new text, with 0 to ${LEVELS - 1} pages or inodes left`, () =>
    seeded('full disk', async () => {
      const tally = new Tally();
      const disk = await SmallDisk.mount(`${SIZE}m`, INODES);
      try {
        disk.mustWrite('the beginning\n');
        for (let level = 0; level < LEVELS; level++) {
          writeWithLittle(disk, `page ${level}\n`, () => disk.leaveBytes(level * PAGE), tally);
          writeWithLittle(disk, `inode ${level}\n`, () => disk.leaveInodes(level), tally);
        }
        expect(tally.of('text: file')).toBeGreaterThan(0);
        disk.mustWrite('there is room again\n');
        expect(disk.noteOf(REF)).toBe('there is room again\n');
        disk.expectSound();
        return tally.figures;
      } finally {
        disk.remove();
      }
    }));

  it('that became read-only still shows its notes, and keeps a new text elsewhere', async () => {
    const disk = await SmallDisk.mount('1m', 400);
    try {
      const tip = disk.mustWrite('old\n');
      disk.remountReadOnly();
      const done = disk.write('new\n');
      expect(done).toMatchObject({ status: 7, stdout: '' });
      expect(done.stderr).toContain('Read-only file system');
      expect(disk.whereabouts('new\n', done.stderr)).toBe('file');
      expect(disk.tip()).toBe(tip);
      for (const words of [['show', '--raw'], ['list'], ['log', 'auth-refresh'], ['doctor']]) {
        expect(disk.handoff(words, { session: disk.session }), words[0]).toMatchObject({
          status: 0,
          stderr: '',
        });
      }
    } finally {
      disk.remove();
    }
  });
});
