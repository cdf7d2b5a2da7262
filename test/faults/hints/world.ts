import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SharingWorld, TEN } from '../../support/sharing-world.ts';

/** Makes a commit on top of `$1` without the working tree. In the commit, line `$3` of the file `$2` begins with `$4`. */
const ADVANCE = `GIT_INDEX_FILE=$(git rev-parse --absolute-git-dir)/advance && export GIT_INDEX_FILE && git read-tree "$1" &&
blob=$(git show "$1:$2" | sed "$3s/^/$4 /" | git hash-object -w --stdin) &&
git update-index --cacheinfo "100644,$blob,$2" &&
git commit-tree -p "$1" -m "$4" "$(git write-tree)" && rm -f "$GIT_INDEX_FILE"`;

const OPERATIONS = {
  'rebase-merge': 'rebase',
  'rebase-apply': 'rebase',
  CHERRY_PICK_HEAD: 'cherry-pick',
  REVERT_HEAD: 'revert',
  MERGE_HEAD: 'merge',
} as const;

/** The shells of this machine in which hints are typed. */
const SHELLS = ['dash', 'bash', 'zsh', 'busybox'].filter(
  (name) => spawnSync(name, name === 'busybox' ? ['true'] : ['-c', ':']).status === 0,
);
const knowsReftable = spawnSync('git', ['init', '-h'], { encoding: 'utf8' }).stdout.includes('ref-format');

/** How a history's repository stores refs and objects. */
export type Format = 'sha1' | 'sha256' | 'reftable';
export const FORMATS: readonly Format[] = ['sha1', 'sha1', 'sha256', knowsReftable ? 'reftable' : 'sha1'];

/** A repository with two linked worktrees, a remote, and sessions at work in all of them. */
export class HintsWorld extends SharingWorld {
  readonly tops: readonly string[];
  readonly shells: readonly string[];
  readonly #gitDirs = new Map<string, string>();

  constructor(sessions: readonly string[], format: Format) {
    super({
      // Typed hints and git's hooks still run as processes.
      calls: 'thread',
      ready: sessions,
      files: { 'lib/x.ts': TEN, 'package-lock.json': '{\n}\n', '.gitignore': 'dist/\n' },
      ...(format === 'sha256' ? { objectFormat: format } : {}),
      ...(format === 'reftable' ? { refFormat: format } : {}),
    });
    const origin = join(this.root, 'origin.git');
    this.git(['clone', '-q', '--bare', '--', this.path, origin]);
    this.git(['remote', 'add', 'origin', origin]);
    this.advance('feature', 'src/a.ts', 3, 'feature');
    this.tops = [this.path, this.worktree('side'), this.worktree('third')];
    for (const top of this.tops.slice(1)) for (const session of sessions) this.begin(session, top);
    writeFileSync(
      join(this.home, 'format'),
      'for f in src/*.ts lib/*.ts shared.md; do sed -i "s/\\$/ /" "$f"; done\n',
    );
    writeFileSync(join(this.home, 'install'), 'echo "$1" >>package-lock.json\n');
    this.shells = SHELLS.map((name) => (name === 'busybox' ? this.#busybox() : name));
  }

  /** Gives the reflog its real times, which decide what a session can know. */
  override env(extra: Readonly<Record<string, string | undefined>> = {}): Record<string, string> {
    return super.env({ GIT_COMMITTER_DATE: undefined, ...extra });
  }

  /** A program that runs `busybox sh`. */
  #busybox(): string {
    const folder = join(this.root, 'bin');
    mkdirSync(folder);
    const file = join(folder, 'busybox-sh');
    writeFileSync(file, '#!/bin/sh\nexec busybox sh "$@"\n', { mode: 0o755 });
    return file;
  }

  /** Adds a commit on top of a revision to a branch; does nothing if there is no such revision. */
  advance(branch: string, path: string, line: number, mark: string, from = 'HEAD', cwd = this.path): void {
    const oid = this.run('bash', ['-c', ADVANCE, '-', from, path, String(line), mark], { cwd }).stdout.trim();
    if (oid === '') return;
    if (branch.startsWith('origin/')) {
      const ref = `refs/heads/${branch.slice('origin/'.length)}`;
      this.git(['push', '-q', '-f', '--no-verify', 'origin', `${oid}:${ref}`], { cwd });
    } else {
      this.git(['update-ref', `refs/heads/${branch}`, oid], { cwd });
    }
  }

  /** The operation in which git has stopped in a worktree. */
  operation(cwd: string): string | undefined {
    const gitDir = this.#gitDirs.get(cwd) ?? this.git(['rev-parse', '--absolute-git-dir'], { cwd });
    this.#gitDirs.set(cwd, gitDir);
    return Object.entries(OPERATIONS).find(([file]) => existsSync(join(gitDir, file)))?.[1];
  }

  /** The branch that is checked out; empty when HEAD is detached. */
  branch(cwd: string): string {
    return this.run('git', ['symbolic-ref', '-q', 'HEAD'], { cwd }).stdout.trim();
  }

  /** A session's commits on the first-parent line from one position of HEAD to another, each with its first parent. */
  commits(session: string, from: string, to: string, cwd: string): [parent: string, oid: string][] {
    const format = '--format=%H %(trailers:key=Claude-Session-Id,valueonly,separator=%x20) %P';
    const log = this.git(['log', '--first-parent', format, `${from}..${to}`, '--'], { cwd });
    return log.split('\n').flatMap((line): [string, string][] => {
      const [oid, named, parent] = line.split(' ');
      if (named !== session || oid === undefined || parent === undefined) return [];
      // A root commit counts as following the empty tree.
      return [[parent === '' ? this.git(['hash-object', '-t', 'tree', '/dev/null'], { cwd }) : parent, oid]];
    });
  }

  /**
   * The sessions that changed each path in the commits that `to` has and `from` lacks.
   *
   * @param finished who made each commit whose message names no session
   */
  makers(
    from: string,
    to: string,
    cwd: string,
    finished: ReadonlyMap<string, string>,
  ): ReadonlyMap<string, ReadonlySet<string>> {
    const format = '--format=%x01%H %(trailers:key=Claude-Session-Id,valueonly,separator=%x20)';
    const options = ['--first-parent', '--diff-merges=first-parent', '--name-only', '--no-renames', format];
    const log = this.git(['log', ...options, `${from}..${to}`, '--'], { cwd });
    const makers = new Map<string, Set<string>>();
    for (const commit of log.split('\x01').slice(1)) {
      const [named = '', ...paths] = commit.split('\n').filter((line, n) => n === 0 || line !== '');
      const [oid = '', ...ids] = named.split(' ').filter(Boolean);
      const sessions = ids.length > 0 ? ids : [finished.get(oid) ?? []].flat();
      for (const path of paths) makers.set(path, new Set([...(makers.get(path) ?? []), ...sessions]));
    }
    return makers;
  }
}
