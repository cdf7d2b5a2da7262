import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestRepository } from '../support/repository.ts';
import { A } from '../support/sharing-world.ts';

/**
 * A user's own git commands after `init`, beside handoffs, kept texts and tracking refs: the same output, exit code and
 * refs as in a repository that never saw git-handoff.
 */

/** One repository with a server and somebody else who pushes there; `ours` says whether git-handoff is at work in it. */
class Twin {
  readonly repo = new TestRepository();
  readonly server: string;
  readonly other: string;
  readonly ours: boolean;

  constructor(ours: boolean) {
    this.ours = ours;
    const { repo } = this;
    this.server = join(repo.root, 'server.git');
    this.other = join(repo.root, 'other');
    repo.git(['clone', '-q', '--bare', repo.path, this.server]);
    repo.git(['remote', 'add', 'origin', this.server]);
    repo.git(['fetch', '-q', 'origin']);
    repo.git(['branch', '-q', '--set-upstream-to=origin/main']);
    repo.git(['clone', '-q', this.server, this.other]);
    if (ours) this.#handOver();
    repo.git(['tag', 'v1']);
    repo.git(['branch', 'side']);
  }

  #handOver(): void {
    const { repo } = this;
    repo.ok(['init', '--yes']);
    const tip = repo.noted(['write', 'auth-refresh', '-m', 'a note'], { session: A });
    expect(repo.handoff(['write', 'auth-refresh', '-m', 'lost'], { session: 'bbbbbbbb-1' }).status).toBe(3);
    repo.ok(['write', 'other-topic', '-m', 'never pushed'], { session: A });
    repo.git(['push', '-q', 'origin', 'refs/handoffs/main/auth-refresh']);
    repo.git(['update-ref', 'refs/handoffs-remote/origin/main/auth-refresh', tip]);
    // Somebody else's, which was only fetched.
    repo.git(['update-ref', 'refs/handoffs-remote/origin/main/only-there', tip]);
  }

  /** Somebody else's work reaches the server, and a branch of theirs comes and goes. */
  othersPush(name: string, gone?: string): void {
    this.repo.git(['pull', '-q', '--rebase', 'origin', 'main'], { cwd: this.other });
    writeFileSync(join(this.other, `${name}.txt`), name);
    this.repo.git(['add', '-A'], { cwd: this.other });
    this.repo.git(['commit', '-q', '-m', name], { cwd: this.other });
    this.repo.git(['push', '-q', 'origin', 'HEAD:main', `HEAD:refs/heads/${name}`], { cwd: this.other });
    if (gone !== undefined) this.repo.git(['push', '-q', 'origin', `:${gone}`], { cwd: this.other });
  }

  /** Runs the user's git; what it said, with places and the refs of both sides made comparable. */
  run(args: readonly string[], cwd = this.repo.path) {
    const { status, stdout, stderr } = this.repo.run('git', args, { cwd });
    const plain = (text: string) => text.replaceAll(this.repo.root, '<root>');
    return {
      status,
      stdout: plain(stdout),
      stderr: plain(stderr),
      refs: this.refs(this.repo.path),
      server: this.refs(this.server),
    };
  }

  refs(cwd: string): string[] {
    const format = '--format=%(objectname) %(refname) %(upstream)';
    const lines = this.repo.git(['for-each-ref', format], { cwd }).split('\n');
    return lines.filter((line) => !line.includes(' refs/handoffs'));
  }

  ownRefs(): string {
    return this.repo
      .git(['for-each-ref', '--format=%(objectname) %(refname)'])
      .split('\n')
      .filter((line) => line.includes(' refs/handoffs') && !line.includes('/live/'))
      .join('\n');
  }
}

let [plain, ours]: [Twin, Twin] = [] as unknown as [Twin, Twin];
let handoffs: string;
beforeAll(() => {
  [plain, ours] = [new Twin(false), new Twin(true)];
  handoffs = ours.ownRefs();
});
afterAll(() => {
  for (const { repo } of [plain, ours]) repo.remove();
});

/** Both do it; all that can be seen of it is the same, and no handoff has moved. */
function same(act: (twin: Twin) => ReturnType<Twin['run']>, status = 0): ReturnType<Twin['run']> {
  const [without, beside] = [act(plain), act(ours)];
  expect(beside).toEqual(without);
  expect(beside.status).toBe(status);
  expect(ours.ownRefs()).toBe(handoffs);
  return beside;
}

const work = (twin: Twin, name: string) => {
  twin.repo.commit(name, { [`${name}.txt`]: name });
};

describe("a user's own git beside git-handoff", () => {
  it('fetches', () => {
    for (const twin of [plain, ours]) twin.othersPush('one');
    expect(same((twin) => twin.run(['fetch', 'origin'])).stderr).toContain('origin/main');
    for (const twin of [plain, ours]) twin.othersPush('two', 'one');
    expect(same((twin) => twin.run(['fetch', '--prune', 'origin'])).stderr).toContain('[deleted]');
    for (const twin of [plain, ours]) twin.othersPush('three', 'two');
    same((twin) => twin.run(['fetch', '--all', '--prune', '--tags']));
    same((twin) => twin.run(['pull', '--rebase']));
  });

  it('pushes', () => {
    for (const twin of [plain, ours]) work(twin, 'four');
    expect(same((twin) => twin.run(['push', '--porcelain'])).stdout).toContain('refs/heads/main');
    for (const twin of [plain, ours]) work(twin, 'five');
    same((twin) => twin.run(['push', '--all', 'origin']));
    expect(same((twin) => twin.run(['push', '--tags', 'origin'])).stderr).toContain('v1');
    same((twin) => twin.run(['push', 'origin', '--delete', 'side']));
    same((twin) => twin.run(['push', '--force-with-lease', '--follow-tags', 'origin', 'main']));
  });

  it('clones without any handoff', () => {
    let n = 0;
    for (const args of [[], ['--bare'], ['--depth=1', '--no-local'], ['--single-branch']]) {
      const name = `clone-${(n += 1)}`;
      same((twin) => {
        const done = twin.run(['clone', ...args, twin.server, join(twin.repo.root, name)]);
        const all = twin.repo.git(['for-each-ref', '--format=%(refname)'], {
          cwd: join(twin.repo.root, name),
        });
        return { ...done, refs: all.split('\n') };
      });
    }
  });

  it('collects its garbage and shows its history', () => {
    same((twin) => twin.run(['gc', '--quiet', '--prune=now']));
    same((twin) => twin.run(['fsck', '--no-dangling']));
    same((twin) => twin.run(['log', '--oneline']));
    same((twin) => twin.run(['log', '--branches', '--tags', '--remotes', '--oneline', '--decorate']));
    same((twin) => twin.run(['branch', '--all', '-vv']));
    same((twin) => twin.run(['status', '--branch', '--porcelain=v2']));
    same((twin) => twin.run(['describe', '--all', 'HEAD']));
  });

  it('shows handoffs in log --all, and leaves them out when told so', () => {
    same((twin) => twin.run(['log', '--exclude=refs/handoffs*', '--all', '--oneline']));
    const all = ours.run(['log', '--all', '--format=%s']).stdout.split('\n');
    expect(all).toEqual(expect.arrayContaining(['a note', 'never pushed']));
    expect(all.filter((line) => line === 'a note')).toHaveLength(1);
    // Bookkeeping that is no history (a lost text, a session's record) does not show.
    expect(all).not.toContain('lost');
  });

  it('prunes, renames and removes remotes', () => {
    for (const twin of [plain, ours]) twin.othersPush('six', 'three');
    expect(same((twin) => twin.run(['remote', 'prune', 'origin'])).stdout).toContain('[pruned]');
    same((twin) => twin.run(['remote', 'show', '-n', 'origin']));
    same((twin) => twin.run(['remote', 'rename', 'origin', 'upstream']));
    same((twin) => twin.run(['remote', 'remove', 'upstream']));
  });

  it('stashes, rebases and works in worktrees', () => {
    const dirty = (twin: Twin) => {
      writeFileSync(join(twin.repo.path, 'a.txt'), 'dirty\n');
    };
    for (const twin of [plain, ours]) dirty(twin);
    same((twin) => twin.run(['stash', 'push']));
    same((twin) => twin.run(['stash', 'pop']));
    same((twin) => twin.run(['checkout', '-q', '--', '.']));
    same((twin) => twin.run(['worktree', 'add', join(twin.repo.root, 'tree'), 'side']));
    same((twin) => twin.run(['worktree', 'remove', join(twin.repo.root, 'tree')]));
    same((twin) => twin.run(['rebase', '--force-rebase', 'HEAD~1']));
  });

  it('is kept from mirroring, which would push everything, and says so', () => {
    const mirror = join(ours.repo.root, 'mirror.git');
    mkdirSync(mirror);
    ours.repo.git(['init', '-q', '--bare', mirror]);
    const refused = ours.repo.run('git', ['push', '--mirror', mirror]);
    expect(refused.status).not.toBe(0);
    expect(refused.stderr).toContain('is the bookkeeping of this machine and is never pushed');
    expect(refused.stderr).toMatch(/hint: git -C \S+ push \S+ HEAD/);
    expect(ours.refs(mirror)).toEqual(['']);
    expect(ours.ownRefs()).toBe(handoffs);
  });
});
