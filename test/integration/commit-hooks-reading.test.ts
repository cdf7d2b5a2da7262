import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld } from '../support/sharing-world.ts';

let world: SharingWorld;
const calls = () => join(world.home, 'git-calls');

beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
  world.write(A, 'src/a.ts', 'of A\n');
  world.write(B, 'src/b.ts', 'of B\n');
});
afterEach(() => world.remove());

/** A `git` that hooks find before the real one. It records the call, and may spoil the answer. */
function withGit(spoil: string): string {
  const folder = join(world.home, 'bin');
  mkdirSync(folder, { recursive: true });
  const real = (process.env['PATH'] ?? '').split(':').map((one) => join(one, 'git'));
  const script = `#!/bin/sh
for git in ${real.join(' ')}; do [ -x "$git" ] && break; done
echo "$*" >>'${calls()}'
${spoil}
exec "$git" "$@"
`;
  writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
  rmSync(calls(), { force: true });
  return folder;
}

/** Runs the hook directly. git would put its own folder first on the hook's PATH; a fake git there would change git itself. */
function preCommit(spoil = '') {
  const PATH = `${withGit(spoil)}:${process.env['PATH'] ?? ''}`;
  const hook = join(import.meta.dirname, '..', '..', 'git-hooks', 'pre-commit');
  const run = world.run(hook, [], { session: B, env: { PATH } });
  const asked = readFileSync(calls(), 'utf8').split('\n');
  return { ...run, byNode: asked.filter((line) => line.includes('core.hooksPath=/dev/null')) };
}

describe('the facts that judge a commit', () => {
  it('come from three processes of git at once', () => {
    world.as(B, ['add', 'src/b.ts']);
    const { status, byNode } = preCommit();
    expect(status).toBe(0);
    const verbs = byNode.map((line) => / (config|for-each-ref|diff|symbolic-ref) /.exec(line)?.[1]);
    expect(verbs.slice(0, 3).sort()).toEqual(['config', 'diff', 'for-each-ref']);
  });

  it('refuse a mixed one', () => {
    world.as(B, ['add', 'src/a.ts', 'src/b.ts']);
    const { status, stderr } = preCommit();
    expect(stderr).toContain('src/a.ts');
    expect(status).toBe(1);
  });

  it.each([
    ['has no sessions', 'case "$*" in *for-each-ref*) exit 128 ;; esac'],
    ['lacks what is staged', 'case "$*" in *--cached*) exit 128 ;; esac'],
    ['lacks the settings', 'case "$*" in *--get-regexp*) exit 128 ;; esac'],
  ])('lets one through and says so where it %s', (_, spoil) => {
    world.as(B, ['add', 'src/a.ts', 'src/b.ts']);
    const { status, stderr } = preCommit(spoil);
    expect(stderr).toMatch(/^warning: git-handoff did not check this commit: .*\n$/);
    expect(status).toBe(0);
  });
});
