import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FEW_BYTES, objectName, sha1 } from '../../src/git/hash.ts';

/** Bytes of all values, so many of them. */
const bytes = (length: number) => Buffer.from(Array.from({ length }, (_, n) => (n * 167 + (n >> 8)) % 256));

describe('sha1', () => {
  it('is what FIPS 180-4 gives as examples', () => {
    expect(sha1(Buffer.from('abc'))).toBe('a9993e364706816aba3e25717850c26c9cd0d89d');
    expect(sha1(Buffer.from('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq'))).toBe(
      '84983e441c3bd26ebaae4aa1f95129e5e54670f1',
    );
  });

  it('is what node:crypto says of every length up to five blocks, and of a long text', () => {
    for (const length of [...Array(321).keys(), 100_000]) {
      expect(sha1(bytes(length)), `${length} bytes`).toBe(
        createHash('sha1').update(bytes(length)).digest('hex'),
      );
    }
  });
});

describe('objectName', () => {
  it.each([0, FEW_BYTES])('is what git says, whether up to %d bytes are few or none', (few) => {
    const name = (format: 'sha1' | 'sha256', type: string, content: Buffer) =>
      objectName(format, type, content, few);
    expect(name('sha1', 'blob', Buffer.from('hello\n'))).toBe('ce013625030ba8dba906f756967f9e9ca394464a');
    expect(name('sha1', 'tree', Buffer.alloc(0))).toBe('4b825dc642cb6eb9a060e54bf8d69288fbee4904');
    expect(name('sha256', 'blob', Buffer.alloc(0))).toBe(
      '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813',
    );
  });

  it('is the same for few bytes and for many', () => {
    for (const length of [8191, 8192, 8193]) {
      expect(objectName('sha1', 'blob', bytes(length), FEW_BYTES)).toBe(
        objectName('sha1', 'blob', bytes(length)),
      );
    }
  });
});
