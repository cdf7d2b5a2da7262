import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, C, SED_IN_PLACE, SharingWorld, TEN } from '../support/sharing-world.ts';

let world: SharingWorld;
beforeEach(() => {
  world = new SharingWorld();
  world.git(['config', 'handoff.contention', 'off']);
  world.begin(A);
  world.begin(B);
});
afterEach(() => world.remove());

/** Replaces one line with a file tool. */
const line = (session: string, n: number, text: string, path = 'shared.md') =>
  world.edit(session, path, `line ${n}\n`, `${text}\n`);

/** Added and removed lines of a commit. */
const patch = (commit = 'HEAD', path = 'shared.md') =>
  world
    .git(['show', '--format=', '-U0', commit, '--', path])
    .split('\n')
    .filter((text) => /^[-+](?!--|\+\+)/.test(text));

const index = () => world.git(['ls-files', '--stage']);

describe('two sessions change one file', () => {
  it('each commits its own lines by stage --mine and git commit', () => {
    line(A, 1, 'A one');
    line(B, 10, 'B ten');
    expect(world.ok(['stage', '--mine', 'shared.md'], { session: B })).toBe('your hunks  shared.md');
    expect(world.as(B, ['commit', '-qm', 'b'])).toMatchObject({ status: 0 });
    expect(patch()).toEqual(['-line 10', '+B ten']);
    expect(world.read('shared.md')).toContain('A one\n');
    expect(world.read('shared.md')).toContain('B ten\n');

    world.ok(['stage', '--mine', 'shared.md'], { session: A });
    expect(world.as(A, ['commit', '-qm', 'a'])).toMatchObject({ status: 0 });
    expect(patch()).toEqual(['-line 1', '+A one']);
    expect(world.status()).toEqual([]);
  });

  it('each commits its own lines by git handoff commit', () => {
    line(A, 1, 'A one');
    line(B, 10, 'B ten');
    const before = world.read('shared.md');
    expect(world.json(['commit', '-m', 'b'], { session: B })).toMatchObject({
      paths: ['shared.md'],
      left: [],
    });
    expect(patch()).toEqual(['-line 10', '+B ten']);
    expect(world.read('shared.md')).toBe(before);
    expect(world.status()).toEqual([' M shared.md']);
    world.ok(['commit', '-m', 'a'], { session: A });
    expect(patch()).toEqual(['-line 1', '+A one']);
    expect(world.status()).toEqual([]);
    expect(world.git(['log', '--format=%(trailers:key=Claude-Session-Id,valueonly)%s', '-2'])).toBe(
      `${A}\na\n${B}\nb`,
    );
  });
});

describe('commits of hunks that overlap or touch', () => {
  const refused = (verb: string[], session = B) => {
    const before = { index: index(), head: world.git(['rev-parse', 'HEAD']), text: world.read('shared.md') };
    const run = world.handoff(verb, { session });
    expect(run.status).toBe(3);
    expect(run.stderr).toContain('session (claude bbbbbbbb)');
    expect(run.stderr).toContain('claude aaaaaaaa');
    expect(run.stderr).toContain(`nothing was ${verb[0] === 'stage' ? 'staged' : 'committed'}`);
    const now = { index: index(), head: world.git(['rev-parse', 'HEAD']), text: world.read('shared.md') };
    expect(now).toEqual(before);
    // The last hint is the take; the command for the rest precedes it.
    return /^hint: (?!.*^hint: )(.*)$/ms.exec(run.stderr)?.[1]?.trimEnd() ?? '';
  };

  it.each([
    ['the same line', 5],
    ['the next line', 6],
    ['the line before', 4],
  ])('%s: refused with both names, nothing staged, and the command of the refusal works', (_, n) => {
    line(A, 5, 'A five');
    world.write(B, 'src/b.ts', 'B\n');
    if (n === 5) line(B, 1, `B one`);
    world.edit(B, 'shared.md', n === 5 ? 'A five\n' : `line ${n}\n`, `B ${n}\n`);
    world.stop(A);
    refused(['stage', '--mine']);
    const hint = refused(['commit', '-m', 'b']);
    expect(hint).toBe(`git -C ${world.path} handoff take -- shared.md`);
    expect(world.run('sh', ['-c', hint], { session: B })).toMatchObject({ status: 0 });
    world.ok(['commit', '-m', 'b'], { session: B });
    expect(world.status()).toEqual([]);
  });

  it('are refused to the session that came first, too', () => {
    line(A, 5, 'A five');
    line(B, 6, 'B six');
    const run = world.handoff(['commit', '-m', 'a'], { session: A });
    expect(run.status).toBe(3);
    expect(run.stderr.replaceAll(world.path, '<top>')).toMatchInlineSnapshot(`
      "error: shared.md: the changes of this session (claude aaaaaaaa) and of claude bbbbbbbb overlap or touch; nothing was committed. Wait until claude bbbbbbbb commits; if neither of you can, ask the user to commit it
      hint: git -C <top> handoff status
      "
    `);
    // The user commits it, and both sessions continue.
    expect(world.run('git', ['commit', '-qm', 'both', '--', 'shared.md'])).toMatchObject({ status: 0 });
    for (const session of [A, B]) expect(world.write(session, 'shared.md', session).kind).toBe('silent');
  });

  it('are allowed with one unchanged line between them', () => {
    line(A, 5, 'A five');
    line(B, 7, 'B seven');
    world.ok(['commit', '-m', 'b'], { session: B });
    expect(patch()).toEqual(['-line 7', '+B seven']);
    world.ok(['commit', '-m', 'a'], { session: A });
    expect(patch()).toEqual(['-line 5', '+A five']);
    expect(world.status()).toEqual([]);
  });

  it('are refused for lines that another session has undone', () => {
    line(A, 5, 'A five');
    line(B, 1, 'B one');
    world.edit(B, 'shared.md', 'A five\n', 'line 5\n');
    expect(world.handoff(['commit', '-m', 'a'], { session: A }).status).toBe(3);
  });
});

describe('three hunks of two sessions', () => {
  beforeEach(() => {
    line(A, 1, 'A one');
    line(B, 5, 'B five');
    line(A, 10, 'A ten');
  });

  it('become two commits', () => {
    world.ok(['commit', '-m', 'a'], { session: A });
    expect(patch()).toEqual(['-line 1', '+A one', '-line 10', '+A ten']);
    world.ok(['commit', '-m', 'b'], { session: B });
    expect(patch()).toEqual(['-line 5', '+B five']);
    expect(world.status()).toEqual([]);
  });

  it('do not include another session’s change from while this session’s command ran', () => {
    world.ok(['commit', '-m', 'b'], { session: B });
    line(B, 3, 'B three');
    world.may(B, 'make');
    line(A, 7, 'A seven');
    world.ok(['commit', '-m', 'b2'], { session: B });
    expect(patch()).toEqual(['-line 3', '+B three']);
  });

  it('become two commits with more work after the first', () => {
    world.ok(['commit', '-m', 'a'], { session: A });
    line(A, 3, 'A three');
    world.ok(['commit', '-m', 'a2'], { session: A });
    expect(patch()).toEqual(['-line 3', '+A three']);
    expect(world.status()).toEqual([' M shared.md']);
  });

  it('leave what another session staged of the file, on the new HEAD', () => {
    world.ok(['stage', '--mine'], { session: A });
    world.ok(['commit', '-m', 'b'], { session: B });
    expect(world.status()).toEqual(['M  shared.md']);
    expect(world.as(A, ['commit', '-qm', 'a'])).toMatchObject({ status: 0 });
    expect(patch()).toEqual(['-line 1', '+A one', '-line 10', '+A ten']);
    expect(world.status()).toEqual([]);
  });

  it('leave a third session’s file and what it staged as they are', () => {
    world.begin(C);
    world.write(C, 'c.txt', 'C\n');
    world.write(C, 'src/a.ts', 'C\n');
    world.git(['add', 'c.txt', 'src/a.ts']);
    world.ok(['commit', '-m', 'b'], { session: B });
    expect(patch()).toEqual(['-line 5', '+B five']);
    expect(world.status().sort()).toEqual([' M shared.md', 'A  c.txt', 'M  src/a.ts']);
  });
});

describe('other kinds of change', () => {
  it('a mode belongs to the session that set it, unless the owner of the lines commits first', () => {
    line(A, 1, 'A one');
    world.bash(B, `${SED_IN_PLACE} s/x/x/ shared.md && chmod +x shared.md`);
    world.ok(['commit', '-m', 'b'], { session: B });
    expect(patch()).toEqual([]);
    expect(world.git(['ls-tree', 'HEAD', 'shared.md'])).toMatch(/^100755/);
    world.ok(['commit', '-m', 'a'], { session: A });
    expect(patch()).toEqual(['-line 1', '+A one']);
    expect(world.status()).toEqual([]);
  });

  it('a file without a line feed at its end, and Windows line ends in the working tree', () => {
    world.commit('eol', { '.gitattributes': 'shared.md eol=crlf\n' });
    world.git(['rm', '-q', '--cached', 'shared.md']);
    world.git(['reset', '-q', '--hard']);
    world.write(A, 'shared.md', `${TEN.replace('line 1\n', 'A one\n').replaceAll('\n', '\r\n')}end`);
    world.edit(B, 'shared.md', 'line 5\r\n', 'B five\r\n');
    world.ok(['commit', '-m', 'b'], { session: B });
    expect(patch()).toEqual(['-line 5', '+B five']);
    world.ok(['commit', '-m', 'a'], { session: A });
    expect(world.git(['cat-file', '-p', 'HEAD:shared.md'])).toBe(
      `${TEN.replace('line 1\n', 'A one\n').replace('line 5\n', 'B five\n')}end`,
    );
    expect(world.status()).toEqual([]);
  });

  it('a binary file cannot be separated', () => {
    world.write(A, 'shared.md', `${TEN}\0`);
    world.edit(B, 'shared.md', 'line 5', 'B five');
    const run = world.handoff(['stage', '--mine'], { session: B });
    expect(run.status).toBe(3);
    expect(run.stderr).toContain('cannot be separated');
    expect(run.stderr).toContain(`hint: git -C ${world.path} handoff status`);
    expect(world.git(['diff', '--cached', '--name-only'])).toBe('');
  });

  it('a file of more than 1 MiB cannot be separated', () => {
    world.write(A, 'shared.md', `${TEN}${'x\n'.repeat(600_000)}`);
    world.edit(B, 'shared.md', 'line 1\n', 'B one\n');
    expect(world.handoff(['commit', '-m', 'b'], { session: B }).stderr).toContain('cannot be separated');
  });

  it('a new file: its creator commits its own lines, a session that built on them waits', () => {
    world.write(A, 'new.md', TEN);
    world.edit(B, 'new.md', 'line 9\n', 'B nine\n');
    expect(world.handoff(['commit', '-m', 'b'], { session: B }).status).toBe(3);
    expect(world.git(['ls-files', 'new.md'])).toBe('');
    world.edit(B, 'new.md', 'B nine\n', 'line 9\n');
    world.ok(['commit', '-m', 'a'], { session: A });
    expect(world.status()).toEqual([]);
  });

  it('a file that one session removed and the other changed: the removal is refused', () => {
    line(A, 1, 'A one');
    world.bash(B, 'rm shared.md');
    expect(world.handoff(['commit', '-m', 'x'], { session: B }).status).toBe(3);
    // The file's owner commits what is on the disk, and is told that B's command may have changed it, too.
    const run = world.handoff(['commit', '-m', 'x'], { session: A });
    expect(run.status).toBe(0);
    expect(run.stderr).toContain('shared.md was also changed while a command of claude bbbbbbbb ran');
  });
});

describe('HEAD moves while the commit is made', () => {
  const hook = (body: string) => {
    world.git(['config', 'core.hooksPath', '.hooks']);
    world.run('sh', [
      '-c',
      `mkdir .hooks && printf '%s' "$1" > .hooks/pre-commit && chmod +x .hooks/pre-commit`,
      'x',
      `#!/bin/sh\n${body}\n`,
    ]);
    world.run('sh', ['-c', 'echo .hooks >> .git/info/exclude']);
  };
  const other = 'git update-ref HEAD "$(git commit-tree -p HEAD -m other "HEAD^{tree}")"';

  it('once: the commit is made on the new HEAD', () => {
    line(A, 1, 'A one');
    line(B, 10, 'B ten');
    hook(`test -e .git/moved || { touch .git/moved; ${other}; }`);
    world.ok(['commit', '-m', 'b'], { session: B });
    expect(world.git(['log', '--format=%s', '-3'])).toBe('b\nother\nfiles');
    expect(patch()).toEqual(['-line 10', '+B ten']);
    expect(world.status()).toEqual([' M shared.md']);
  });

  it('between our look and git’s own, where no hook notices: the commit is undone and made again', () => {
    line(A, 1, 'A one');
    line(B, 10, 'B ten');
    world.git(['config', 'core.hooksPath', '.none']);
    const real = world.run('sh', ['-c', 'command -v git']).stdout.trim();
    const wrapper = `#!/bin/sh
if [ -n "\${GIT_HANDOFF_EXPECT-}" ] && [ ! -e '${world.root}/moved' ]; then
  touch '${world.root}/moved'
  blob=$(echo other | ${real} hash-object -w --stdin)
  (
    export GIT_INDEX_FILE='${world.root}/other-index'
    ${real} read-tree HEAD && ${real} update-index --add --cacheinfo "100644,$blob,other.txt"
    ${real} update-ref HEAD "$(${real} commit-tree -p HEAD -m other "$(${real} write-tree)")"
  )
fi
exec ${real} "$@"
`;
    const bin = join(world.root, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'git'), wrapper, { mode: 0o755 });
    const env = { PATH: `${bin}:${world.env()['PATH']}` };
    world.ok(['commit', '-m', 'b'], { session: B, env });
    expect(world.git(['log', '--format=%s', '-3'])).toBe('b\nother\nfiles');
    expect(world.git(['show', '--format=', '--name-only', 'HEAD'])).toBe('shared.md');
    expect(world.git(['show', 'HEAD:other.txt'])).toBe('other');
  });

  it('every time: exit status 4, and nothing is changed', () => {
    line(A, 1, 'A one');
    line(B, 10, 'B ten');
    const before = index();
    hook(other);
    const run = world.handoff(['commit', '-m', 'b'], { session: B });
    expect(run.status).toBe(4);
    expect(index()).toBe(before);
    expect(world.git(['log', '--format=%s', '--grep=^b$'])).toBe('');
    expect(world.run('sh', ['-c', 'ls .git | grep handoff-index']).stdout).toBe('');
  });

  it('hooks see which commit it is made on', () => {
    line(A, 1, 'A one');
    line(B, 10, 'B ten');
    hook('test "$GIT_HANDOFF_EXPECT" = "$(git rev-parse HEAD)"');
    world.ok(['commit', '-m', 'b'], { session: B });
  });
});

it('in a linked worktree of a repository with SHA-256 names', () => {
  const other = new SharingWorld({ objectFormat: 'sha256' });
  try {
    other.git(['config', 'handoff.contention', 'off']);
    const linked = other.worktree('side');
    const file = (session: string, n: number) =>
      other.edit(session, 'shared.md', `line ${n}\n`, `${session.slice(0, 1)} ${n}\n`, linked);
    other.begin(A, linked);
    other.begin(B, linked);
    file(A, 1);
    file(B, 5);
    file(A, 10);
    other.ok(['commit', '-m', 'b'], { session: B, cwd: linked });
    expect(other.git(['show', '--format=', '--stat'], { cwd: linked })).toContain('2 +-');
    expect(other.git(['show', 'HEAD:shared.md'], { cwd: linked })).toBe(
      TEN.replace('line 5\n', 'b 5\n').trimEnd(),
    );
    other.ok(['commit', '-m', 'a'], { session: A, cwd: linked });
    expect(other.status(linked)).toEqual([]);
    expect(other.status()).toEqual([]);
  } finally {
    other.remove();
  }
});

it('an unowned edit elsewhere in the same file stays', () => {
  line(A, 1, 'A one');
  line(B, 10, 'B ten');
  const text = world.read('shared.md').replace('line 5\n', 'by hand\n');
  world.run('sh', ['-c', 'cat > shared.md'], { input: text });
  world.ok(['commit', '-m', 'b'], { session: B });
  expect(patch()).toEqual(['-line 10', '+B ten']);
  expect(world.read('shared.md')).toBe(text);
});

it('an unowned edit stays even if it was there before this session’s first', () => {
  const text = TEN.replace('line 5\n', 'by hand\n');
  world.run('sh', ['-c', 'cat > shared.md'], { input: text });
  line(A, 1, 'A one');
  line(B, 10, 'B ten');
  world.ok(['commit', '-m', 'a'], { session: A });
  expect(patch()).toEqual(['-line 1', '+A one']);
  expect(world.read('shared.md')).toContain('by hand\n');
});
