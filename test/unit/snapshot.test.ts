import { describe, expect, it } from 'vitest';
import { beyondLimits, formatSnapshot, parseRescueNote, parseSnapshot } from '../../src/domain/snapshot.ts';
import { parseOid, parseSessionId } from '../../src/domain/names.ts';

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

const oid = (digit: string) => parseOid(digit.repeat(40))!;
const OWNER = parseSessionId('aaaaaaaa-1111')!;
const reason = {
  kind: 'before',
  command: 'git reset --hard',
  session: OWNER,
  at: 5,
  worktree: 'app',
  ref: 'refs/heads/main',
  skipped: [{ path: 'z', bytes: 9, why: 'big' }],
} as const;

describe('A snapshot', () => {
  const [one, two] = [
    { mode: '100644', oid: oid('1') },
    { mode: '100755', oid: oid('2') },
  ];
  const snapshot = {
    base: oid('a'),
    items: [
      { path: 'changed', base: one, index: two, disk: two, own: oid('3'), owner: OWNER, bytes: 7 },
      { path: 'gone', base: one, index: null, disk: null, bytes: 0 },
      { path: 'caf\ufffd', raw: 'caf\u00e9', base: null, index: null, disk: one, isPrivate: true, bytes: 1 },
      { path: 'intended', base: null, index: null, disk: two, intended: true },
    ],
    reason,
  } as const;
  const { text, blobs } = formatSnapshot(snapshot);

  it('is read back as it was written, with every blob once', () => {
    expect(blobs).toEqual([oid('1'), oid('2'), oid('3')]);
    expect(parseSnapshot(text, blobs, true)).toEqual(snapshot);
  });

  it.each([
    ['a blob is missing', text, blobs.slice(1), 'work.json is damaged'],
    [
      'a path is there twice',
      text.replace('gone', 'changed'),
      blobs,
      'a path that is there twice: "changed"',
    ],
    [
      'it is of a later version',
      text.replace('"version":1', '"version":2'),
      blobs,
      'unknown format of work.json',
    ],
  ])('is not read when %s', (_, json, some, why) => {
    expect(parseSnapshot(json, some, true)).toBe(why);
  });

  it('of a path in .git is read only if it is this clone’s own', () => {
    const hostile = text.replace('gone', '.GIT/config');
    expect(parseSnapshot(hostile, blobs)).toBe('not a path: ".GIT/config"');
    expect(parseSnapshot(hostile, blobs, true)).toMatchObject({ base: oid('a') });
  });
});

describe('The rescue.json of 0.1.0', () => {
  const { skipped, ...rest } = reason;
  const note = {
    v: 1,
    ...rest,
    head: 'a'.repeat(40),
    files: [{ path: 'x', mode: '100644', bytes: 1, owner: null }],
    deleted: ['y'],
    staged: [],
    skipped,
  };

  it('is read', () => {
    expect(parseRescueNote(JSON.stringify(note))).toEqual({
      base: note.head,
      items: [
        { path: 'x', base: null, index: null, disk: { mode: '100644', oid: null }, bytes: 1, isRaw: true },
        { path: 'y', base: { mode: '100644', oid: null }, index: null, disk: null },
      ],
      reason,
    });
  });

  it.each(['', '{', 'null', '[]', '{"v":2}', '{"v":1,"kind":"odd","at":1}', '{"v":1,"kind":"seen"}'])(
    'is invalid: %s',
    (text) => {
      expect(parseRescueNote(text)).toBeUndefined();
    },
  );

  it('is read without values of another type', () => {
    const odd = { ...note, session: '../x', head: 'zz', files: [{ path: 1 }], deleted: [2], skipped: [{}] };
    expect(parseRescueNote(JSON.stringify(odd))).toMatchObject({
      base: null,
      items: [],
      reason: { session: null, skipped: [] },
    });
  });
});
