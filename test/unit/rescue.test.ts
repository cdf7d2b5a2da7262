import { describe, expect, it } from 'vitest';
import { beyondLimits, parseRescueNote } from '../../src/domain/rescue.ts';

const DAY = 86_400_000;
const limits = { maxCount: 3, maxAgeMs: 14 * DAY, maxBytes: 100 };
const kept = (number: number, days: number, bytes: number) => ({ number, at: 100 * DAY - days * DAY, bytes });
const gone = (...all: ReturnType<typeof kept>[]) =>
  beyondLimits(all, limits, 100 * DAY).map(({ number }) => number);

describe('beyondLimits', () => {
  it.each([
    ['nothing', [], []],
    ['all within', [kept(1, 2, 10), kept(2, 1, 10), kept(3, 0, 10)], []],
    ['too many: the oldest', [kept(1, 2, 1), kept(2, 1, 1), kept(3, 0, 1), kept(4, 0, 1)], [1]],
    ['too old', [kept(1, 15, 1), kept(2, 1, 1)], [1]],
    ['at the very age it stays', [kept(1, 14, 1), kept(2, 1, 1)], []],
    ['too big together', [kept(1, 3, 10), kept(2, 2, 60), kept(3, 1, 50)], [2, 1]],
    ['the newest stays, however big and old', [kept(7, 90, 1000)], []],
    ['by number, whatever the clock says', [kept(2, -5, 60), kept(1, -9, 60)], [1]],
  ] as const)('%s', (_, all, expected) => {
    expect(gone(...all)).toEqual(expected);
  });
});

describe('parseRescueNote', () => {
  const note = {
    v: 1,
    kind: 'before',
    command: 'git reset --hard',
    session: 'aaaaaaaa-1111',
    at: 5,
    worktree: 'app',
    ref: 'refs/heads/main',
    head: 'a'.repeat(40),
    files: [{ path: 'x', mode: '100644', bytes: 1, owner: null }],
    deleted: ['y'],
    staged: [],
    skipped: [{ path: 'z', bytes: 9, why: 'big' }],
  };

  it('reads what was written', () => {
    expect(parseRescueNote(JSON.stringify(note))).toEqual(note);
  });

  it.each(['', '{', 'null', '[]', '{"v":2}', '{"v":1,"kind":"odd","at":1}', '{"v":1,"kind":"seen"}'])(
    'is nothing: %s',
    (text) => {
      expect(parseRescueNote(text)).toBeUndefined();
    },
  );

  it('leaves out what is of another type', () => {
    const odd = { ...note, session: '../x', head: 'zz', files: [{ path: 1 }], deleted: [2], skipped: [{}] };
    expect(parseRescueNote(JSON.stringify(odd))).toMatchObject({
      session: null,
      head: null,
      files: [],
      deleted: [],
      skipped: [],
    });
  });
});
