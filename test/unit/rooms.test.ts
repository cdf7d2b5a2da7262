import { describe, expect, it } from 'vitest';
import { MAY_IMPORT, circles, claims, linesOfRooms } from '../../scripts/rooms.mjs';

describe('the rooms of src/', () => {
  it('have every source by one rule, and no second rule claims it', () => {
    const found = claims();
    expect(found.length).toBeGreaterThan(300);
    expect(found.filter((one) => one.claims.length !== 1)).toEqual([]);
  });

  it('are the ones whose directions the lint holds, and none has a quarter of the lines', () => {
    const lines = linesOfRooms();
    expect(Object.keys(lines).sort()).toEqual([...Object.keys(MAY_IMPORT), 'entries'].sort());
    const all = Object.values(lines).reduce((sum, one) => sum + one, 0);
    for (const [room, one] of Object.entries(lines)) expect(one / all, room).toBeLessThan(0.25);
  });

  it('hold no circle of imports, types included, but the recursion of words in the shell analysis', () => {
    expect(circles()).toEqual([['shell/parameters.ts', 'shell/words.ts']]);
  });
});
