import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestRepository } from '../support/repository.ts';
import { A } from '../support/sharing-world.ts';

/**
 * A user's own git commands after `init`, beside handoffs, kept texts and tracking refs: the same output, exit code and
 * refs as in a repository that never saw git-handoff.
 */

/** A repository with a server, to which somebody else pushes, too. `ours` says whether git-handoff is set up in it. */
class ComparedRepository {
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
    // Somebody else's handoff, which was only fetched.
    repo.git(['update-ref', 'refs/handoffs-remote/origin/main/only-there', tip]);
  }

  /** Somebody else pushes work to the server, and creates or deletes a branch. */
  othersPush(name: string, gone?: string): void {
    this.repo.git(['pull', '-q', '--rebase', 'origin', 'main'], { cwd: this.other });
    writeFileSync(join(this.other, `${name}.txt`), name);
    this.repo.git(['add', '-A'], { cwd: this.other });
    this.repo.git(['commit', '-q', '-m', name], { cwd: this.other });
    this.repo.git(['push', '-q', 'origin', 'HEAD:main', `HEAD:refs/heads/${name}`], { cwd: this.other });
    if (gone !== undefined) this.repo.git(['push', '-q', 'origin', `:${gone}`], { cwd: this.other });
  }

  /** Runs the user's git; returns its output and the refs here and on the server, with paths made comparable. */
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

let [plain, ours]: [ComparedRepository, ComparedRepository] = [] as unknown as [
  ComparedRepository,
  ComparedRepository,
];
let handoffs: string;
beforeAll(() => {
  [plain, ours] = [new ComparedRepository(false), new ComparedRepository(true)];
  handoffs = ours.ownRefs();
});
afterAll(() => {
  for (const { repo } of [plain, ours]) repo.remove();
});

/** Acts in both repositories; expects the same visible result, and that no handoff has moved. */
function same(
  act: (compared: ComparedRepository) => ReturnType<ComparedRepository['run']>,
  status = 0,
): ReturnType<ComparedRepository['run']> {
  const [without, beside] = [act(plain), act(ours)];
  expect(beside).toEqual(without);
  expect(beside.status).toBe(status);
  expect(ours.ownRefs()).toBe(handoffs);
  return beside;
}

const work = (compared: ComparedRepository, name: string) => {
  compared.repo.commit(name, { [`${name}.txt`]: name });
};

describe("a user's own git beside git-handoff", () => {
  it('fetches', () => {
    for (const compared of [plain, ours]) compared.othersPush('one');
    expect(same((compared) => compared.run(['fetch', 'origin'])).stderr).toContain('origin/main');
    for (const compared of [plain, ours]) compared.othersPush('two', 'one');
    expect(same((compared) => compared.run(['fetch', '--prune', 'origin'])).stderr).toContain('[deleted]');
    for (const compared of [plain, ours]) compared.othersPush('three', 'two');
    same((compared) => compared.run(['fetch', '--all', '--prune', '--tags']));
    same((compared) => compared.run(['pull', '--rebase']));
  });

  it('pushes', () => {
    for (const compared of [plain, ours]) work(compared, 'four');
    expect(same((compared) => compared.run(['push', '--porcelain'])).stdout).toContain('refs/heads/main');
    for (const compared of [plain, ours]) work(compared, 'five');
    same((compared) => compared.run(['push', '--all', 'origin']));
    expect(same((compared) => compared.run(['push', '--tags', 'origin'])).stderr).toContain('v1');
    same((compared) => compared.run(['push', 'origin', '--delete', 'side']));
    same((compared) => compared.run(['push', '--force-with-lease', '--follow-tags', 'origin', 'main']));
  });

  it('clones without any handoff', () => {
    let n = 0;
    for (const args of [[], ['--bare'], ['--depth=1', '--no-local'], ['--single-branch']]) {
      const name = `clone-${(n += 1)}`;
      same((compared) => {
        const done = compared.run(['clone', ...args, compared.server, join(compared.repo.root, name)]);
        const all = compared.repo.git(['for-each-ref', '--format=%(refname)'], {
          cwd: join(compared.repo.root, name),
        });
        return { ...done, refs: all.split('\n') };
      });
    }
  });

  it('collects its garbage and shows its history', () => {
    same((compared) => compared.run(['gc', '--quiet', '--prune=now']));
    same((compared) => compared.run(['fsck', '--no-dangling']));
    same((compared) => compared.run(['log', '--oneline']));
    same((compared) => compared.run(['log', '--branches', '--tags', '--remotes', '--oneline', '--decorate']));
    same((compared) => compared.run(['branch', '--all', '-vv']));
    same((compared) => compared.run(['status', '--branch', '--porcelain=v2']));
    same((compared) => compared.run(['describe', '--all', 'HEAD']));
  });

  it('shows handoffs in log --all, and omits them when told to', () => {
    same((compared) => compared.run(['log', '--exclude=refs/handoffs*', '--all', '--oneline']));
    const all = ours.run(['log', '--all', '--format=%s']).stdout.split('\n');
    expect(all).toEqual(expect.arrayContaining(['a note', 'never pushed']));
    expect(all.filter((line) => line === 'a note')).toHaveLength(1);
    // Bookkeeping that is not history (a lost text, a session's record) does not appear.
    expect(all).not.toContain('lost');
  });

  it('prunes, renames and removes remotes', () => {
    for (const compared of [plain, ours]) compared.othersPush('six', 'three');
    expect(same((compared) => compared.run(['remote', 'prune', 'origin'])).stdout).toContain('[pruned]');
    same((compared) => compared.run(['remote', 'show', '-n', 'origin']));
    same((compared) => compared.run(['remote', 'rename', 'origin', 'upstream']));
    same((compared) => compared.run(['remote', 'remove', 'upstream']));
  });

  it('stashes, rebases and works in worktrees', () => {
    const dirty = (compared: ComparedRepository) => {
      writeFileSync(join(compared.repo.path, 'a.txt'), 'dirty\n');
    };
    for (const compared of [plain, ours]) dirty(compared);
    same((compared) => compared.run(['stash', 'push']));
    same((compared) => compared.run(['stash', 'pop']));
    same((compared) => compared.run(['checkout', '-q', '--', '.']));
    same((compared) => compared.run(['worktree', 'add', join(compared.repo.root, 'tree'), 'side']));
    same((compared) => compared.run(['worktree', 'remove', join(compared.repo.root, 'tree')]));
    same((compared) => compared.run(['rebase', '--force-rebase', 'HEAD~1']));
  });

  it('may not mirror, which would push everything, and hears why', () => {
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
