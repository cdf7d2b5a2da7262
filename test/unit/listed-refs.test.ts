import { describe, expect, it } from 'vitest';
import { parseListed } from '../../src/git/refs.ts';

const record = (name: string, oid: string, content: string) =>
  `${name}\0${oid}\0commit\0\0${content.length}\0${content}\n`;

describe.each([40, 64])('a list of refs that the launcher made, with object names of %i digits', (digits) => {
  const oid = 'a'.repeat(digits);
  const list =
    record('refs/handoffs/main/one', oid, 'tree\n\nx\0y') + record('refs/handoffs/main/two', oid, '');

  it('is read, with what stands behind it', () => {
    const read = parseListed(`${list}.\nmore`);
    expect(read?.refs.map(({ name, content }) => [name, content])).toEqual([
      ['refs/handoffs/main/one', 'tree\n\nx\0y'],
      ['refs/handoffs/main/two', ''],
    ]);
    expect(read?.rest).toBe('more');
  });

  // git was ended in the middle of it.
  it.each(Array.from({ length: list.length + 2 }, (_, length) => length))(
    'is none where it was cut off after %i bytes',
    (length) => {
      expect(parseListed(`${list}.\n`.slice(0, length))).toBeUndefined();
    },
  );
});
