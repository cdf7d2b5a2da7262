import { describe, expect, it } from 'vitest';
import { COLOURS } from '../../src/ui/terminal.ts';
import { columns } from '../../src/ui/terminal.ts';

describe('columns', () => {
  it('are aligned whatever their colours', () => {
    const rows = [
      [COLOURS.bad('conflict'), 'a.ts', ''],
      ['same', 'long-name.ts', 'merges cleanly'],
    ];
    const plain = columns(rows).replaceAll(COLOURS.bad('conflict'), 'conflict');
    expect(plain).toBe('conflict  a.ts\nsame      long-name.ts  merges cleanly\n');
    expect(columns(rows)).toContain('\u001b[31mconflict\u001b[m  a.ts');
  });
});
