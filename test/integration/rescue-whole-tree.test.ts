import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { A, B, SharingWorld, TEN, refusal, contextText } from '../support/sharing-world.ts';

let world: SharingWorld;

/** The items of `git handoff rescue list --json`. */
function rescues(
  ...words: string[]
): { number: number; kind: string; reason: string; files: { path: string; owner: string | null }[] }[] {
  const { stdout } = world.handoff(['rescue', 'list', '--json', ...words]);
  return (JSON.parse(stdout) as { items: ReturnType<typeof rescues> }).items;
}

const paths = (item: { files: { path: string }[] } | undefined) => item?.files.map(({ path }) => path);

describe('whole-tree verbs and the uncommitted work of others', () => {
  it('are refused beside it, with the paths, the owner and a command that works', () => {
    world = new SharingWorld({ ready: [A, B] });
    world.write(A, 'src/a.ts', 'WIP\n');
    world.write(A, 'src/new.ts', 'WIP\n');
    world.write(B, 'src/b.ts', 'mine\n');
    for (const command of ['git reset --hard', 'git checkout -- .', 'git restore .', 'git switch -f main']) {
      const text = refusal(world.bash(B, command).before);
      expect(text).toContain('src/a.ts');
      expect(text).toContain('aaaaaaaa');
      expect(text).not.toContain('src/b.ts,');
    }
    const clean = refusal(world.bash(B, 'git clean -fd').before);
    expect(clean).toContain('src/new.ts');
    const safe = /Undo only your own changes: (git restore .*)$/.exec(
      refusal(world.may(B, 'git reset --hard')),
    )?.[1];
    expect(world.bash(B, safe ?? '').run?.status).toBe(0);
    expect([world.read('src/a.ts'), world.read('src/b.ts'), world.read('src/new.ts')]).toEqual([
      'WIP\n',
      TEN,
      'WIP\n',
    ]);
  });

  it('of a person can be undone from what the last tool call saw', () => {
    world = new SharingWorld({ ready: [A, B] });
    world.write(A, 'src/a.ts', 'WIP a\n');
    world.write(A, 'src/new.ts', 'WIP new\n');
    world.ok(['status']); // Only looks, and changes nothing.
    world.git(['reset', '-q', '--hard']);
    world.git(['clean', '-q', '-fd']);
    const shown = world.handoff(['rescue', 'show', 'aaaa']);
    expect(shown.stdout).toContain('WIP a\n');
    expect(shown.stdout).toContain('WIP new\n');
    expect(world.handoff(['rescue', 'restore', 'aaaa', '--', 'src/new.ts']).status).toBe(0);
    expect(world.read('src/new.ts')).toBe('WIP new\n');
    expect(world.read('src/a.ts')).toBe(TEN);
    // The rescue is kept, and not made again, when others look and git collects garbage.
    world.git(['reflog', 'expire', '--expire=now', '--all']);
    world.git(['gc', '-q', '--prune=now']);
    world.bash(B, 'touch x');
    expect(rescues().map(paths)).toEqual([['src/a.ts', 'src/new.ts']]);
    expect(rescues()[0]?.kind).toBe('seen');
  });

  it('are noticed by any session’s next tool call', () => {
    world = new SharingWorld({ ready: [A, B] });
    world.write(A, 'src/a.ts', 'WIP a\n');
    world.git(['checkout', '-q', '--', 'src/a.ts']);
    world.bash(B, 'echo x > other.txt');
    world.write(A, 'src/a.ts', 'WIP again\n');
    expect(world.handoff(['rescue', 'show', '--raw', '--', 'src/a.ts']).stdout).toBe('WIP a\n');
  });

  it('with only own work are allowed, and it is saved first', () => {
    world = new SharingWorld({ ready: [A, B] });
    world.write(B, 'src/b.ts', 'mine\n');
    world.write(B, 'bin/tool', '#!/bin/sh\n');
    world.git(['add', 'src/b.ts']);
    writeFileSync(join(world.path, 'src/b.ts'), 'mine, later\n');
    expect(world.bash(B, 'git reset --hard && git clean -fd').run?.status).toBe(0);
    expect(world.read('src/b.ts')).toBe(TEN);
    const [saved] = rescues();
    expect(saved).toMatchObject({ kind: 'before', reason: 'git reset --hard' });
    expect(paths(saved)).toEqual(['bin/tool', 'src/b.ts']);
    expect(world.handoff(['rescue', 'restore', String(saved?.number)]).status).toBe(0);
    expect([world.read('src/b.ts'), world.read('bin/tool')]).toEqual(['mine, later\n', '#!/bin/sh\n']);
  });

  it.each([
    ['git checkout .'],
    ['git checkout -f'],
    ['git restore .'],
    ['git restore -SW :/'],
    ['git reset --hard'],
    ['git reset --merge'],
    ['git stash'],
    ['git stash -u'],
    ['git read-tree --reset -u HEAD'],
    ['git checkout-index -f -a'],
    ['git rm -rfq src'],
    ['git ls-files src | xargs git checkout --'],
    ['git ls-files src > .git/list && git checkout --pathspec-from-file=.git/list'],
    ['git ls-files src | git restore --pathspec-from-file=-'],
    ['git diff > .git/p && git apply -R .git/p'],
    ['git diff | git apply -R'],
    ['cd src && git checkout ..'],
    ['sh -c "git reset --hard"'],
    ['git -c alias.wipe="reset --hard" wipe'],
  ])('%s by a session that is alone: what it destroys is there', (command) => {
    world = new SharingWorld({ ready: [A] });
    writeFileSync(join(world.path, 'src/a.ts'), 'WIP\n');
    const { before, run } = world.bash(A, command);
    expect(before.kind, JSON.stringify(before)).toBe('silent');
    expect(run?.status, run?.stderr).toBe(0);
    expect(world.handoff(['rescue', 'show', '--raw', '--', 'src/a.ts']).stdout).toBe('WIP\n');
  });

  it('keep nothing if nothing is uncommitted, and the same work only once', () => {
    world = new SharingWorld({ ready: [A] });
    world.bash(A, 'git reset --hard');
    expect(rescues()).toEqual([]);
    writeFileSync(join(world.path, 'src/a.ts'), 'WIP\n');
    world.may(A, 'git reset --hard');
    world.may(A, 'git reset --hard');
    expect(rescues()).toHaveLength(1);
  });

  it('keep names and contents of every kind, byte for byte', () => {
    world = new SharingWorld({ ready: [A] });
    world.git(['config', 'core.autocrlf', 'true']);
    const bytes = Buffer.from([0, 255, 13, 10, 10, 13]);
    const odd = Buffer.concat([Buffer.from(`${world.path}/odd-`), Buffer.from([0xff, 0xfe])]);
    mkdirSync(join(world.path, 'deep/er'), { recursive: true });
    writeFileSync(join(world.path, 'deep/er/new\nline "q" \t*.txt'), bytes);
    writeFileSync(odd, 'not UTF-8');
    symlinkSync('../nowhere', join(world.path, 'deep/link'));
    writeFileSync(join(world.path, 'run.sh'), 'x', { mode: 0o755 });
    world.bash(A, 'git clean -fdq');
    expect(world.status()).toEqual([]);
    expect(world.handoff(['rescue', 'restore', '1']).status).toBe(0);
    const out = world.run('sh', [
      '-c',
      'cat deep/er/new*; cat odd*; readlink deep/link; ls -l run.sh | cut -c4',
    ]);
    expect(out.stdout).toBe(`${bytes.toString()}not UTF-8../nowhere\nx\n`);
  });

  it('report which files were too big to save', () => {
    world = new SharingWorld({ ready: [A] });
    writeFileSync(join(world.path, 'big.bin'), Buffer.alloc(10 * 1024 * 1024 + 1));
    writeFileSync(join(world.path, 'small.txt'), 'x');
    expect(contextText(world.may(A, 'git clean -fd'))).toContain(
      'not saved before `git clean -fd`: big.bin (too big)',
    );
    expect(rescues().map(paths)).toEqual([['small.txt']]);
  });

  it('change nothing for a person in a repository without sessions', () => {
    world = new SharingWorld();
    rmSync(join(world.path, 'src/a.ts'));
    world.git(['checkout', '-q', '.']);
    expect(world.ok(['rescue'])).toBe('nothing to bring back');
  });
});
