import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestRepository } from './repository.ts';

/** A committed file, and a content of the file that gets lost. */
interface Doomed {
  readonly path: string;
  readonly lost: string;
  /** Another content of the file, which conflicts with the lost one. */
  readonly other: string;
}

function put(world: TestRepository, path: string, content: string): void {
  const file = join(world.path, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** Stages a content of the file. */
function stage(world: TestRepository, path: string, content: string): void {
  put(world, path, content);
  world.git(['--literal-pathspecs', 'add', '--', path]);
}

function commit(world: TestRepository, path: string, content: string): void {
  stage(world, path, content);
  world.git(['commit', '-qm', 'the lost change']);
}

/** Makes two branches that conflict, merges one, and stages the lost content as the resolution. */
function conflict(world: TestRepository, { path, other, lost }: Doomed): void {
  const branch = world.git(['symbolic-ref', '--short', 'HEAD']);
  world.git(['switch', '-qc', `side-${Date.now()}-${Math.random()}`]);
  commit(world, path, `${other}of the side\n`);
  world.git(['switch', '-q', branch]);
  commit(world, path, `${other}of this branch\n`);
  world.run('git', ['merge', '-q', '@{-1}']);
  stage(world, path, lost);
}

/** Ways to lose a file's content with plain git, by name. Afterwards, no ref, index or file has that content. */
export const LOSSES: Readonly<Record<string, (world: TestRepository, doomed: Doomed) => void>> = {
  'git add, then reset --hard': (world, { path, lost }) => {
    stage(world, path, lost);
    world.git(['reset', '-q', '--hard']);
  },
  'added, edited and added again': (world, { path, lost, other }) => {
    stage(world, path, lost);
    stage(world, path, other);
  },
  'stash drop': (world, { path, lost }) => {
    put(world, path, lost);
    world.git(['stash', '-q']);
    world.git(['stash', 'drop', '-q']);
  },
  'stash clear, of an untracked file': (world, { path, lost }) => {
    world.git(['rm', '-q', '--', path]);
    world.git(['commit', '-qm', 'without it']);
    put(world, path, lost);
    world.git(['stash', '-q', '--include-untracked']);
    world.git(['stash', 'clear']);
  },
  'what only the index of a dropped stash had': (world, { path, lost, other }) => {
    stage(world, path, lost);
    put(world, path, other);
    world.git(['stash', '-q']);
    world.git(['stash', 'drop', '-q']);
  },
  'stash pop with a conflict, resolved, then reset --hard': (world, { path, lost, other }) => {
    put(world, path, `${other}of the stash\n`);
    world.git(['stash', '-q']);
    commit(world, path, `${other}meanwhile\n`);
    world.run('git', ['stash', 'pop', '-q']);
    stage(world, path, lost);
    world.git(['reset', '-q', '--hard']);
  },
  'commit, then reset --hard': (world, { path, lost }) => {
    commit(world, path, lost);
    world.git(['reset', '-q', '--hard', 'HEAD~']);
  },
  'commit --amend': (world, { path, lost, other }) => {
    commit(world, path, lost);
    stage(world, path, other);
    world.git(['commit', '-q', '--amend', '-m', 'amended']);
  },
  'a rebase that drops the commit': (world, { path, lost }) => {
    commit(world, path, lost);
    world.git(['commit', '-q', '--allow-empty', '-m', 'kept']);
    world.git(['rebase', '-q', '--onto', 'HEAD~2', 'HEAD~', '--keep-empty']);
  },
  'branch -D': (world, { path, lost }) => {
    world.git(['switch', '-qc', 'doomed']);
    commit(world, path, lost);
    world.git(['switch', '-q', '-']);
    world.git(['branch', '-qD', 'doomed']);
  },
  'git add, then checkout HEAD': (world, { path, lost }) => {
    stage(world, path, lost);
    world.git(['checkout', '-q', 'HEAD', '--', path]);
  },
  'merge --abort after the resolution was staged': (world, doomed) => {
    conflict(world, doomed);
    world.git(['merge', '--abort']);
  },
  'worktree remove --force, with a commit on a detached HEAD': (world, { path, lost }) => {
    const cwd = join(world.root, 'doomed');
    world.git(['worktree', 'add', '-q', '--detach', cwd]);
    writeFileSync(join(cwd, path), lost);
    world.git(['commit', '-qam', 'the lost change'], { cwd });
    world.git(['worktree', 'remove', '--force', cwd]);
  },
  'git rm --cached, then clean': (world, { path, lost }) => {
    stage(world, path, lost);
    world.git(['rm', '-q', '--cached', '--', path]);
    world.git(['clean', '-qf', '--', path]);
    world.git(['reset', '-q', '--hard']);
  },
  'a commit that a hook refused, then reset --hard': (world, { path, lost }) => {
    stage(world, path, lost);
    const hook = join(world.path, '.git', 'hooks', 'pre-commit');
    writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    world.run('git', ['commit', '-qm', 'refused']);
    rmSync(hook);
    world.git(['reset', '-q', '--hard']);
  },
};
