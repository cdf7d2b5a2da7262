import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B } from '../support/sharing-world.ts';
import { CommitWorld, errorsOf } from '../support/commit-hooks-world.ts';

let world: CommitWorld;
beforeEach(() => {
  world = new CommitWorld();
});
afterEach(() => world.remove());

/** `side` and main change src/b.ts differently; `side` also changes shared.md. A has changed src/a.ts and not committed it. */
function history(): void {
  world.git(['switch', '-qc', 'side']);
  world.commit('side shared', { 'shared.md': 'side\n' });
  world.commit('side', { 'src/b.ts': 'side\n' });
  world.git(['switch', '-q', 'main']);
  world.commit('main', { 'src/b.ts': 'main\n' });
  world.begin(A);
  world.begin(B);
  world.wrote(A, 'src/a.ts', '1\n');
}

/** Runs git as B, which must succeed. */
function asB(...args: string[]): string {
  const run = world.as(B, args, { env: { GIT_EDITOR: 'true' } });
  expect({ args, status: run.status, stderr: run.stderr }).toMatchObject({ status: 0 });
  return run.stdout;
}

/** Runs git as B, which must stop at a conflict; then resolves it and stages the result. */
function conflict(...args: string[]): void {
  expect(world.as(B, args).status).not.toBe(0);
  writeFileSync(join(world.path, 'src/b.ts'), 'resolved\n');
  world.git(['add', 'src/b.ts']);
}

/** A folder with a program of that name. */
function stub(name: string, script: string): string {
  const folder = join(world.root, 'stub');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
  return folder;
}

describe('commits that git makes from existing ones are never stopped', () => {
  beforeEach(history);

  it('a merge, with and without a conflict', () => {
    conflict('merge', '-q', 'side');
    asB('commit', '-q', '--no-edit');
    expect(world.git(['rev-list', '--count', '--merges', 'HEAD'])).toBe('1');
    world.git(['reset', '-q', '--soft', 'HEAD~']);
    world.git(['reset', '-q', '--', 'src/a.ts']);
    writeFileSync(join(world.path, 'src/b.ts'), 'main\n');
    world.git(['checkout', '-q', 'HEAD', '--', 'src/b.ts', 'shared.md']);
    world.git(['branch', '-f', 'side', 'side~']);
    asB('merge', '-q', '--no-edit', 'side');
    expect(world.ids()).toEqual([B]);
    expect(world.status()).toEqual([' M src/a.ts']);
  });

  it('a rebase that stops at a conflict and at an edit', () => {
    world.git(['stash', '-q']);
    asB('switch', '-q', 'side');
    world.git(['stash', 'pop', '-q']);
    world.git(['add', '-A']);
    world.git(['commit', '-qm', 'swept in by hand']);
    expect(world.as(B, ['rebase', '-q', 'main']).status).not.toBe(0);
    writeFileSync(join(world.path, 'src/b.ts'), 'resolved\n');
    world.git(['add', '-A']);
    asB('rebase', '--continue');
    const edit = { GIT_SEQUENCE_EDITOR: 'sed -i.x 1s/pick/edit/' };
    expect(world.as(B, ['rebase', '-q', '-i', 'HEAD~'], { env: edit }).status).toBe(0);
    world.wrote(A, 'src/a.ts', '2\n');
    expect(errorsOf(world.refused(B, ['commit', '-qa', '--amend', '--no-edit']))).toHaveLength(1);
    asB('commit', '-q', '--amend', '--no-edit');
    world.git(['checkout', '-q', '--', 'src/a.ts']);
    asB('rebase', '--continue');
    expect(world.git(['log', '-1', '--format=%s'])).toBe('swept in by hand');
  });

  it('a cherry-pick, clean and with a conflict', () => {
    asB('cherry-pick', 'side~');
    conflict('cherry-pick', 'side');
    asB('cherry-pick', '--continue');
    expect(world.git(['log', '-2', '--format=%s'])).toBe('side\nside shared');
  });

  it('a revert, clean and with a conflict', () => {
    asB('revert', '--no-edit', 'HEAD');
    asB('revert', 'HEAD');
    world.git(['stash', '-q']);
    world.commit('again', { 'src/b.ts': 'again\n' });
    conflict('revert', '--no-edit', 'HEAD~');
    asB('revert', '--continue');
    expect(world.git(['log', '-1', '--format=%s'])).toMatch(/^(?:Revert|Reapply) /);
  });

  it('git am', () => {
    const patch = world.git(['format-patch', '--stdout', 'side~2..side~']);
    const run = world.as(B, ['am', '-q'], { input: `${patch}\n` });
    expect(run).toMatchObject({ status: 0 });
    expect(world.git(['log', '-1', '--format=%s'])).toBe('side shared');
  });
});

describe('a person', () => {
  it('is never refused anything, and gets no trailer', () => {
    history();
    world.wrote(B, 'shared.md', '2\n');
    world.git(['add', '-A']);
    expect(world.commits(undefined, ['-m', 'everything'])).toBe('');
    expect(world.changed()).toEqual(['shared.md', 'src/a.ts']);
    expect(world.ids()).toEqual([]);
    world.commits(B, ['--allow-empty', '-m', 'B']);
    expect(world.commits(undefined, ['--amend', '--allow-empty', '-m', 'by hand'])).toBe('');
    world.git(['switch', '-q', 'side']);
    expect(world.commits(undefined, ['--allow-empty', '-m', 'elsewhere'])).toBe('');
  });
});

describe('settings', () => {
  it.each([
    ['short', ['bbbbbbbb']],
    ['off', []],
  ])('trailer = %s: refused all the same', (value, ids) => {
    history();
    world.git(['config', 'handoff.trailer', value]);
    world.wrote(B, 'src/b.ts', '2\n');
    world.git(['add', '-A']);
    const stderr = world.refused(B, ['commit', '-m', 'B']);
    expect(errorsOf(stderr)).toHaveLength(1);
    world.follow(B, stderr);
    expect(world.changed()).toEqual(['src/b.ts']);
    expect(world.ids()).toEqual(ids);
    expect(world.commits(A, ['-am', 'A'])).toBe('');
  });

  it('GIT_HANDOFF = off and handoff.enabled = false: nothing is checked', () => {
    history();
    world.git(['add', '-A']);
    world.commits(B, ['-m', 'B'], { env: { GIT_HANDOFF: 'off' } });
    world.wrote(A, 'src/a.ts', '2\n');
    world.git(['config', 'handoff.enabled', 'false']);
    world.commits(B, ['-am', 'B']);
    expect(world.ids()).toEqual([]);
  });
});

describe('a lone session', () => {
  it('is never checked, and Node starts once, for the name in the message', () => {
    world.begin(A);
    const started = join(world.home, 'started');
    const node = `echo "$4" >>'${started}'\nexec '${process.execPath}' "$@"`;
    const PATH = `${stub('node', node)}:${process.env['PATH'] ?? ''}`;
    rmSync(join(world.home, '.local'), { recursive: true, force: true });
    const hooksAsked = () => {
      const names = readFileSync(started, 'utf8').split('\n').filter(Boolean);
      rmSync(started);
      return names;
    };
    const env = { PATH };
    writeFileSync(join(world.path, 'src/a.ts'), '1\n');
    world.commits(A, ['-am', 'x'], { env });
    expect(hooksAsked()).toEqual(['prepare-commit-msg']);
    world.commits(A, ['--amend', '--no-edit', '-n'], { env });
    expect(hooksAsked()).toEqual(['prepare-commit-msg']);
    world.commits(A, ['--allow-empty', '-e', '-m', 'y'], { env: { ...env, GIT_EDITOR: 'true' } });
    expect(hooksAsked()).toEqual(['prepare-commit-msg', 'commit-msg']);
    expect([world.ids('HEAD~'), world.ids()]).toEqual([[A], [A]]);
    expect(existsSync(join(world.path, '.git', 'handoff-checked'))).toBe(false);
  });
});

describe('a failure stops no commit', () => {
  beforeEach(() => {
    history();
    world.git(['add', '-A']);
  });

  /** The only line of output: a warning that the commit was not checked. */
  const UNCHECKED = expect.stringMatching(
    /^warning: git-handoff (?:could|did) not check this commit[:;] .*\n$/,
  ) as string;

  it.each<[string, () => Record<string, string>]>([
    ['there is no Node', () => ({ PATH: withoutNode() })],
    ['Node is broken', () => ({ PATH: `${stub('node', 'echo Killed >&2; exit 137')}:/usr/bin:/bin` })],
    ['our git call fails', () => gitStub('exit 129')],
    ['our git call hangs', () => gitStub('exec sleep 20')],
  ])('%s', (_, environment) => {
    rmSync(join(world.home, '.local'), { recursive: true, force: true });
    const started = Date.now();
    const run = world.run(ownGit(), ['commit', '-qm', 'B'], { session: B, env: environment() });
    expect(run).toMatchObject({ status: 0, stderr: UNCHECKED });
    expect(world.changed()).toEqual(['src/a.ts']);
    expect(Date.now() - started).toBeLessThan(15_000);
  });

  it('and leaves one line in the log', () => {
    world.clearGuardLog();
    const env = gitStub('exit 129');
    world.run(ownGit(), ['commit', '-qnm', 'B'], { session: B, env });
    const lines = world.guardLog().split('\n').filter(Boolean);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      event: 'prepare-commit-msg',
      kind: 'open',
      detail: expect.stringContaining('unchecked') as string,
    });
  });

  it('a ledger that cannot be read', () => {
    rmSync(join(world.path, '.git', 'handoff', 'sessions'), { recursive: true });
    writeFileSync(join(world.path, '.git', 'handoff', 'sessions'), '');
    expect(world.as(B, ['commit', '-qm', 'B'])).toMatchObject({ status: 0, stderr: UNCHECKED });
  });

  /** The git that runs the tests, even if `PATH` has another one. */
  const ownGit = () => join(world.git(['--exec-path']), 'git');

  /** A PATH with everything that the hooks need, except Node. */
  function withoutNode(): string {
    const folder = stub('none', '');
    for (const name of ['sh', 'git', 'readlink', 'cat']) {
      symlinkSync(world.run('sh', ['-c', `command -v ${name}`]).stdout.trim(), join(folder, name));
    }
    return folder;
  }

  /** Makes git run this script when a hook asks what is staged: git puts the folder of its own programs first on PATH. */
  function gitStub(script: string): Record<string, string> {
    const folder = stub('git', `case "$*" in *--cached*) ${script} ;; esac\nexec '${ownGit()}' "$@"`);
    return { GIT_EXEC_PATH: folder };
  }
});
