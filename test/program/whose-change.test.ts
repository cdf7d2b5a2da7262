import { chmodSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commitRuns } from '../../src/changes/windows.ts';
import { processTable } from '../../src/host/processes.ts';
import { A, B, SharingWorld, TEN, refusal, contextText } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
});
afterEach(() => world.remove());

const program = (code: string) => `node -e "eval(atob('${Buffer.from(code).toString('base64')}'))"`;
const writes = (path: string, text: string) =>
  program(`require('fs').writeFileSync(${JSON.stringify(path)}, ${JSON.stringify(text)})`);

/** One hook of a client around a tool call. */
function hook(session: string, event: string, tool: string, input: object, id: string): void {
  const call = { tool_name: tool, tool_input: input, tool_use_id: id };
  world.guard({ session_id: session, hook_event_name: event, ...call });
}

/** What `git handoff status` tells a caller without a session: `path state owners`. */
const whose = (): Record<string, string> =>
  Object.fromEntries(
    world
      .json(['status'])
      .items.map(({ path, state, owners }) => [
        String(path),
        [String(state), ...(owners as string[])].join(' '),
      ]),
  );

const put = (path: string, text: string) => writeFileSync(join(world.path, path), text);

describe('a file tool that was announced and whose result is not yet known', () => {
  const input = (path: string) => ({ file_path: join(world.path, path), content: 'B\n' });

  it('keeps its path from another session’s running command', () => {
    hook(A, 'PreToolUse', 'Bash', { command: 'make' }, 'a');
    hook(B, 'PreToolUse', 'Write', input('f0.txt'), 'b');
    put('f0.txt', 'B\n');
    hook(A, 'PostToolUse', 'Bash', { command: 'make' }, 'a');
    hook(B, 'PostToolUse', 'Write', input('f0.txt'), 'b');
    expect(world.claimed(A)).toEqual([]);
    expect(world.handoff(['commit', '-m', 'a'], { session: A }).status).toBe(1);
    expect(world.json(['commit', '-m', 'b'], { session: B })['paths']).toEqual(['f0.txt']);
  });

  it('refuses nobody, and is over with the next call, with Stop, or with its result', () => {
    hook(B, 'PreToolUse', 'Write', input('f0.txt'), 'b');
    expect(world.try(A, 'f0.txt', 'A\n').kind).toBe('silent');
    world.guard({ session_id: B, hook_event_name: 'Stop' });
    world.guard({ session_id: A, hook_event_name: 'Stop' });
    world.bash(A, writes('f0.txt', 'made\n'));
    expect(world.claimed(A)).toEqual(['f0.txt']);
  });
});

describe('changes that a commit’s hooks hide for a while', () => {
  const record = () => join(world.path, '.git', 'handoff-committing');

  /** Calls `run` as if the hooks of a commit were running, which hide changes that are not staged. */
  function hidden(run: () => void): void {
    writeFileSync(record(), `${process.pid} ${processTable().startOf(process.pid)}\n`);
    world.git(['stash', 'push', '-q', '--include-untracked']);
    run();
    world.git(['stash', 'pop', '-q']);
    rmSync(record());
  }

  it('if another session looks meanwhile, nobody’s claim ends, and nobody hears that work is gone', () => {
    world.write(A, 'src/a.ts', 'A\n');
    world.write(A, 'new.txt', 'A\n');
    hidden(() => {
      world.bash(B, writes('made.txt', 'B\n'));
      world.handoff(['status'], { session: B });
      world.bash(A, writes('other.txt', 'A\n'));
      expect(refusal(world.write(B, 'src/a.ts', 'B\n'))).toContain('claude aaaaaaaa');
    });
    expect(whose()).toMatchObject({ 'src/a.ts': `other ${A}`, 'new.txt': `other ${A}` });
    expect(contextText(world.may(A, 'make'))).not.toContain('gone');
    expect(world.bash(B, 'git add -A && git commit -qm sweep').run?.status).not.toBe(0);
  });

  it('a command that began meanwhile owns nothing that comes back', () => {
    world.write(A, 'src/a.ts', 'A\n');
    hidden(() => hook(B, 'PreToolUse', 'Bash', { command: 'make' }, 'b'));
    hook(B, 'PostToolUse', 'Bash', { command: 'make' }, 'b');
    expect(world.claimed(B)).toEqual([]);
    expect(whose()).toEqual({ 'src/a.ts': `other ${A}` });
  });

  it('a process that began after the record was written is a different one with the same pid', () => {
    const place = { gitDir: join(world.path, '.git'), commonDir: join(world.path, '.git'), worktreeId: '-' };
    writeFileSync(record(), `${process.pid} -\n`);
    expect(commitRuns(place, Date.now())).toBe(true);
    utimesSync(record(), 1, 1);
    expect(commitRuns(place, Date.now())).toBe(false);
    writeFileSync(record(), '0 -\n');
    expect(commitRuns(place, Date.now())).toBe(false);
  });

  it('the installed hook records the commit before it runs the hooks that were there before', () => {
    const file = join(world.path, '.git/hooks/pre-commit');
    world.ok(['uninstall', '--yes']);
    writeFileSync(file, '#!/bin/sh\ncp .git/handoff-committing .git/seen\necho $PPID >.git/git\n');
    chmodSync(file, 0o755);
    world.ok(['init', '--yes']);
    world.begin(A);
    world.begin(B);
    world.write(B, 'src/b.ts', 'B\n');
    world.git(['commit', '-qm', 'by hand', '--', 'src/b.ts']);
    expect(world.read('.git/seen')).toMatch(/^\d+ -\n$/);
  });
});

describe('a stash and its pop', () => {
  beforeEach(() => {
    world.write(A, 'src/a.ts', 'A\n');
    world.write(B, 'src/b.ts', 'B\n');
  });

  it('give each path back to its owner, even if nobody looked in between', () => {
    world.bash(B, program(`require('child_process').execSync('git stash')`));
    expect(whose()).toEqual({});
    world.bash(B, program(`require('child_process').execSync('git stash pop')`));
    expect(whose()).toEqual({ 'src/a.ts': `other ${A}`, 'src/b.ts': `other ${B}` });
    expect(world.json(['commit', '-m', 'b'], { session: B })['paths']).toEqual(['src/b.ts']);
  });

  it('of a session’s own files, and a commit of them, make nobody hear that work is gone', () => {
    world.bash(B, 'git stash push -q -- src/b.ts');
    expect(contextText(world.may(A, 'make'))).toBe('');
    world.bash(B, 'git stash pop -q');
    world.bash(B, 'git commit -qm b -- src/b.ts');
    for (const session of [A, B]) expect(contextText(world.may(session, 'make'))).not.toContain('gone');
  });
});

describe('a program in the background', () => {
  it.each([
    ['by the client', { command: 'npm run watch', run_in_background: true }],
    ['by the shell', { command: 'npm run watch & sleep 0' }],
  ])(
    '(%s) that writes during another session’s command: only a warning, and its owner commits',
    (_, input) => {
      hook(A, 'PreToolUse', 'Bash', input, 'a');
      hook(A, 'PostToolUse', 'Bash', input, 'a');
      hook(B, 'PreToolUse', 'Bash', { command: 'make' }, 'b');
      put('built.txt', 'by A\n');
      hook(B, 'PostToolUse', 'Bash', { command: 'make' }, 'b');
      expect(world.ledger(B).filter(({ t }) => t === 'claim')).toMatchObject([{ weak: true }]);
      expect(world.bash(A, 'git add -A && git commit -qm a').run).toMatchObject({ status: 0 });
    },
  );
});

describe('HEAD moves in a command', () => {
  /** Adds a commit of somebody else's on top of HEAD. */
  function published(): void {
    const clone = join(world.root, 'clone');
    world.run('git', ['clone', '-q', world.path, clone]);
    writeFileSync(join(clone, 'src/a.ts'), `${TEN}published\n`);
    writeFileSync(join(clone, 'src/new.ts'), 'published\n');
    const as = ['-c', 'user.name=x', '-c', 'user.email=x@example.com'];
    world.run('git', ['-C', clone, 'add', '-A']);
    world.run('git', ['-C', clone, ...as, 'commit', '-qm', 'published']);
  }

  it('forward over files that stay as they are: nobody has changed them', () => {
    published();
    world.bash(B, 'git fetch -q ../clone && git reset -q --soft FETCH_HEAD');
    expect(world.claimed(B)).toEqual([]);
  });

  it('forward, and a program writes what an older commit had: the change is the session’s', () => {
    published();
    world.bash(B, `git fetch -q ../clone && git reset -q --hard FETCH_HEAD`);
    world.bash(B, `git show HEAD~1:src/a.ts > src/a.ts`);
    expect(world.claimed(B)).toEqual(['src/a.ts']);
  });

  it.each(['--soft', '--mixed'])(
    'back over the session’s own commits (%s): their paths are its own again',
    (mode) => {
      world.write(B, 'src/b.ts', 'B\n');
      world.write(B, 'more.txt', 'B\n');
      world.ok(['commit', '-m', 'b'], { session: B });
      world.bash(B, `git reset -q ${mode} HEAD~1`);
      expect(whose()).toEqual({ 'src/b.ts': `other ${B}`, 'more.txt': `other ${B}` });
      expect(world.json(['commit', '-m', 'again'], { session: B })['paths']).toEqual([
        'more.txt',
        'src/b.ts',
      ]);
    },
  );

  it('back over another session’s commit: its paths are that session’s', () => {
    world.write(A, 'src/a.ts', 'A\n');
    world.ok(['commit', '-m', 'a'], { session: A });
    world.bash(B, program(`require('child_process').execSync('git reset -q --soft HEAD~1')`));
    expect(whose()).toEqual({ 'src/a.ts': `other ${A}` });
  });

  it('back over its own commit of a file that another session has changed since: each has its own part', () => {
    world.edit(A, 'shared.md', 'line 10\n', 'A ten\n');
    world.ok(['commit', '-m', 'a'], { session: A });
    world.edit(B, 'shared.md', 'line 1\n', 'B one\n');
    world.bash(A, 'git reset -q --soft HEAD~1');
    expect(whose()).toEqual({ 'shared.md': `contended ${A} ${B}` });
    expect(world.try(B, 'shared.md', 'B\n')).toMatchObject({ kind: 'deny' });
    const added = () => world.git(['show', '--format=', '-U0', 'HEAD']).match(/^\+[AB] .*/gm);
    world.ok(['commit', '-m', 'b'], { session: B });
    expect(added()).toEqual(['+B one']);
    world.ok(['commit', '-m', 'a'], { session: A });
    expect(added()).toEqual(['+A ten']);
    expect(world.status()).toEqual([]);
  });

  it('back over commits of several sessions: each has its own part of a file', () => {
    world.edit(A, 'shared.md', 'line 10\n', 'A ten\n');
    world.ok(['commit', '-m', 'a'], { session: A });
    world.edit(B, 'shared.md', 'line 1\n', 'B one\n');
    world.ok(['commit', '-m', 'b'], { session: B });
    world.git(['branch', 'kept']);
    world.bash(B, 'git reset -q --soft HEAD~2');
    expect(whose()).toEqual({ 'shared.md': `contended ${A} ${B}` });
    world.ok(['commit', '-m', 'a'], { session: A });
    expect(world.git(['show', '--format=', '-U0', 'HEAD']).match(/^\+[AB] .*/gm)).toEqual(['+A ten']);
  });

  it('back over a session’s commit and one on top that names nobody: that session may stage the paths', () => {
    world.edit(A, 'shared.md', 'line 10\n', 'A ten\n');
    world.ok(['commit', '-m', 'a'], { session: A });
    world.commit('by hand', { 'shared.md': world.read('shared.md').replace('line 1\n', 'one\n') });
    world.git(['branch', 'kept']);
    world.bash(B, 'git reset -q --soft HEAD~2');
    expect(whose()).toEqual({ 'shared.md': `other ${A}` });
    expect(world.ok(['stage', '--mine', '--', 'shared.md'], { session: A })).toContain('shared.md');
    expect(world.bash(B, 'git commit -am b').run?.stderr).toMatch(/^error: shared\.md: claude aaaaaaaa/);
  });

  it('and somebody else removes a file again: the removal is theirs', () => {
    const removed = () => {
      world.bash(A, 'rm src/b.ts');
      expect(whose()).toEqual({ 'src/b.ts': `other ${A}` });
      const { run } = world.bash(B, 'git add -A && git commit -m b');
      expect(run?.stderr).toMatch(/^error: src\/b\.ts: claude aaaaaaaa/);
      world.bash(A, 'git reset -q && git restore src/b.ts');
    };
    world.bash(B, 'rm src/b.ts');
    world.bash(B, 'git restore src/b.ts');
    removed();
    world.bash(B, 'rm src/b.ts');
    world.git(['commit', '-qam', 'by a person']);
    world.bash(B, 'true; make -n');
    world.run('sh', ['-c', 'echo again >src/b.ts && git add src/b.ts && git commit -qm again']);
    removed();
  });

  it('back over a merge: what it brought belongs to the session that merged', () => {
    world.run('sh', [
      '-c',
      'git switch -qc topic && echo t >>src/a.ts && git commit -qam t && git switch -q main',
    ]);
    world.bash(A, 'git merge -q --no-ff -m merged topic');
    world.bash(B, program(`require('child_process').execSync('git reset -q --soft HEAD~1')`));
    expect(whose()).toEqual({ 'src/a.ts': `other ${A}` });
    const { run } = world.bash(B, 'git commit -am b');
    expect(run?.stderr).toContain('src/a.ts: claude');
  });
});

describe('if git status fails before and after a command', () => {
  /** A git whose `status` fails. */
  function blindGit(): Record<string, string> {
    const real = world.run('sh', ['-c', 'command -v git']).stdout.trim();
    const bin = join(world.root, 'bin');
    mkdirSync(bin, { recursive: true });
    const script = `#!/bin/sh\nfor word do [ "$word" = status ] && exit 1; done\nexec ${real} "$@"\n`;
    writeFileSync(join(bin, 'git'), script, { mode: 0o755 });
    return { PATH: `${bin}:${world.env()['PATH']}` };
  }

  it.each([
    ['git rm -q src/b.ts', ['src/b.ts']],
    ['git mv src/b.ts moved.ts', ['moved.ts', 'src/b.ts']],
    ['chmod +x src/b.ts', ['src/b.ts']],
  ])('what it names is the session’s: %s', (command, paths) => {
    for (const blind of ['PreToolUse', 'PostToolUse', 'both']) {
      world.bash(A, 'true; make');
      const env = blindGit();
      for (const event of ['PreToolUse', 'PostToolUse']) {
        const call = { tool_name: 'Bash', tool_input: { command }, tool_use_id: `${command} ${blind}` };
        const options = blind === event || blind === 'both' ? { env } : {};
        world.guard({ session_id: B, hook_event_name: event, ...call }, options);
        if (event === 'PreToolUse') world.run('sh', ['-c', command], { session: B });
      }
      expect(world.claimed(B), blind).toEqual(paths);
      const add = world.as(A, ['commit', '-qam', 'sweep']);
      expect(add.status, blind).not.toBe(0);
      world.git(['reset', '-q', '--hard']);
    }
  });
});

it('a file tool that writes the content that is already there claims nothing', () => {
  put('src/a.ts', 'by hand\n');
  world.write(B, 'src/a.ts', 'by hand\n');
  expect(world.claimed(B)).toEqual([]);
  world.write(B, 'src/a.ts', 'B\n');
  expect(world.claimed(B)).toEqual(['src/a.ts']);
});
