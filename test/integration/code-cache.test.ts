import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld, refusal } from '../support/sharing-world.ts';

let world: SharingWorld;
const state = () => join(world.home, '.local', 'state', 'git-handoff');
const code = () => join(state(), 'code');
/** The folder of this build. */
const own = () => join(code(), readdirSync(code())[0] ?? '');

beforeEach(() => {
  world = new SharingWorld({ calls: 'process' });
  world.begin(A);
  world.begin(B);
  world.write(A, 'src/a.ts', 'one\n');
});
afterEach(() => world.remove());

const isGuarded = () => {
  expect(refusal(world.write(B, 'src/a.ts', 'two\n'))).toContain('claude aaaaaaaa');
};

describe('compiled code of the last start', () => {
  it('is kept by build and Node, and used as it is', () => {
    isGuarded();
    expect(readdirSync(code())).toHaveLength(1);
    expect(readdirSync(code())[0]).toContain(process.version);
    const file = join(own(), 'before-file-hook-main.cjs');
    const before = statSync(file).mtimeMs;
    isGuarded();
    expect(statSync(file).mtimeMs).toBe(before);
  });

  it('of another build is thrown away', () => {
    rmSync(code(), { recursive: true });
    mkdirSync(join(code(), 'old-build'), { recursive: true });
    isGuarded();
    expect(readdirSync(code())).toHaveLength(1);
    expect(readdirSync(code())).not.toContain('old-build');
  });

  it.each([
    ['empty', Buffer.alloc(0)],
    ['nonsense', Buffer.from('nonsense')],
    ['zeros', Buffer.alloc(100_000)],
  ])('that is %s is made anew', (_, content) => {
    for (const name of readdirSync(own())) writeFileSync(join(own(), name), content);
    isGuarded();
    isGuarded();
    expect(statSync(join(own(), 'before-file-hook-main.cjs')).size).not.toBe(content.length);
  });

  it('that has lost a bit is made anew: V8 would run it', () => {
    const file = join(own(), 'before-file-hook-main.cjs');
    const whole = readFileSync(file);
    const spoilt = Buffer.from(whole);
    spoilt.writeUInt8(spoilt.readUInt8(whole.length / 4) ^ 1, whole.length / 4);
    writeFileSync(file, spoilt);
    isGuarded();
    expect(readFileSync(file).equals(spoilt)).toBe(false);
  });

  it.each([
    ['sessions', 'cli-main.cjs'],
    ['list', 'list-cli-main.cjs'],
    ['show', 'show-cli-main.cjs'],
  ])('serves %s, too, beside that of the hooks', (verb, name) => {
    world.handoff(['write', 'code-cache', '-m', 'a note'], { session: A });
    world.handoff([verb], { session: A });
    const file = join(own(), name);
    const before = statSync(file).mtimeMs;
    world.handoff([verb], { session: A });
    expect(statSync(file).mtimeMs).toBe(before);
    expect(readdirSync(own())).toContain('before-file-hook-main.cjs');
  });

  it('of each kind of call is its own', () => {
    const kinds = new Set(readdirSync(own()).map((name) => name.replace(/hook-.*|shell\.cjs/, '')));
    expect([...kinds].filter((one) => one.endsWith('-')).sort()).toEqual([
      'after-file-',
      'before-file-',
      'start-',
    ]);
  });

  it('of a verb is not looked for by the words that follow it', () => {
    world.handoff(['log', '--', 'show'], { session: A });
    expect(readdirSync(own()).filter((name) => name.startsWith('show-'))).toEqual([]);
  });

  it('of a verb asks at a terminal as any other does', () => {
    for (const start of ['first', 'second']) {
      const { stdout } = world.run('script', ['-qec', 'git-handoff uninstall', '/dev/null'], {
        input: 'n\n',
      });
      expect(`${start}: ${stdout}`).toContain('Apply? [y/N]');
      expect(stdout).not.toContain('fault of git-handoff');
      // Once, before the question.
      expect(stdout.match(/^ {2}.*settings\.json/gm)).toHaveLength(1);
    }
  });

  it('is not kept where there is no folder for it: no init, no trace', () => {
    rmSync(state(), { recursive: true });
    isGuarded();
    expect(existsSync(state())).toBe(false);
  });

  it('is not kept where its folder cannot be made', () => {
    rmSync(code(), { recursive: true });
    writeFileSync(code(), 'a file');
    isGuarded();
    expect(statSync(code()).isFile()).toBe(true);
  });
});
