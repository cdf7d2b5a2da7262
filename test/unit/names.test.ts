import { describe, expect, it } from 'vitest';
import { leftWords, oddNames } from '../../scripts/names.mjs';

describe('the names that sources export', () => {
  it('are each exported by one source, and imported by another', () => {
    expect(oddNames()).toEqual({ doubled: [], unused: [] });
  });

  it('contain no abandoned word, nor do file names or messages', () => {
    expect(leftWords()).toEqual([]);
  });
});
