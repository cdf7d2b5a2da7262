import { symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld, refusal } from '../support/sharing-world.ts';

let world: SharingWorld;
/** The repository's path through a symbolic link to a parent folder, like /tmp on macOS. */
let linked: string;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
  const link = join(dirname(world.path), 'a link');
  symlinkSync(dirname(world.path), link);
  linked = join(link, basename(world.path));
});
afterEach(() => world.remove());

describe('a repository below a symbolic link', () => {
  it('is guarded against a file tool, whichever of its names each session uses', () => {
    world.write(A, 'src/a.ts', 'one\n');
    expect(refusal(world.try(B, 'src/a.ts', 'two\n', linked))).toContain('claude aaaaaaaa');
    world.write(A, 'src/b.ts', 'one\n', linked);
    expect(refusal(world.try(B, 'src/b.ts', 'two\n'))).toContain('claude aaaaaaaa');
    expect(refusal(world.try(B, 'src/b.ts', 'two\n', linked))).toContain('claude aaaaaaaa');
    expect(world.claimed(A)).toEqual(['src/a.ts', 'src/b.ts']);
  });

  it.each([
    'git reset --hard',
    'git checkout -- src/a.ts',
    'cd src && rm a.ts',
    'git stash',
    'echo x >> "$PWD/src/a.ts"',
  ])('is guarded against %s', (command) => {
    world.write(A, 'src/a.ts', 'one\n');
    expect(refusal(world.may(B, command, linked))).toContain('aaaaaaaa');
  });

  it('is guarded against commands that name it by that path', () => {
    world.write(A, 'src/a.ts', 'one\n', linked);
    for (const [cwd, path] of [
      [world.path, linked],
      [linked, world.path],
      [join(linked, 'src'), linked],
    ] as const) {
      for (const command of [
        `rm '${path}/src/a.ts'`,
        `git -C '${path}' reset --hard`,
        `cd '${path}' && git stash`,
      ]) {
        expect(refusal(world.may(B, command, cwd)), `${cwd}: ${command}`).toContain('aaaaaaaa');
      }
    }
  });

  it('has its commits checked, and accepts paths by that name', () => {
    world.write(A, 'src/a.ts', 'one\n', linked);
    world.write(B, 'src/b.ts', 'two\n', linked);
    const options = { cwd: linked, session: B };
    world.git(['add', '-A']);
    const raw = world.as(B, ['commit', '-qm', 'x'], { cwd: linked });
    expect(raw).toMatchObject({ status: 1 });
    expect(raw.stderr).toContain('src/a.ts');
    const status = world.handoff(['status'], options);
    expect(status.stdout).toMatch(/aaaaaaaa[^]*src\/a\.ts/);
    expect(world.handoff(['commit', '-m', 'b', '--', join(linked, 'src/b.ts')], options)).toMatchObject({
      status: 0,
    });
    expect(world.git(['show', '--format=', '--name-only', 'HEAD'])).toBe('src/b.ts');
    world.stop(A);
    expect(world.handoff(['take', '--', join(linked, 'src/a.ts')], options)).toMatchObject({ status: 0 });
    expect(world.write(B, 'src/a.ts', 'three\n', linked).kind).toBe('silent');
  });

  it('has notes that can be read by either name', () => {
    const options = { cwd: linked, session: A };
    expect(world.handoff(['write', 'the-link', '-m', 'text'], options)).toMatchObject({ status: 0 });
    expect(world.handoff(['show', 'the-link'], { cwd: world.path, session: B }).stdout).toContain('text');
    expect(world.handoff(['doctor'], options)).toMatchObject({ status: 0 });
  });
});
