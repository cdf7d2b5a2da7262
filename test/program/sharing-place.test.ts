import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { A, B, C, SED_IN_PLACE, SharingWorld, TEN, refusal } from '../support/sharing-world.ts';

/** A works in the repository and has an uncommitted change; B has begun in the folder above. */
function above(): SharingWorld {
  const world = new SharingWorld({ ready: [A] });
  world.edit(A, 'src/a.ts', 'line 3', "A's");
  world.begin(B, world.root);
  return world;
}

const name = (world: SharingWorld) => world.path.slice(world.root.length + 1);

/** The sessions that are listed in the repository. */
function listed(world: SharingWorld): string[] {
  const { stdout } = world.handoff(['sessions', '--json']);
  const { items } = JSON.parse(stdout) as { items: { session: string; liveness: string }[] };
  return items
    .filter(({ liveness }) => liveness === 'live')
    .map(({ session }) => session)
    .sort();
}

describe('a session that works from the folder above the repository', () => {
  it.each([
    'git -C $repo reset --hard',
    'cd $repo && git reset --hard',
    'cd $repo; git stash',
    '(cd $repo/src && git checkout -- .)',
    'git --git-dir=$repo/.git --work-tree=$repo reset --hard',
    'GIT_DIR=$repo/.git GIT_WORK_TREE=$repo git reset --hard',
    'git --git-dir $repo/.git reset --hard',
    'git -C $top checkout src/a.ts',
    'rm -rf $repo/src/a.ts',
    'rm -rf $top/src',
    'rm -rf $repo',
    'mv $repo gone',
    'echo x > $repo/src/a.ts',
    "sed -i 's/line/x/' $repo/src/a.ts",
    'find $repo/src -name "*.ts" -delete',
    'cd $repo && rm src/a.ts',
  ])('is refused %s', (typed) => {
    const world = above();
    const command = typed.replaceAll('$repo', name(world)).replaceAll('$top', world.path);
    expect(refusal(world.may(B, command, world.root))).toContain('aaaaaaaa');
    expect(listed(world)).toEqual([A]);
  });

  it('is refused a file tool on another session’s path', () => {
    const world = above();
    expect(refusal(world.try(B, join(name(world), 'src/a.ts'), 'x', world.root))).toContain('aaaaaaaa');
    expect(world.try(B, join(name(world), 'src/b.ts'), 'x', world.root).kind).toBe('silent');
  });

  it.each([
    'git -C $repo log',
    'cat $repo/src/a.ts',
    'cd $repo && git status && git diff',
    'grep -r line $repo',
  ])('reads by %s, and is not listed for it', (typed) => {
    const world = above();
    world.bash(B, typed.replaceAll('$repo', name(world)), { cwd: world.root });
    expect(listed(world)).toEqual([A]);
  });

  it('is listed as long as it has uncommitted work there, and keeps its claims there', () => {
    const world = above();
    world.write(B, join(name(world), 'src/b.ts'), 'x\n', world.root);
    expect(listed(world)).toEqual([A, B]);
    expect(world.claimed(B)).toEqual(['src/b.ts']);
    expect(refusal(world.try(A, 'src/b.ts', 'y'))).toContain('bbbbbbbb');
    const { run } = world.bash(B, `git -C ${name(world)} commit -qm b src/b.ts`, { cwd: world.root });
    expect(run?.status, run?.stderr).toBe(0);
    expect(world.git(['log', '-1', '--format=%(trailers:key=Claude-Session-Id,valueonly)'])).toContain(B);
    expect(listed(world)).toEqual([A]);
    expect(world.try(A, 'src/b.ts', 'y').kind).toBe('silent');
  });

  it('claims what its command changed there, even if the session itself began there', () => {
    const world = new SharingWorld({ ready: [A, B] });
    const { run } = world.bash(B, `cd ${name(world)} && ${SED_IN_PLACE} 's/line 8/x/' src/b.ts`, {
      cwd: world.root,
    });
    expect(run?.status, run?.stderr).toBe(0);
    expect(world.claimed(B)).toEqual(['src/b.ts']);
    expect(refusal(world.may(A, 'git stash'))).toContain('bbbbbbbb');
  });

  it('claims what its command changed there', () => {
    const world = above();
    const { run } = world.bash(B, `cd ${name(world)} && printf x >src/new.ts && rm shared.md`, {
      cwd: world.root,
    });
    expect(run?.status, run?.stderr).toBe(0);
    expect(world.claimed(B)).toEqual(['shared.md', 'src/new.ts']);
    expect(world.claimed(A)).toEqual(['src/a.ts']);
    expect(refusal(world.may(A, 'git stash -u'))).toContain('bbbbbbbb');
  });

  it('claims what an unknown program wrote there', () => {
    const world = above();
    world.bash(B, `cd ${name(world)} && ./make.sh`, { cwd: world.root });
    world.bash(B, `cd ${name(world)} && env X=1 mktemp src/made-XXXXXX`, { cwd: world.root });
    expect(world.claimed(B)).toEqual([expect.stringMatching(/^src\/made-/)]);
  });

  it.each(['make -f ../rules', 'sh ../script', 'sh "$HOME/script"', 'python3 ../program'])(
    'claims what a file outside makes %s change there',
    (typed) => {
      const world = new SharingWorld({ ready: [A, B] });
      writeFileSync(join(world.root, 'rules'), 'all:\n\techo x >>src/b.ts\n');
      for (const folder of [world.root, world.home])
        writeFileSync(join(folder, 'script'), 'echo x >>src/b.ts\n');
      writeFileSync(join(world.root, 'program'), 'name = "src/" + "b.ts"\nopen(name, "a").write("x")\n');
      const { run } = world.bash(B, `cd ${name(world)} && ${typed}`, { cwd: world.root });
      expect(run?.status, run?.stderr).toBe(0);
      expect(world.claimed(B)).toEqual(['src/b.ts']);
    },
  );

  it('may not sweep another session’s file into its commit', () => {
    const world = above();
    world.write(B, join(name(world), 'src/b.ts'), 'x\n', world.root);
    const { run } = world.bash(B, `cd ${name(world)} && git add -A && git commit -qm sweep`, {
      cwd: world.root,
    });
    expect(run?.status).not.toBe(0);
    expect(run?.stderr).toContain('src/a.ts');
  });

  it('is distinguished from another session beside it', () => {
    const world = new SharingWorld();
    world.begin(B, world.root);
    world.begin(C, world.root);
    world.write(B, join(name(world), 'src/b.ts'), 'x\n', world.root);
    expect(listed(world)).toEqual([B]);
    expect(refusal(world.may(C, `cd ${name(world)} && git stash`, world.root))).toContain('bbbbbbbb');
    world.write(C, join(name(world), 'src/a.ts'), 'x\n', world.root);
    expect(listed(world)).toEqual([B, C]);
    expect(refusal(world.may(B, `git -C ${name(world)} checkout .`, world.root))).toContain('cccccccc');
  });

  it('is gone from the list when it ends', () => {
    const world = above();
    world.write(B, join(name(world), 'src/b.ts'), 'x\n', world.root);
    world.end(B, world.root);
    expect(listed(world)).toEqual([A]);
  });

  it('is let through once when a person allows it in that repository', () => {
    const world = above();
    const command = `git -C ${name(world)} reset --hard`;
    expect(refusal(world.may(B, command, world.root))).toContain('aaaaaaaa');
    const folder = join(world.path, '.git', 'handoff', 'allow');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'token'), `${JSON.stringify({ v: 1, session: null, at: Date.now() })}\n`);
    const { run } = world.bash(B, command, { cwd: world.root });
    expect(run?.status).toBe(0);
    expect(world.read('src/a.ts')).toBe(TEN);
  });
});

describe('a session of another repository', () => {
  it.each([true, false])(
    'is judged by the settings and aliases of the one it touches (enabled itself: %s)',
    (on) => {
      const world = new SharingWorld({ ready: [A] });
      world.edit(A, 'src/a.ts', 'line 3', "A's");
      world.git(['config', 'alias.undo', 'reset --hard']);
      const other = join(world.root, 'other');
      mkdirSync(other);
      world.git(['init', '-q'], { cwd: other });
      if (on) world.ok(['init', '--yes'], { cwd: other });
      world.begin(B, other);
      expect(refusal(world.may(B, `git -C ${world.path} undo`, other))).toContain('aaaaaaaa');
      expect(refusal(world.may(B, `cd ../${name(world)} && git stash`, other))).toContain('aaaaaaaa');
      expect(refusal(world.try(B, join('..', name(world), 'src/a.ts'), 'x', other))).toContain('aaaaaaaa');
      expect(world.may(B, 'git undo; git reset --hard', other).kind).toBe('silent');
      world.git(['config', 'handoff.contention', 'off']);
      expect(world.try(B, join('..', name(world), 'src/a.ts'), 'x', other).kind).toBe('silent');
    },
  );

  it('may be in a repository that only the user’s own settings switch on', () => {
    const world = new SharingWorld();
    world.git(['config', '--global', 'handoff.enabled', 'true']);
    const other = join(world.root, 'other');
    mkdirSync(other);
    world.git(['init', '-q'], { cwd: other });
    world.commit('one', { 'f.txt': TEN }, other);
    world.begin(B, world.root);
    world.begin(C, world.root);
    world.write(B, 'other/f.txt', 'x\n', world.root);
    expect(refusal(world.may(C, 'git -C other reset --hard', world.root))).toContain('bbbbbbbb');
  });
});

describe('a linked worktree inside a worktree', () => {
  it('is nobody’s uncommitted work there', () => {
    const world = new SharingWorld({ ready: [A] });
    const inner = join(world.path, '.claude', 'worktrees', 'fix');
    world.bash(A, 'git worktree add -q .claude/worktrees/fix');
    world.begin(B);
    world.begin(C, inner);
    world.write(C, 'src/a.ts', 'x\n', inner);
    world.bash(B, 'echo x >new.txt');
    const { stdout } = world.handoff(['status', '--json']);
    const { items } = JSON.parse(stdout) as { items: { path: string }[] };
    expect(items.map(({ path }) => path)).toEqual(['new.txt']);
    expect(world.claimed(A)).toEqual([]);
    expect(world.may(B, 'git stash -u').kind).toBe('silent');
    expect(refusal(world.may(B, 'cd .claude/worktrees/fix && git checkout .'))).toContain('cccccccc');
    expect(refusal(world.may(B, 'git clean -ffdx'))).toContain('cccccccc');
  });
});

describe('a git operation that a session begins in another session’s worktree', () => {
  it('is recorded as its own, and it may continue it', () => {
    const world = new SharingWorld();
    const other = world.worktree('topic');
    world.commit('theirs', { 'src/a.ts': 'theirs\n' }, other);
    world.commit('ours', { 'src/a.ts': 'ours\n' });
    world.begin(A, other);
    world.begin(B);
    const { run } = world.bash(B, `git -C ${other} rebase main`);
    expect(run?.stdout).toContain('CONFLICT');
    expect(world.ledger(B).filter(({ t }) => t === 'operation')).toHaveLength(1);
    const next = world.bash(
      B,
      `cd ${other} && git checkout --theirs src/a.ts && git add src/a.ts && GIT_EDITOR=true git rebase --continue`,
    );
    expect(next.run?.status, next.run?.stderr).toBe(0);
    expect(world.git(['status', '--porcelain'], { cwd: other })).toBe('');
    expect(world.git(['log', '-1', '--format=%s'], { cwd: other })).toBe('theirs');
  });
});
