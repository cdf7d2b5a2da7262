import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClientProcess } from '../support/client-process.ts';
import { A, B, C, SharingWorld } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld();
  byHand('shared.md', 'dirty before anybody\n');
});
afterEach(() => world.remove());

/** A person, or a program that no session started, writes a file. */
function byHand(path: string, content: string): void {
  writeFileSync(join(world.path, path), content);
}

const resume = (session: string) => world.begin(session, world.path, 'resume');

/** The conversation continues under another id, in the same process. */
function clear(from: string, to: string): void {
  world.end(from, world.path, 'clear');
  world.begin(to, world.path, 'clear');
}

/** Another session arrives and tries to commit everything; returns the refusal's lines. */
function swept(): string[] {
  world.git(['add', '-A']);
  const run = world.as(C, ['commit', '-qm', 'C']);
  expect(run.status).toBe(1);
  return run.stderr
    .split('\n')
    .filter((line) => line.startsWith('error: '))
    .map((line) => line.slice('error: '.length).replace(/: .*/, ''));
}

describe('a session that works alone', () => {
  it('still owns its work after it ends and is resumed', () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'A\n');
    world.end(A);
    resume(A);
    world.write(A, 'src/b.ts', 'A, too\n');
    world.begin(C);
    expect(world.claimed(A)).toEqual(['src/a.ts', 'src/b.ts']);
    expect(swept()).toEqual(['src/a.ts', 'src/b.ts']);
  });

  it('still owns it after several resumes, and after more work on what it had changed', () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'A\n');
    for (const text of ['2\n', '3\n']) {
      world.end(A);
      resume(A);
      world.write(A, 'src/a.ts', text);
      world.write(A, 'shared.md', text);
    }
    world.begin(C);
    expect(world.claimed(A)).toEqual(['shared.md', 'src/a.ts']);
  });

  it('still owns it after /clear, twice', () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'A\n');
    clear(A, B);
    world.write(B, 'src/b.ts', 'B\n');
    clear(B, 'dddddddd-4444');
    world.begin(C);
    expect(world.claimed('dddddddd-4444')).toEqual(['src/a.ts', 'src/b.ts']);
    expect(swept()).toEqual(['src/a.ts', 'src/b.ts']);
  });

  it('commits after a resume what it had changed before', () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'A\n');
    world.end(A);
    resume(A);
    const done = world.handoff(['commit', '-m', 'A'], { session: A });
    expect({ status: done.status, stderr: done.stderr }).toMatchObject({ status: 0 });
    expect(world.status()).toEqual([' M shared.md']);
  });

  it('no longer owns it if a session with another id starts', () => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'A\n');
    world.end(A);
    world.begin(B);
    world.begin(C);
    expect([...world.claimed(A), ...world.claimed(B)]).toEqual([]);
    world.git(['add', '-A']);
    expect(world.as(C, ['commit', '-qm', 'C']).status).toBe(0);
  });
});

describe('a change from the meantime', () => {
  beforeEach(() => {
    world.begin(A);
    world.write(A, 'src/a.ts', 'A\n');
    world.end(A);
  });

  it('is nobody’s if it was made by hand', () => {
    byHand('src/b.ts', 'by hand\n');
    byHand('shared.md', 'by hand\n');
    resume(A);
    world.begin(C);
    expect(world.claimed(A)).toEqual(['src/a.ts']);
  });

  it('is still partly the session’s if the session had changed the file', () => {
    byHand('src/a.ts', 'A\nby hand\n');
    resume(A);
    world.begin(C);
    expect(world.claimed(A)).toEqual(['src/a.ts']);
  });

  it('is nobody’s if another session made it that is over', () => {
    world.begin(B);
    world.write(B, 'src/b.ts', 'B\n');
    world.end(B);
    resume(A);
    world.begin(C);
    expect([world.claimed(A), world.claimed(B)]).toEqual([['src/a.ts'], []]);
  });

  it('is another session’s if that is at work', () => {
    world.begin(B);
    world.write(B, 'src/b.ts', 'B\n');
    resume(A);
    expect([world.claimed(A), world.claimed(B)]).toEqual([['src/a.ts'], ['src/b.ts']]);
    world.git(['add', '-A']);
    expect(world.as(B, ['commit', '-qm', 'B']).stderr).toMatch(/^error: src\/a\.ts: /);
    expect(world.as(A, ['commit', '-qm', 'A']).stderr).toMatch(/^error: src\/b\.ts: /);
  });

  it('is not claimed if it is committed', () => {
    world.git(['commit', '-qam', 'by hand']);
    resume(A);
    world.begin(C);
    expect(world.claimed(A)).toEqual([]);
  });

  it('on another branch is not the session’s, but what the switch carried over still is', () => {
    world.git(['switch', '-qc', 'other']);
    byHand('src/b.ts', 'on the other branch\n');
    resume(A);
    world.begin(C);
    expect(world.claimed(A)).toEqual(['src/a.ts']);
  });

  it('is not claimed on another branch without any carried changes', () => {
    world.git(['stash', '-q']);
    world.git(['switch', '-qc', 'other']);
    world.commit('other', { 'src/b.ts': 'other\n', 'src/a.ts': 'other\n' });
    byHand('src/a.ts', 'by hand\n');
    resume(A);
    world.begin(C);
    expect(world.claimed(A)).toEqual([]);
  });
});

describe('a session whose client died', () => {
  it('still owns its work, but not another session’s work since then', async () => {
    const client = new ClientProcess(world);
    await client.start(A);
    await client.shell('echo A >src/a.ts');
    await client.kill();
    world.begin(B);
    world.write(B, 'src/b.ts', 'B\n');
    world.end(B);
    resume(A);
    world.begin(C);
    expect(world.claimed(A)).toEqual(['src/a.ts']);
  });

  it('still owns its work if it comes back beside another session', async () => {
    const client = new ClientProcess(world);
    await client.start(A);
    await client.shell('echo A >src/a.ts');
    await client.kill();
    world.begin(B);
    world.write(B, 'src/b.ts', 'B\n');
    resume(A);
    expect([world.claimed(A), world.claimed(B)]).toEqual([['src/a.ts'], ['src/b.ts']]);
  });
});
