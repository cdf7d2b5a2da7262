import { describe, expect, it } from 'vitest';
import { MAY_IMPORT, circles, claims, linesOfRooms } from '../../scripts/rooms.mjs';

describe('the rooms of src/', () => {
  it('contain each source by exactly one rule', () => {
    const found = claims();
    expect(found.length).toBeGreaterThan(300);
    expect(found.filter((one) => one.claims.length !== 1)).toEqual([]);
  });

  it('are those whose import directions the lint checks, and each has less than a quarter of the lines', () => {
    const lines = linesOfRooms();
    expect(Object.keys(lines).sort()).toEqual([...Object.keys(MAY_IMPORT), 'entries'].sort());
    const all = Object.values(lines).reduce((sum, one) => sum + one, 0);
    for (const [room, one] of Object.entries(lines)) expect(one / all, room).toBeLessThan(0.25);
  });

  it('have no import cycle, even of types, except the recursion of words in the shell analysis', () => {
    expect(circles()).toEqual([['shell/parameters.ts', 'shell/words.ts']]);
  });
});
