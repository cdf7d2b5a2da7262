import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { NO_STRACE, positions, readTrace, straceWords, wasInjected } from '../support/faults/strace.ts';
import { hostileCases } from '../support/hostile-cases.ts';
import { LAUNCHER, TestRepository } from '../support/repository.ts';
import { A, B } from '../support/sharing-world.ts';
import { CommitWorld } from '../support/commit-hooks-world.ts';
import { HOOK_MANAGERS } from './hook-managers.ts';
import { World } from './install-world.ts';

interface HookCase {
  readonly id: string;
  readonly why: string;
  readonly expect: string;
}

/** A world whose shims leave a trace. */
function open(): World {
  const world = new World();
  onTestFinished(() => world.remove());
  world.commit('first');
  return world;
}

/** A repository with the real program. */
function real(): TestRepository {
  const repo = new TestRepository();
  onTestFinished(() => repo.remove());
  return repo;
}

const hookOf = (world: World, name: string) => join(world.repository, '.git', 'hooks', name);
/** The hooks that ran, without our pre-commit's separate call at the beginning of a commit. */
const ran = (world: World) =>
  world
    .calls()
    .filter((line) => !line.startsWith('shim pre-commit 1 begin'))
    .map((line) => line.replace(/^(shim \S+).*/, '$1'));
const MINE = '#!/bin/sh\necho mine >>"$HOME/calls"\n';
const OURS = ['shim pre-commit', 'shim prepare-commit-msg', 'shim commit-msg'];
const BEHIND_MINE = ['shim pre-commit', 'shim prepare-commit-msg', 'mine', 'shim commit-msg'];

function hooksFolder(path: string): string[] {
  return readdirSync(path)
    .sort()
    .map((name) => `${name} ${statSync(join(path, name)).mode} ${readFileSync(join(path, name), 'latin1')}`);
}

async function throughManagers(before: boolean): Promise<void> {
  for (const name of ['lefthook', 'pre-commit', 'husky 9']) {
    const world = open();
    const install = () => HOOK_MANAGERS[name]?.install(world, world.repository);
    if (before) install();
    await world.init();
    if (!before) {
      // These managers rename an existing hook.
      const suffix = { lefthook: '.old', 'pre-commit': '.legacy' }[name];
      if (suffix !== undefined) renameSync(hookOf(world, 'commit-msg'), hookOf(world, `commit-msg${suffix}`));
      install();
      await world.init();
    }
    world.commit();
    expect(ran(world).sort(), name).toEqual([...BEHIND_MINE].sort());
  }
}

const transaction = '#!/bin/sh\necho "rt $1" >>"$HOME/calls"\ncat >>"$HOME/calls"\n';
const ZERO = '0'.repeat(40);

const SITUATIONS: Record<string, () => void | Promise<void>> = {
  async EH003() {
    const world = open();
    const remote = join(world.root, 'remote');
    world.git(['init', '-q', '--bare', remote], world.root);
    world.write(hookOf(world, 'pre-push'), '#!/bin/sh\ncat >>"$HOME/calls"\n', 0o755);
    world.write(hookOf(world, 'reference-transaction'), transaction, 0o755);
    world.write(join(world.packageRoot, 'git-hooks', 'pre-push'), '#!/bin/sh\ncat >>"$HOME/calls"\n', 0o755);
    await world.init();
    world.git(['push', '-q', remote, 'HEAD:refs/heads/x', 'HEAD:refs/heads/y']);
    const oid = world.git(['rev-parse', 'HEAD']).trim();
    const line = (ref: string) => `HEAD ${oid} refs/heads/${ref} ${ZERO}`;
    const both = [line('x'), line('y')];
    expect(world.calls().filter((text) => text.startsWith('HEAD '))).toEqual([...both, ...both]);
    world.git(['update-ref', 'refs/x/y', oid]);
    expect(world.calls().join('\n')).toContain(`rt committed\n${ZERO} ${oid} refs/x/y`);
  },
  async EH005() {
    const world = open();
    world.write(hookOf(world, 'commit-msg'), MINE, 0o644);
    expect((await world.init()).notices.join()).toContain('not executable');
    world.commit();
    expect(ran(world)).toEqual(OURS.slice(0, 2));
    expect(readFileSync(hookOf(world, 'commit-msg'), 'utf8')).toBe(MINE);
    expect(statSync(hookOf(world, 'commit-msg')).mode & 0o777).toBe(0o644);
  },
  async EH006() {
    const world = open();
    const target = join(world.root, 'shared hook');
    world.write(target, MINE, 0o755);
    symlinkSync(target, hookOf(world, 'commit-msg'));
    await world.init();
    expect(readlinkSync(hookOf(world, 'commit-msg'))).toBe(target);
    expect(readFileSync(target, 'utf8')).toBe(MINE);
    world.commit();
    expect(ran(world)).toEqual([...OURS.slice(0, 2), 'mine']);
  },
  async EH007() {
    const world = open();
    symlinkSync('/nowhere', hookOf(world, 'commit-msg'));
    expect((await world.init()).notices.join()).toMatch(/commit-msg: left as it is, because .*leads nowhere/);
    expect(lstatSync(hookOf(world, 'commit-msg')).isSymbolicLink()).toBe(true);
    expect(existsSync('/nowhere')).toBe(false);
  },
  async EH010() {
    const world = open();
    cpSync('/bin/false', hookOf(world, 'commit-msg'));
    chmodSync(hookOf(world, 'commit-msg'), 0o755);
    await world.init();
    expect(() => world.commit()).toThrow();
    expect(readFileSync(hookOf(world, 'commit-msg')).equals(readFileSync('/bin/false'))).toBe(true);
  },
  async EH011() {
    // Longer than any time limit of ours. The corpus has a minute, which would only make the test slower.
    const world = open();
    world.write(hookOf(world, 'commit-msg'), `#!/bin/sh\nsleep 3\n${MINE}`, 0o755);
    await world.init();
    world.commit();
    expect(ran(world)).toEqual(BEHIND_MINE);
  },
  async EH014() {
    const world = open();
    world.git(['config', 'core.hooksPath', '.hooks']);
    world.write(join(world.repository, '.git', 'info', 'exclude'), '.hooks\n');
    world.write(join(world.repository, '.hooks', 'commit-msg'), MINE, 0o755);
    const below = join(world.repository, 'a', 'b');
    mkdirSync(below, { recursive: true });
    await world.init({}, below);
    expect(existsSync(join(below, '.hooks'))).toBe(false);
    world.commit('from below', below);
    expect(ran(world)).toEqual(BEHIND_MINE);
  },
  async EH016() {
    await throughManagers(true);
    await throughManagers(false);
  },
  async EH017() {
    const world = open();
    await world.init();
    const first = world.snapshot();
    expect((await world.init()).changed).toEqual([]);
    expect(world.snapshot()).toEqual(first);
  },
  async EH018() {
    const world = open();
    const folder = join(world.repository, '.git', 'hooks');
    world.write(hookOf(world, 'commit-msg'), MINE, 0o711);
    world.write(hookOf(world, 'pre-push'), 'exit 0', 0o755);
    const start = hooksFolder(folder);
    await world.init({}, undefined, { packageRoot: '/old' });
    await world.init();
    expect(hooksFolder(folder)).not.toEqual(start);
    await world.uninstall();
    expect(hooksFolder(folder)).toEqual(start);
  },
  async EH019() {
    const world = open();
    await world.init();
    const path = hookOf(world, 'pre-commit');
    writeFileSync(path, `${readFileSync(path, 'utf8')}${MINE.slice(MINE.indexOf('\n') + 1)}`);
    await world.uninstall();
    expect(readFileSync(path, 'utf8')).toBe(MINE);
  },
  EH020() {
    const repo = real();
    const folder = join(repo.path, '.git', 'hooks');
    writeFileSync(join(folder, 'commit-msg'), MINE, { mode: 0o755 });
    const start = hooksFolder(folder);
    const trace = join(repo.root, 'trace');
    const calls = ['rename', 'openat', 'write', 'fsync', 'mkdir', 'unlink', 'chmod', 'fchmod'];
    const init = (words: string[]) =>
      repo.run(words[0] ?? '', [...words.slice(1), LAUNCHER, 'init', '--yes']);
    init(straceWords(trace, calls));
    const done = hooksFolder(folder);
    repo.ok(['uninstall', '--yes']);
    const all = positions(readTrace(trace)).filter(({ call }) => call !== 'openat');
    const step = Math.max(1, Math.floor(all.length / 30));
    const chosen = all.filter((at, n) => at.call === 'rename' || n % step === 0).slice(0, 40);
    let killed = 0;
    for (const { call, when } of chosen) {
      init(straceWords(trace, calls, { call, when, fault: 'signal=KILL' }));
      if (wasInjected(trace)) killed += 1;
      for (const file of hooksFolder(folder).filter((one) => !/^[^ ]*\.handoff-[0-9a-z-]+ /.test(one)))
        expect([...start, ...done], `${call} ${when}`).toContain(file);
      repo.ok(['uninstall', '--yes']);
      for (const name of readdirSync(folder)) if (name.includes('.handoff-')) rmSync(join(folder, name));
      rmSync(join(repo.path, '.git', 'config.lock'), { force: true });
      expect(hooksFolder(folder)).toEqual(start);
    }
    expect(killed).toBeGreaterThan(10);
  },
  async EH022() {
    const world = open();
    const linked = join(world.root, 'linked');
    world.git(['worktree', 'add', '-q', linked]);
    await world.init({}, linked);
    expect((await world.init()).outcome).toBe('unchanged');
    expect(existsSync(join(world.repository, '.git', 'worktrees', 'linked', 'hooks'))).toBe(false);
    world.commit('x', linked);
    expect(ran(world)).toEqual(OURS);
  },
  async EH023() {
    const world = open();
    const bare = join(world.root, 'bare');
    world.git(['clone', '-q', '--bare', world.repository, bare]);
    await world.init({}, bare);
    world.git(['push', '-q', bare, 'HEAD:refs/heads/more']);
    expect(existsSync(join(bare, 'hooks', 'pre-commit'))).toBe(true);
    await world.uninstall({}, bare);
    expect(existsSync(join(bare, 'hooks', 'pre-commit'))).toBe(false);
  },
  async EH024() {
    const world = open();
    const source = join(world.root, 'source');
    world.git(['init', '-q', source], world.root);
    world.commit('x', source);
    world.git(['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', source, 'sub']);
    world.calls();
    await world.init({}, join(world.repository, 'sub'));
    expect(existsSync(join(world.repository, '.git', 'modules', 'sub', 'hooks', 'pre-commit'))).toBe(true);
    expect(existsSync(hookOf(world, 'pre-commit'))).toBe(false);
    world.commit('in it', join(world.repository, 'sub'));
    expect(ran(world)).toEqual(OURS);
  },
  async EH025() {
    const world = open();
    rmSync(join(world.repository, '.git', 'hooks'), { recursive: true });
    await world.init();
    world.commit();
    expect(ran(world)).toEqual(OURS);
    await world.uninstall();
    expect(existsSync(join(world.repository, '.git', 'hooks'))).toBe(false);
  },
  EH027() {
    // The commit passes, as it does without the package.
    const repo = real();
    repo.ok(['init', '--yes']);
    const old = join(repo.root, 'old-node');
    writeFileSync(old, '#!/bin/sh\necho "SyntaxError: Unexpected token" >&2\nexit 1\n', { mode: 0o755 });
    writeFileSync(join(repo.home, '.local', 'state', 'git-handoff', 'node'), `${old}\n`);
    repo.git(['commit', '-q', '--allow-empty', '-m', 'x'], { session: A });
    expect(repo.git(['log', '-1', '--format=%s'])).toBe('x');
  },
  async EH028() {
    const world = open();
    await world.init();
    rmSync(world.packageRoot, { recursive: true });
    const run = world.shell(`cd '${world.repository}' && git commit -q --allow-empty -m x`);
    expect(run.status).toBe(0);
    expect(run.output.split('\n').slice(0, -1)).toEqual([expect.stringMatching(/^git-handoff is not at /)]);
  },
  async EH031() {
    const world = open();
    world.write(hookOf(world, 'reference-transaction'), '#!/bin/sh\necho "rt $1" >>"$HOME/calls"\n', 0o755);
    await world.init();
    world.git(['commit', '-q', '--allow-empty', '--no-verify', '-m', 'x']);
    // How often git calls its own hook for transactions depends on its version.
    const calls = ran(world);
    expect(calls).toContain('rt committed');
    expect(calls.filter((line) => !line.startsWith('rt '))).toEqual(['shim prepare-commit-msg']);
  },
  EH034() {
    const repo = real();
    repo.ok(['init', '--yes']);
    expect(existsSync(join(repo.path, '.git', 'hooks', 'reference-transaction'))).toBe(false);
    const remote = join(repo.root, 'remote');
    repo.git(['clone', '-q', '--bare', repo.path, remote]);
    const oid = repo.git(['rev-parse', 'HEAD']);
    const refs = Array.from({ length: 10_000 }, (_, n) => `create refs/heads/many/${n} ${oid}\n`).join('');
    repo.git(['update-ref', '--stdin'], { cwd: remote, input: refs });
    // With a hook process for each transaction, so many refs would be slow. So no hook process may run, however fast.
    const trace = join(repo.root, 'trace');
    const env = { GIT_TRACE2_EVENT: trace };
    repo.git(['fetch', '-q', remote, 'refs/heads/many/*:refs/one/*'], { env });
    expect(readFileSync(trace, 'utf8')).not.toContain('"child_class":"hook"');
    expect(repo.git(['for-each-ref', '--format=x', 'refs/one']).split('\n')).toHaveLength(10_000);
    repo.git(['commit', '-q', '--allow-empty', '-m', 'x'], { env });
    expect(readFileSync(trace, 'utf8')).toContain('"child_class":"hook"');
  },
  EH035() {
    const repo = real();
    repo.ok(['init', '--yes']);
    for (const state of ['preparing', 'prepared', 'committed', 'aborted', 'nonsense', '']) {
      const input = `${ZERO} ${ZERO} refs/handoffs/main/a-b\n`;
      const run = repo.handoff(['hook', 'reference-transaction', state], { input });
      expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
    }
  },
  EH036() {
    const repo = real();
    repo.ok(['init', '--yes']);
    const input = `${ZERO} ref:refs/heads/main HEAD\nref:refs/heads/a ref:refs/heads/b refs/handoffs/main/a-b ${ZERO}\n`;
    for (const words of [
      ['reference-transaction', 'prepared'],
      ['pre-push', 'origin', 'nowhere'],
    ]) {
      const run = repo.handoff(['hook', ...words], { input, session: A });
      expect(run).toMatchObject({ status: 0, stdout: '' });
    }
    repo.git(['symbolic-ref', 'refs/x/link', 'refs/heads/main']);
    repo.git(['commit', '-q', '--allow-empty', '-m', 'x'], { session: A });
  },
  async EH037() {
    const world = open();
    const nested = ['#!/bin/sh', 'echo mine >>"$HOME/calls"', 'git update-ref refs/nested/$$ HEAD', ''];
    world.write(hookOf(world, 'commit-msg'), nested.join('\n'), 0o755);
    const once = ['#!/bin/sh', '[ -e "$HOME/once" ] && exit 0', ': >"$HOME/once"'];
    const inner = 'git commit -q --allow-empty -m inner';
    world.write(hookOf(world, 'post-commit'), [...once, inner, ''].join('\n'), 0o755);
    await world.init();
    world.commit('outer');
    expect(world.git(['log', '-2', '--format=%s'])).toBe('inner\nouter\n');
    // Without an editor, our part of commit-msg only calls the existing hook.
    expect(ran(world).filter((line) => line === 'mine')).toHaveLength(2);
    expect(world.git(['for-each-ref', 'refs/nested']).split('\n').slice(0, -1)).toHaveLength(2);
  },
  EH038() {
    const repo = real();
    repo.ok(['init', '--yes']);
    const env = { GIT_EDITOR: 'true' };
    const as = (...words: string[]) => repo.run('git', words, { session: A, env });
    const resolved = (...words: string[]) => {
      writeFileSync(join(repo.path, 'a.txt'), `${words.join(' ')}\n`);
      repo.git(['add', 'a.txt']);
      const run = as(...words);
      expect({ words, status: run.status, stderr: run.stderr }).toMatchObject({ status: 0 });
    };
    repo.git(['switch', '-qc', 'side']);
    repo.commit('side', { 'a.txt': 'side\n' });
    const patch = repo.git(['format-patch', '-1', '--stdout']);
    repo.git(['switch', '-q', 'main']);
    repo.commit('main', { 'a.txt': 'main\n' });
    expect(as('merge', 'side').status).toBe(1);
    resolved('commit', '--no-edit');
    repo.git(['reset', '-q', '--hard', 'HEAD~']);
    expect(as('cherry-pick', 'side').status).toBe(1);
    resolved('commit', '--no-edit');
    repo.git(['reset', '-q', '--hard', 'HEAD~']);
    expect(as('rebase', 'side').status).toBe(1);
    resolved('rebase', '--continue');
    repo.git(['reset', '-q', '--hard', 'ORIG_HEAD']);
    writeFileSync(join(repo.root, 'patch'), `${patch}\n`);
    expect(as('am', '-q', '-3', join(repo.root, 'patch')).status).not.toBe(0);
    resolved('am', '--continue');
  },
  EH040() {
    const names = ['with\nfeed', 'with\ttab', 'with"quote', '-n', "it's", 'a \u{e9}', 'b$(x)'];
    const world = sharing();
    world.begin(A);
    world.begin(B);
    for (const name of names) {
      const folder = `${name}/x`;
      mkdirSync(join(world.path, folder), { recursive: true });
      writeFileSync(join(world.path, folder, 'handoff-main-one.md'), marked(A));
      world.git(['add', '-A']);
      expect(world.refused(B, ['commit', '-qm', 'x'])).toContain(
        `names claude ${A.slice(0, 8)} as its owner`,
      );
      world.git(['reset', '-q', '--hard']);
      world.git(['clean', '-qfdx']);
    }
    // A shell makes the file, because Node cannot write a name that is not UTF-8.
    world.run('sh', [
      '-c',
      `d=$(printf 'z\\377'); mkdir "$d"; printf %s "$1" >"$d/handoff-main-one.md"`,
      'sh',
      marked(A),
    ]);
    world.git(['add', '-A']);
    expect(world.refused(B, ['commit', '-qm', 'x'])).toContain('as its owner');
  },
  EH041() {
    const world = sharing();
    world.begin(A);
    world.begin(B);
    const put = (name: string, owner: string) => writeFileSync(join(world.path, name), marked(owner));
    put('handoff-main-one.md', B);
    world.git(['add', '-A']);
    world.commits(B, ['-m', 'mine']);
    // The file's content names its owner, so the owner is still known after a rename, and in a copy.
    world.git(['mv', 'handoff-main-one.md', 'handoff-main-two.md']);
    world.commits(B, ['-m', 'renamed']);
    put('handoff-main-three.md', A);
    world.git(['add', '-A']);
    expect(world.refused(B, ['commit', '-qm', 'a copy'])).toContain('handoff-main-three.md');
    world.git(['rm', '-qf', 'handoff-main-three.md']);
    world.git(['mv', 'handoff-main-two.md', 'handoff-main-four.md']);
    put('handoff-main-four.md', A);
    world.git(['add', '-A']);
    expect(world.refused(B, ['commit', '-qm', 'renamed over'])).toContain('handoff-main-four.md');
  },
};

function sharing(): CommitWorld {
  const world = new CommitWorld();
  onTestFinished(() => world.remove());
  return world;
}

function marked(owner: string): string {
  return `<!-- claude-session: ${owner} -->\nnote\n`;
}

const cases = hostileCases<HookCase>('existing-hooks.json');

it('every situation is tried', () => {
  expect(cases.map(({ id }) => id)).toEqual(Object.keys(SITUATIONS));
});

it.each(cases)('$id $why: $expect', async ({ id }) => {
  if (id === 'EH020' && NO_STRACE !== undefined) return;
  await SITUATIONS[id]?.();
});
