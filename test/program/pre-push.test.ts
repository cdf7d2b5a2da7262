import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Run, RunOptions } from '../support/repository.ts';
import { A, B, C } from '../support/sharing-world.ts';
import { CommitWorld, errorsOf as allErrors, hintsOf } from '../support/commit-hooks-world.ts';
import { matching } from '../support/matchers.ts';

let world: CommitWorld;
let remote: string;
beforeEach(() => {
  world = new CommitWorld();
  remote = join(world.root, 'remote.git');
  world.git(['clone', '-q', '--bare', world.path, remote], { cwd: world.root });
  world.git(['remote', 'add', 'origin', remote]);
  world.git(['fetch', '-q', 'origin']);
  world.begin(A);
  world.begin(B);
});
afterEach(() => world.remove());

/** Makes an empty commit that names these sessions. */
function commitOf(message: string, ...ids: string[]): string {
  const trailers = ids.map((id) => `Claude-Session-Id: ${id}`).join('\n');
  world.git(['commit', '-q', '--allow-empty', '-m', message, ...(trailers === '' ? [] : ['-m', trailers])], {
    env: { GIT_HANDOFF: 'off' },
  });
  return world.git(['rev-parse', 'HEAD']);
}

/** Our lines of what a push wrote to stderr. */
const messages = ({ stderr }: Run) =>
  stderr.split('\n').filter((line) => /^(?:error: (?!failed to push)|warning: |hint: )/.test(line));

/** Our errors, without git's own last line. */
const errorsOf = (stderr: string) =>
  allErrors(stderr).filter((line) => !line.startsWith('failed to push some refs'));

function push(
  session: string | undefined,
  args: string[] = ['origin', 'main'],
  options: RunOptions = {},
): Run {
  return world.run('git', ['push', '-q', ...args], {
    ...options,
    ...(session === undefined ? {} : { session }),
  });
}

const there = (ref = 'refs/heads/main') =>
  world.run('git', ['rev-parse', '-q', '--verify', ref], { cwd: remote }).stdout.trim();

describe('commits of other live sessions', () => {
  it('are listed, and pushed', () => {
    const commit = commitOf('by A', A);
    commitOf('by B', B);
    const run = push(B);
    expect(run.status).toBe(0);
    expect(messages(run)).toEqual([
      'warning: this push includes a commit of other sessions that are at work:',
      `warning:   ${commit.slice(0, 7)} "by A" by claude aaaaaaaa`,
    ]);
    expect(there()).toBe(world.git(['rev-parse', 'main']));
  });

  it('are not pushed with pushForeign = deny, but the commits before them can be', () => {
    world.git(['config', 'handoff.pushForeign', 'deny']);
    const own = commitOf('by B', B);
    const foreign = commitOf('by A', A);
    commitOf('by B again', B);
    const run = push(B);
    expect(run.status).toBe(1);
    expect(messages(run).slice(0, 2)).toEqual([
      'error: this push includes a commit of other sessions that are at work:',
      `error:   ${foreign.slice(0, 7)} "by A" by claude aaaaaaaa`,
    ]);
    world.follow(B, run.stderr);
    expect(there()).toBe(own);
    expect(push(A).status).toBe(1);
    expect(push(undefined)).toMatchObject({ status: 0, stderr: '' });
  });

  it.each([
    ['pushForeign = allow', () => world.git(['config', 'handoff.pushForeign', 'allow'])],
    ['the other session is over', () => world.end(A)],
    ['a person pushes', () => undefined],
  ])('are no matter: %s', (name, prepare) => {
    commitOf('by A', A);
    prepare();
    expect(push(name === 'a person pushes' ? undefined : B)).toMatchObject({ status: 0, stderr: '' });
  });

  it('are not counted if they are already pushed: one own commit, rebased onto 25 of them', () => {
    const clone = join(world.root, 'clone');
    world.git(['clone', '-q', remote, clone], { cwd: world.root });
    for (let n = 0; n < 25; n += 1) {
      world.git(['commit', '-q', '--allow-empty', '-m', `${n}`, '-m', `Claude-Session-Id: ${A}`], {
        cwd: clone,
      });
    }
    world.git(['push', '-q'], { cwd: clone });
    world.bash(B, 'git switch -qc feature');
    world.wrote(B, 'src/b.ts', '2\n');
    world.commits(B, ['-am', 'own']);
    world.git(['push', '-q', 'origin', 'feature'], { session: B });
    world.git(['fetch', '-q']);
    world.git(['rebase', '-q', 'origin/main'], { session: B });
    expect(push(B, ['--force', 'origin', 'feature'])).toMatchObject({ status: 0, stderr: '' });
    expect(push(B, ['origin', 'feature:other'])).toMatchObject({ status: 0, stderr: '' });
    expect(push(B, [remote, 'feature:third'])).toMatchObject({ status: 0, stderr: '' });
  });
});

describe('a commit that holds the work of two sessions', () => {
  it('is refused at the tip until the session confirms it', () => {
    const commit = commitOf('both', A, B);
    const run = push(B);
    expect(run.status).toBe(1);
    expect(messages(run)[0]).toBe(
      `error: ${commit.slice(0, 7)} "both" mixes the work of claude aaaaaaaa, claude bbbbbbbb`,
    );
    expect(hintsOf(run.stderr)).toEqual([
      `git commit --amend --no-edit --trailer 'Handoff-Accepted-From: ${A}'`,
    ]);
    expect(there()).not.toBe(commit);
    world.git(['commit', '-q', '--allow-empty', '--amend', '--no-edit'], { env: { GIT_HANDOFF: 'off' } });
    const hint = hintsOf(run.stderr)[0]?.replace('--amend', '--amend --allow-empty') ?? '';
    world.follow(B, `hint: ${hint}`);
    expect(push(B).status).toBe(0);
    expect(there()).toBe(world.git(['rev-parse', 'main']));
  });

  it('is refused as an ancestor of the tip, and for a third session; the commits before it can be pushed', () => {
    const first = commitOf('by C', C);
    commitOf('both', A, B);
    commitOf('by B', B);
    const run = push(C);
    expect(run.status).toBe(1);
    world.follow(C, run.stderr);
    expect(there()).toBe(first);
  });

  it('is reported to a person, and pushed', () => {
    const commit = commitOf('both', A, B);
    const run = push(undefined);
    expect(run.status).toBe(0);
    expect(messages(run)).toEqual([
      `warning: ${commit.slice(0, 7)} "both" mixes the work of claude aaaaaaaa, claude bbbbbbbb`,
    ]);
  });

  it('is recognised by ids that were squashed into the body; merges and short ids do not count', () => {
    commitOf(`squash\n\n    Claude-Session-Id: ${A}\n\nmore`, B);
    expect(push(B).status).toBe(1);
    world.git(['reset', '-q', '--hard', 'HEAD~']);
    commitOf('one session twice', B, 'bbbbbbbb');
    world.git(['switch', '-qc', 'side', 'HEAD~']);
    commitOf('side', C);
    world.git(['switch', '-q', 'main']);
    const ids = `Claude-Session-Id: ${C}\nClaude-Session-Id: ${B}`;
    world.git(['merge', '-q', '--no-ff', '-m', 'merge', '-m', ids, 'side'], { env: { GIT_HANDOFF: 'off' } });
    expect(push(B)).toMatchObject({ status: 0, stderr: '' });
  });

  it('passes if a record says that both sessions are one conversation', () => {
    const clear = { cwd: world.path, session_id: B };
    world.guard({ ...clear, hook_event_name: 'SessionEnd', reason: 'clear' });
    world.guard({ ...clear, session_id: C, hook_event_name: 'SessionStart', source: 'clear' });
    commitOf('both', B, C);
    expect(push(C)).toMatchObject({ status: 0, stderr: '' });
  });
});

describe('local bookkeeping', () => {
  const LIVE = 'refs/handoffs-local/live';

  it.each([
    ['--mirror', ['--mirror', 'origin'], undefined],
    ['by name', ['origin', 'refs/handoffs-local/*:refs/handoffs-local/*'], B],
    ['under another name', ['origin', `refs/handoffs-local/*:refs/x/*`], A],
    ['what a remote showed', ['origin', 'HEAD:refs/handoffs-remote/origin/main/x-y'], undefined],
  ])('never leaves: %s', (_, args, session) => {
    const run = push(session, args);
    expect(run.status).toBe(1);
    expect(messages(run).slice(0, -1).length).toBeGreaterThan(0);
    for (const line of messages(run).slice(0, -1)) {
      expect(line).toMatch(/^error: refs\/handoffs-(?:local|remote)\/\S+ is the bookkeeping of this machine/);
    }
    expect(hintsOf(run.stderr)).toEqual(['git push origin HEAD']);
    expect(
      world.git(['for-each-ref', '--format=%(refname)', 'refs/handoffs-local', 'refs/x'], { cwd: remote }),
    ).toBe('');
    commitOf('by hand');
    world.follow(B, run.stderr);
    expect(there()).toBe(world.git(['rev-parse', 'main']));
  });

  it('stays here even without Node, and may be deleted on a remote', () => {
    const env = { PATH: withoutNode() };
    expect(push(undefined, ['--mirror', 'origin'], { env }).status).toBe(1);
    const leak = `${LIVE}/0000000000000000/x`;
    world.git(['update-ref', leak, 'HEAD'], { cwd: remote });
    expect(push(B, ['origin', `:${leak}`])).toMatchObject({ status: 0, stderr: '' });
  });

  function withoutNode(): string {
    const folder = join(world.root, 'none');
    mkdirSync(folder);
    for (const name of ['sh', 'git', 'readlink', 'cat', 'git-upload-pack', 'git-receive-pack']) {
      const program = world.run('sh', ['-c', `command -v ${name}`]).stdout.trim();
      // A script instead of a link, so that a stand-in for a Mac's program finds the files beside it.
      writeFileSync(join(folder, name), `#!/bin/sh\nexec '${program}' "$@"\n`, { mode: 0o755 });
    }
    return folder;
  }
});

describe('handoffs', () => {
  const REF = 'refs/handoffs/main/auth-refresh';
  const write = (session: string, text: string, ...more: string[]) =>
    world.noted(['write', 'auth-refresh', '-m', text, ...more], { session });

  it('are pushed if every step is legal, even another owner’s', () => {
    write(A, 'one');
    expect(push(B, ['origin', REF])).toMatchObject({ status: 0, stderr: '' });
    write(A, 'two');
    world.stop(A);
    write(B, 'three', '--take');
    expect(push(undefined, ['origin', `${REF}:${REF}`])).toMatchObject({ status: 0, stderr: '' });
    expect(there(REF)).toBe(world.ref(REF));
  });

  it('are not judged again, even if many are new there, if they were accepted here; others are', () => {
    write(A, 'one');
    const tip = world.ref(REF) ?? '';
    const create = (n: number, prefix: string) => `create ${prefix}/main/topic-n${n} ${tip}\n`;
    const numbers = Array.from({ length: 120 }, (_, n) => n);
    const kept = 'refs/handoffs-local/kept';
    const all = numbers.map((n) => create(n, 'refs/handoffs'));
    const accepted = numbers.slice(1).map((n) => create(n, kept));
    world.git(['update-ref', '--stdin'], { input: [...all, ...accepted].join('') });
    const run = push(A, ['origin', 'refs/handoffs/*:refs/handoffs/*']);
    expect(run.status).toBe(1);
    expect(errorsOf(run.stderr)).toEqual(['refs/handoffs/main/topic-n0: names another branch or topic']);
    world.git(['update-ref', '-d', 'refs/handoffs/main/topic-n0']);
    expect(push(A, ['origin', 'refs/handoffs/*:refs/handoffs/*'])).toMatchObject({ status: 0, stderr: '' });
  });

  it('are not deleted there: closing is the way', () => {
    write(A, 'one');
    push(A, ['origin', REF]);
    const run = push(A, ['origin', `:${REF}`]);
    expect(run.status).toBe(1);
    expect(messages(run)).toEqual([
      `error: ${REF}: deleted`,
      `hint: git -C ${world.path} handoff close main/auth-refresh`,
    ]);
    world.follow(A, run.stderr);
    expect(push(A, ['origin', REF]).status).toBe(0);
  });

  it('are not rewound, and do not replace what was never fetched', () => {
    write(A, 'one');
    write(A, 'two');
    push(A, ['origin', REF]);
    const back = push(A, ['--force', 'origin', `${REF}~:${REF}`]);
    expect(back.status).toBe(1);
    expect(errorsOf(back.stderr)).toEqual([`${REF}: rewound or replaced`]);
    const clone = join(world.root, 'clone');
    world.git(['clone', '-q', remote, clone], { cwd: world.root });
    world.git(['fetch', '-q', 'origin', `${REF}:${REF}`], { cwd: clone });
    world.ok(['write', 'auth-refresh', '-m', 'far away', '--take'], { cwd: clone });
    world.git(['push', '-q', 'origin', REF], { cwd: clone });
    write(A, 'three');
    const over = push(A, ['--force', 'origin', REF]);
    expect(errorsOf(over.stderr)).toEqual([`${REF}: rewound or replaced`]);
    expect(hintsOf(over.stderr)).toEqual(['git handoff sync']);
    world.follow(A, over.stderr);
    expect(world.ref(REF)).toBe(there(REF));
    expect(world.ok(['show', 'auth-refresh', '--lost=1'])).toBe('three');
  });

  it('do not change owner by a commit without a take', () => {
    write(A, 'one');
    push(A, ['origin', REF]);
    world.stop(A);
    write(B, 'two', '--take');
    const tree = world.git(['rev-parse', `${REF}^{tree}`]);
    const message = world.git(['log', '-1', '--format=%B', REF]).replace(/Handoff-Taken-From.*\n?/, '');
    const forged = world.git(['commit-tree', tree, '-p', `${REF}~`, '-m', message]);
    const run = push(B, ['origin', `${forged}:${REF}`]);
    expect(errorsOf(run.stderr)).toEqual([`${REF}: foreign owner without a take`]);
    const misplaced = push(B, ['origin', `${REF}:refs/handoffs/other/auth-refresh`]);
    expect(errorsOf(misplaced.stderr)).toEqual([
      'refs/handoffs/other/auth-refresh: names another branch or topic',
    ]);
    expect(push(B, ['origin', REF])).toMatchObject({ status: 0, stderr: '' });
  });
});

describe('a push may contain', () => {
  it('new branches, tags, deletions, or nothing at all', () => {
    commitOf('by B', B);
    world.git(['tag', '-a', '-m', 'annotated', 'v1']);
    world.git(['tag', 'light']);
    expect(push(B, ['origin', 'HEAD:new', 'v1', 'light'])).toMatchObject({ status: 0, stderr: '' });
    expect(push(B, ['origin', ':new', ':v1'])).toMatchObject({ status: 0, stderr: '' });
    expect(push(B, ['origin', 'light'])).toMatchObject({ status: 0 });
  });

  it('from a linked worktree, and from a folder below', () => {
    const cwd = world.worktree('side');
    mkdirSync(join(cwd, 'below'));
    world.git(
      [
        'commit',
        '-q',
        '--allow-empty',
        '-m',
        'both',
        '-m',
        `Claude-Session-Id: ${A}\nClaude-Session-Id: ${B}`,
      ],
      {
        cwd,
        env: { GIT_HANDOFF: 'off' },
      },
    );
    expect(push(B, ['origin', 'side'], { cwd: join(cwd, 'below') }).status).toBe(1);
  });

  it('anything if git fails: it is not checked, with a line in the log and one for whoever pushes', () => {
    commitOf('both', A, B);
    const git = join(world.git(['--exec-path']), 'git');
    const folder = join(world.root, 'stub');
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'git'),
      `#!/bin/sh\ncase "$*" in *--ignore-missing*) exit 129 ;; esac\nexec '${git}' "$@"\n`,
    );
    chmodSync(join(folder, 'git'), 0o755);
    expect(push(B, undefined, { env: { GIT_EXEC_PATH: folder } })).toMatchObject({
      status: 0,
      stderr: matching(/^warning: git-handoff did not check this push: git .+\n$/),
    });
    expect(world.guardLog()).toContain('"event":"pre-push","kind":"open"');
    commitOf('again', A, B);
    expect(push(B, undefined, { env: { GIT_HANDOFF: 'off' } })).toMatchObject({ status: 0, stderr: '' });
  });
});
