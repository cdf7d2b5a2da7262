import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, ServerWorld } from '../support/server-world.ts';

const BOTH = `Claude-Session-Id: ${A}\nClaude-Session-Id: ${B}`;
const REF = 'refs/handoffs/main/auth-refresh';
/** How the jobs of docs/server.md fetch the handoffs. */
const FETCH = ['fetch', '-q', '--no-tags', 'origin', '+refs/handoffs/*:refs/handoffs/*'];

let world: ServerWorld;
let job: string;

/** A pull request of one branch, and a job's clone of it. */
beforeEach(() => {
  world = new ServerWorld(undefined);
  world.push(['main']);
  world.git(['switch', '-qc', 'feature']);
  commitOf(`one\n\nClaude-Session-Id: ${A}\n`);
  job = join(world.root, 'job');
});
afterEach(() => world.remove());

function commitOf(message: string): string {
  world.git(['commit', '-q', '--allow-empty', '-F', '-'], { input: message });
  return world.git(['rev-parse', 'HEAD']);
}

/** CI has no `init`, no identity, no home and no session. */
const CI = { HOME: '/nonexistent', USER: undefined, GIT_CONFIG_GLOBAL: '/dev/null' };

function clone(...flags: string[]): void {
  world.push(['feature', 'refs/handoffs/*:refs/handoffs/*'], { flags: ['--force'] });
  world.git(['clone', '-q', '--branch', 'feature', ...flags, `file://${world.server}`, job], {
    cwd: world.root,
  });
  world.git(FETCH, { cwd: job });
}

const check = (range = 'origin/main..HEAD', ...more: string[]) =>
  world.handoff(['check', range, ...more], { cwd: job, env: CI });

describe('check in a CI job', () => {
  it('exits 0 with a line about what it looked at', () => {
    world.git(['update-ref', REF, world.handmade()]);
    clone();
    expect(check()).toMatchObject({
      status: 0,
      stdout: 'looked at 1 commit and 1 handoff: no commit mixes sessions, no handoff was moved by hand\n',
      stderr: '',
    });
  });

  it('exits 1 for a commit of two sessions, or a handoff that no session could have written', () => {
    const both = commitOf(`both\n\n${BOTH}\n`);
    const first = world.handmade();
    world.git(['update-ref', REF, world.handmade({ parents: [first], owner: B })]);
    clone();
    const done = check();
    expect(done).toMatchObject({ status: 1, stderr: '' });
    expect(done.stdout).toContain(
      `mixed    ${both.slice(0, 7)}  session aaaaaaaa, session bbbbbbbb  0 paths`,
    );
    expect(done.stdout).toMatch(/illegal .* main\/auth-refresh +foreign owner without a take/);
    const items = JSON.parse(check(undefined, '--json').stdout) as { items: { kind: string }[] };
    expect(items.items.map(({ kind }) => kind)).toEqual(['mixed', 'illegal']);
  });

  it('trusts handoffs which say that one session continued for another', () => {
    commitOf(`both\n\n${BOTH}\n`);
    const next = world.handmade({
      parents: [world.handmade()],
      owner: B,
      trailers: [`Handoff-Succeeds: ${A}`],
    });
    world.git(['update-ref', REF, world.handmade({ parents: [next], owner: B })]);
    clone();
    expect(check().status).toBe(0);
    world.git(['update-ref', '-d', REF], { cwd: job });
    expect(check().status).toBe(1);
  });

  it('exits 2 with a way out if the job cloned too little', () => {
    clone('--depth=1', '--single-branch');
    const done = check();
    expect(done).toMatchObject({ status: 2, stdout: '' });
    expect(done.stderr).toMatch(
      /^error: not a range of commits: "origin\/main\.\.HEAD" .*\nhint: git fetch --unshallow --no-tags origin '\+refs\/heads\/\*:refs\/remotes\/origin\/\*'\n$/,
    );
    const hint = done.stderr.split('hint: ')[1] ?? '';
    expect(world.run('sh', ['-c', hint], { cwd: job }).status).toBe(0);
    expect(check().status).toBe(0);
  });

  it('judges handoffs that this clone has not accepted yet in a few processes, however many there are', () => {
    const commit = world.handmade();
    const topics = Array.from({ length: 300 }, (_, n) => `create refs/handoffs/main/topic-n${n} ${commit}\n`);
    world.git(['update-ref', '--stdin'], { input: topics.join('') });
    world.git(['update-ref', REF, commit]);
    clone();
    const [count, folder] = [join(world.root, 'count'), join(world.root, 'counting')];
    mkdirSync(folder);
    const real = world.run('sh', ['-c', 'command -v git']).stdout.trim();
    writeFileSync(join(folder, 'git'), `#!/bin/sh\necho >>'${count}'\nexec '${real}' "$@"\n`);
    chmodSync(join(folder, 'git'), 0o755);
    const env = { ...CI, PATH: `${folder}:${world.env()['PATH']}` };
    const done = world.handoff(['check', 'origin/main..HEAD', '--json'], { cwd: job, env });
    const { handoffs, items } = JSON.parse(done.stdout) as { handoffs: number; items: { reason: string }[] };
    expect(handoffs).toBe(301);
    expect(items.map(({ reason }) => reason)).toEqual(Array(300).fill('names another branch or topic'));
    expect(readFileSync(count, 'utf8').length).toBeLessThan(12);
  });
});
