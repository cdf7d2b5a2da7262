import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Json } from '../support/repository.ts';
import { A, B, SharingWorld, TEN, contextText, lines } from '../support/sharing-world.ts';

/** Uncommitted work is kept at the end of a turn, even if the session is alone: nobody else would notice its loss. */

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A] });
});
afterEach(() => world.remove());

const put = (path: string, content: string) => writeFileSync(join(world.path, path), content);
const kept = () => world.refs('refs/handoffs-local/rescue').length;

it('work that was thrown away between two turns comes back byte for byte, including untracked files', () => {
  world.write(A, 'src/a.ts', lines({ 2: 'A' }));
  world.write(A, 'new.ts', 'new\n');
  world.stop(A);
  world.git(['reset', '-q', '--hard']);
  world.git(['clean', '-qf']);
  expect(world.ok(['rescue']).replace(/just now|\d+ \w+ ago/, '<time>')).toMatchInlineSnapshot(`
    "1  <time>  at the end of a turn (claude aaaaaaaa)  repository  new.ts src/a.ts

    To look: git handoff rescue show 1
    To bring back: git handoff rescue restore 1"
  `);
  world.ok(['rescue', 'restore', '1']);
  expect([world.read('src/a.ts'), world.read('new.ts')]).toEqual([lines({ 2: 'A' }), 'new\n']);
});

it('nothing is kept if nothing is uncommitted, or nothing has changed since the last turn', () => {
  world.stop(A);
  expect(kept()).toBe(0);
  put('src/a.ts', lines({ 2: 'A' }));
  world.stop(A);
  const refs = world.git(['for-each-ref', 'refs/handoffs-local/rescue']);
  world.prompt(A);
  world.stop(A);
  expect(world.git(['for-each-ref', 'refs/handoffs-local/rescue'])).toBe(refs);
});

it('the rescues of twenty turns are kept, which displace and hide no other rescue, and are announced to nobody', () => {
  world.git(['config', 'handoff.rescue.maxCount', '30']);
  put('src/b.ts', lines({ 5: 'before' }));
  world.bash(A, 'git checkout -q -- src/b.ts');
  world.begin(B);
  for (let turn = 0; turn < 22; turn++) {
    put('src/b.ts', lines({ 1: `turn ${turn}` }));
    expect(world.stop(A).kind).not.toBe('context');
  }
  expect(kept()).toBe(21);
  const all = world.json(['rescue', 'list', 'aaaaaaaa']).items.map(({ kind }) => kind);
  expect(all).toEqual(['before', ...Array<string>(20).fill('stop')]);
  expect(world.json(['rescue']).items.map(({ kind }) => kind)).toEqual(['before', 'stop']);
  // `.` at the top of the working tree stands for all paths.
  const below = JSON.parse(world.ok(['rescue', 'list', '--json', '--', '.'])) as Json;
  expect(below.items.map(({ kind }) => kind)).toEqual(all);
  world.ok(['rescue', 'restore', '--force', '--', 'src/b.ts']);
  expect(world.read('src/b.ts')).toBe(lines({ 5: 'before' }));
  expect(contextText(world.prompt(B))).not.toContain('rescue');
});

it('restore without a number takes the turn’s rescue once the file has changed since', () => {
  put('src/b.ts', lines({ 5: 'at the end' }));
  world.stop(A);
  put('src/b.ts', TEN);
  world.ok(['rescue', 'restore', '--', 'src/b.ts']);
  expect(world.read('src/b.ts')).toBe(lines({ 5: 'at the end' }));
});
