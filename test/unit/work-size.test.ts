import { describe, expect, it } from 'vitest';
import { formatWorkSize, parseWorkSize, workSizeText } from '../../src/domain/snapshot.ts';

describe('the size of work', () => {
  it.each([
    [1, 0, '1 path, 0 bytes'],
    [1, 1, '1 path, 1 byte'],
    [2, 1023, '2 paths, 1023 bytes'],
    [12, 1025, '12 paths, 2 KiB'],
  ])('of %i paths with %i bytes reads %s', (paths, bytes, text) => {
    expect(workSizeText({ paths, bytes })).toBe(text);
    expect(parseWorkSize(formatWorkSize({ paths, bytes }))).toEqual({ paths, bytes });
  });

  it.each(['', '1', 'much', '-1 2', '1 2 3', `1 ${'9'.repeat(16)}`])('cannot be read from %j', (value) => {
    expect(parseWorkSize(value)).toBeUndefined();
  });
});
