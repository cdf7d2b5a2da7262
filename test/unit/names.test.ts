import { describe, expect, it } from 'vitest';
import { leftWords, oddNames } from '../../scripts/names.mjs';

describe('the names that sources export', () => {
  it('belong to one source each, and another takes them', () => {
    expect(oddNames()).toEqual({ doubled: [], unused: [] });
  });

  it('have no word that left, nor has a file name or a message', () => {
    expect(leftWords()).toEqual([]);
  });
});
