import { randomBytes } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { storedZlib } from '../../src/git/stored-zlib.ts';

describe('bytes that are stored as they are', () => {
  it.each([0, 1, 2, 100, 4096, 5553, 65_535])('are read by zlib: %i of them', (length) => {
    const samples = [randomBytes(length), Buffer.alloc(length, 0xff), Buffer.alloc(length)];
    for (const data of samples) expect(inflateSync(storedZlib(data)).equals(data)).toBe(true);
  });

  it('are not more than one block holds', () => {
    expect(() => storedZlib(Buffer.alloc(65_536))).toThrow(RangeError);
  });
});
