import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type HookAnswer, readAnswer } from '../support/hook-answer.ts';
import { A, B, SharingWorld, refusal } from '../support/sharing-world.ts';

describe('a working tree or a branch under a live session', () => {
  it.each([
    ['git worktree remove --force $wt'],
    ['git worktree remove -f -f $wt'],
    ['git worktree remove --force $(basename $wt)'],
    ['git worktree move $wt $wt-moved'],
    ['rm -rf $wt'],
    ['rm -r -f -- $wt/'],
    ['mv $wt $wt-moved'],
    ['find $wt -delete'],
  ])('%s is refused, and names who is there', (typed) => {
    const world = new SharingWorld();
    const path = world.worktree('a');
    world.begin(A, path);
    world.begin(B);
    writeFileSync(join(path, 'wip.txt'), 'WIP\n');
    const command = typed
      .replaceAll('$(basename $wt)', path.slice(path.lastIndexOf('/') + 1))
      .replaceAll('$wt', path);
    const text = refusal(world.bash(B, command).before);
    expect(text).toContain('aaaaaaaa');
    expect(text).toContain('git handoff sessions');
  });

  it.each([['git worktree remove --force'], ['rm -rf']])(
    'is removed by %s once that session has ended, and uncommitted work there is kept',
    (verb) => {
      const world = new SharingWorld();
      const path = world.worktree('a');
      world.begin(A, path);
      world.begin(B);
      writeFileSync(join(path, 'wip.txt'), 'WIP\n');
      world.end(A, path);
      const { before, run } = world.bash(B, `${verb} ${path}`);
      expect(before.kind).toBe('silent');
      expect(run?.status, run?.stderr).toBe(0);
      expect(existsSync(path)).toBe(false);
      expect(world.handoff(['rescue', 'restore', '--', 'wip.txt']).status).toBe(0);
      expect(world.read('wip.txt')).toBe('WIP\n');
    },
  );

  it('is not removed when Claude Code leaves a worktree, until the other session there has ended', () => {
    const world = new SharingWorld();
    const path = join(world.path, '.claude/worktrees/wt');
    world.git(['worktree', 'add', '-q', '-b', 'wt', path]);
    mkdirSync(join(path, 'sub'));
    world.begin(A, path);
    world.begin(B, path);
    world.write(A, 'wip.txt', 'WIP\n', path);
    const leave = (action: string): HookAnswer => {
      const tool = { tool_name: 'ExitWorktree', tool_input: { action, discard_changes: true } };
      const call = { session_id: B, hook_event_name: 'PreToolUse', cwd: join(path, 'sub'), ...tool };
      return readAnswer(world.guard(call, { cwd: path }), 'PreToolUse');
    };
    expect(leave('keep').kind).toBe('silent');
    expect(refusal(leave('remove'))).toContain('aaaaaaaa');
    world.end(A, path);
    expect(leave('remove').kind).toBe('silent');
    rmSync(path, { recursive: true });
    world.git(['worktree', 'prune']);
    expect(world.handoff(['rescue', 'restore', '--', 'wip.txt']).status).toBe(0);
    expect(world.read('wip.txt')).toBe('WIP\n');
  });

  it('does not include the session’s own, or folders that are no worktrees: those it may remove', () => {
    const world = new SharingWorld({ ready: [B] });
    const done = world.bash(B, 'git worktree add -q ../mine && rm -rf ../mine && git worktree prune');
    expect(done.run?.status, done.run?.stderr).toBe(0);
    expect(world.may(B, `rm -rf ${world.path}/build`).kind).toBe('silent');
  });

  it.each([
    ['git branch -D topic', 'would remove commit'],
    ['git branch -d -f topic', 'would remove commit'],
    ['git update-ref -d refs/heads/topic', 'would remove commit'],
    ['git branch -f topic main', 'would remove commit'],
    ['git update-ref refs/heads/topic main', 'would remove commit'],
  ])('%s: commits of a live session that nothing else holds', (command, expected) => {
    const world = new SharingWorld();
    const path = world.worktree('topic');
    const branch = world.git(['symbolic-ref', '--short', 'HEAD'], { cwd: path }).trim();
    world.begin(A, path);
    world.begin(B);
    world.write(A, 'src/a.ts', 'done\n', path);
    expect(world.bash(A, 'git commit -qam done', { cwd: path }).run?.status).toBe(0);
    world.git(['checkout', '-q', '--detach', 'main'], { cwd: path });
    const text = refusal(world.bash(B, command.replaceAll('topic', branch)).before);
    expect(text).toContain(expected);
    expect(text).toContain('aaaaaaaa');
  });

  it('is not deleted if it is a live session’s branch, whatever command tries', () => {
    const world = new SharingWorld();
    const path = world.worktree('a');
    const branch = world.git(['symbolic-ref', '--short', 'HEAD'], { cwd: path }).trim();
    world.begin(A, path);
    world.begin(B);
    expect(refusal(world.may(B, `git update-ref -d refs/heads/${branch}`))).toContain(
      'would delete the branch',
    );
  });

  it('is deleted if it is a branch whose commits are merged or the session’s own', () => {
    const world = new SharingWorld({ ready: [A, B] });
    world.git(['branch', 'merged']);
    expect(world.bash(B, 'git branch -D merged').run?.status).toBe(0);
    world.bash(B, 'git branch mine');
    world.bash(B, 'git worktree add -q ../m mine');
    expect(world.bash(B, 'git -C ../m commit -q --allow-empty -m x').run?.status).toBe(0);
    expect(world.bash(B, 'git worktree remove ../m && git branch -D mine').run?.status).toBe(0);
  });
});

describe('git reset over commits of a live session', () => {
  it('is refused in every mode, with a command for the session’s own commits', () => {
    const world = new SharingWorld({ ready: [A, B] });
    world.write(A, 'src/a.ts', 'A\n');
    world.bash(A, 'git commit -qm a -- src/a.ts');
    for (const mode of ['', '--soft', '--hard', '--mixed', '--keep']) {
      const text = refusal(world.bash(B, `git reset ${mode} HEAD~1`).before);
      expect(text).toContain('aaaaaaaa');
    }
    world.write(B, 'src/b.ts', 'B\n');
    world.bash(B, 'git commit -qm b -- src/b.ts');
    const command = /git reset (?:--soft )?[0-9a-f]{12}/.exec(
      refusal(world.may(B, 'git reset --soft HEAD~2')),
    )?.[0];
    expect(world.bash(B, command ?? '').run?.status).toBe(0);
    expect(world.git(['log', '-1', '--format=%s']).trim()).toBe('a');
    expect(world.status()).toEqual(['M  src/b.ts']);
  });

  it('is allowed over its own commits, and for paths, which moves nothing', () => {
    const world = new SharingWorld({ ready: [A, B] });
    world.write(B, 'src/b.ts', 'B\n');
    world.bash(B, 'git commit -qm b -- src/b.ts');
    expect(world.bash(B, 'git reset -q --soft HEAD~1').run?.status).toBe(0);
    expect(world.bash(B, 'git reset -q src/b.ts').run?.status).toBe(0);
    expect(world.bash(B, 'git reset -q HEAD -- src/b.ts').run?.status).toBe(0);
  });
});
