import { describe, expect, it } from 'vitest';
import { oddNames } from '../../scripts/names.mjs';

describe('the names that sources export', () => {
  it('belong to one source each, and another takes them', () => {
    expect(oddNames()).toEqual({ doubled: [], unused: [] });
  });
});
