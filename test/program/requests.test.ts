import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld, refusal, told } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
});
afterEach(() => world.remove());

describe('who stands in the way', () => {
  it('finds what the other wants with its next call, once, and the command that settles it', () => {
    world.write(A, 'src/a.ts', 'one\n');
    refusal(world.write(B, 'src/a.ts', 'two\n'));
    refusal(world.write(B, 'src/a.ts', 'three\n'));
    const text = told(world.may(A, 'make'));
    expect(text).toContain('claude bbbbbbbb wants to edit src/a.ts');
    expect(told(world.may(A, 'make'))).toBe('');
    const command = /git handoff commit .*$/m.exec(text)?.[0].replace('<message>', 'done') ?? '';
    expect(world.bash(A, command).run).toMatchObject({ status: 0 });
    expect(world.write(B, 'src/a.ts', 'two\n').kind).not.toBe('deny');
  });
});
