import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Clone, Clones, type Transport } from '../support/clones.ts';
import type { RepositoryOptions } from '../support/repository.ts';

const TOPIC = 'auth-refresh';
const REF = `refs/handoffs/main/${TOPIC}`;

let world: Clones;
let ada: Clone;
afterEach(() => world.remove());

async function begin(transport: Transport = 'daemon', options: RepositoryOptions = {}): Promise<void> {
  world = await Clones.start(transport, options);
  ada = world.clone('Ada');
  for (let at = 0; at < 3; at++) ada.commit(`work ${at}`, { 'a.txt': `${at}\n` });
  ada.git(['push', '-q', 'origin', 'main']);
  ada.write(TOPIC, 'one\n');
  ada.write(TOPIC, 'two\n');
  ada.sync();
}

/** Expects that a take, a new version, and syncs back and forth work. */
function expectTravels(clone: Clone): void {
  clone.sync();
  expect(clone.note(TOPIC)).toBe('two\n');
  clone.write(TOPIC, 'three\n', ['--take']);
  clone.sync();
  ada.sync();
  expect(ada.note(TOPIC)).toBe('three\n');
  expect(ada.list()).toEqual(clone.list());
  expect(clone.sync()).toContain('0 fetched, 0 pushed, 1 unchanged');
}

describe.each<[string, string[]]>([
  ['shallow', ['--depth=1']],
  ['single-branch', ['--single-branch', '--no-tags']],
  ['partial', ['--filter=blob:none']],
  ['shallow and partial', ['--depth=1', '--filter=blob:none', '--no-checkout']],
])('a %s clone', (_name, words) => {
  it('takes part like any other', async () => {
    await begin();
    const clone = world.clone('Bob', { words });
    const shallow = join(clone.path, '.git', 'shallow');
    const wasShallow = existsSync(shallow);
    expectTravels(clone);
    expect(existsSync(shallow)).toBe(wasShallow);
    expect(clone.git(['log', '--format=%s', REF]).split('\n')).toEqual(['three', 'two', 'one']);
  });
});

it('a partial clone has complete notes, and reads them without the server', async () => {
  await begin();
  const clone = world.clone('Bob', { words: ['--filter=blob:none'] });
  clone.sync();
  await world.server.stop();
  expect(clone.note(TOPIC)).toBe('two\n');
  expect(clone.handoff(['log', '-p', TOPIC])).toMatchObject({ status: 0 });
  expect(clone.handoff(['log', TOPIC])).toMatchObject({ status: 0 });
});

it('a mirror clone has every handoff from the beginning, and loses none by a sync', async () => {
  await begin();
  const mirror = world.clone('Bob', { bare: true, words: ['--mirror'], folder: 'mirror.git' });
  expect(mirror.sync()).toContain('1 unchanged');
  mirror.write(TOPIC, 'three\n', ['--take']);
  mirror.sync();
  ada.sync();
  expect(ada.note(TOPIC)).toBe('three\n');
});

it('a bare clone', async () => {
  await begin();
  expectTravels(world.clone('Bob', { bare: true, folder: 'bob.git' }));
});

it('a linked worktree syncs for all worktrees', async () => {
  await begin();
  const clone = world.clone('Bob');
  const other = clone.worktree('side');
  expect(clone.as(['sync'], { cwd: other })).toMatchObject({ status: 0 });
  expect(clone.note(TOPIC)).toBe('two\n');
  clone.ok(['write', 'cache-layout'], { cwd: other, session: clone.session, input: 'side\n' });
  clone.sync();
  ada.sync();
  expect(ada.note('side/cache-layout')).toBe('side\n');
});

it('a folder below the top', async () => {
  await begin();
  const clone = world.clone('Bob');
  clone.commit('deep', { 'deep/er/b.txt': 'b\n' });
  expect(clone.as(['sync'], { cwd: join(clone.path, 'deep', 'er') })).toMatchObject({ status: 0 });
  expect(clone.note(TOPIC)).toBe('two\n');
});

it('repositories with sha256', async () => {
  await begin('path', { objectFormat: 'sha256' });
  const clone = world.clone('Bob');
  expectTravels(clone);
  expect(clone.ref(REF)).toMatch(/^[0-9a-f]{64}$/);
});

it('a clone without a commit of the project', async () => {
  await begin();
  const clone = world.clone('Bob');
  clone.git(['checkout', '-q', '--orphan', 'main2']);
  clone.sync();
  expect(clone.list()).toEqual(ada.list());
});

it('a detached HEAD', async () => {
  await begin();
  const clone = world.clone('Bob');
  clone.git(['checkout', '-q', '--detach']);
  clone.sync();
  expect(clone.list()).toEqual(ada.list());
});
