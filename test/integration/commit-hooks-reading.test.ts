import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/** A `git` before the real one, for hooks: it notes its call, and may spoil what the hook asks for. */
function withGit(spoil: string): string {
  const folder = join(world.home, 'bin');
  mkdirSync(folder, { recursive: true });
  const real = (process.env['PATH'] ?? '').split(':').map((one) => join(one, 'git'));
  const script = `#!/bin/sh
for git in ${real.join(' ')}; do [ -x "$git" ] && break; done
echo "$*" >>'${calls()}'
case "$*" in *core.hooksPath=/dev/null*) exec "$git" "$@" ;; esac
${spoil}
exec "$git" "$@"
`;
  writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
  rmSync(calls(), { force: true });
  return folder;
}

/** Git puts its own folder of programs first in the PATH of hooks; one of ours there would change git itself. */
function preCommit(spoil = '') {
  const PATH = `${withGit(spoil)}:${process.env['PATH'] ?? ''}`;
  const hook = join(import.meta.dirname, '..', '..', 'git-hooks', 'pre-commit');
  const run = world.run(hook, [], { session: B, env: { PATH } });
  const asked = readFileSync(calls(), 'utf8').split('\n');
  return { ...run, byNode: asked.filter((line) => line.includes('core.hooksPath=/dev/null')) };
}

describe('what a commit is judged by', () => {
  it('is read by the hook: of its own Node starts nothing', ({ skip }) => {
    // With reftables the hook cannot tell the branch, and leaves it to Node.
    skip(existsSync(join(world.path, '.git', 'reftable')));
    world.as(B, ['add', 'src/b.ts']);
    const { status, byNode } = preCommit();
    expect(status).toBe(0);
    expect(byNode.filter((line) => / (?:for-each-ref|diff) /.test(line))).toEqual([]);
  });

  it.each([
    ['is whole', ''],
    ['has no sessions', 'case $1 in for-each-ref) exit 128 ;; esac'],
    ['ends early', 'case $1 in for-each-ref) "$git" "$@" | head -c 90; exit 141 ;; esac'],
    ['lacks what is staged', 'case "$*" in *--cached*) exit 128 ;; esac'],
    ['is cut in what is staged', 'case "$*" in *--cached*) "$git" "$@" | head -c 90; exit 141 ;; esac'],
  ])('refuses a mixed one where it %s', (_, spoil) => {
    world.as(B, ['add', 'src/a.ts', 'src/b.ts']);
    const { status, stderr } = preCommit(spoil);
    expect(stderr).toContain('src/a.ts');
    expect(status).toBe(1);
  });
});
