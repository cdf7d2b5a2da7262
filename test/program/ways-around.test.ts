import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GuardWorld, CALLER, OWNER, markedNote } from '../support/guard.ts';
import { A, B, C, SharingWorld, refusal } from '../support/sharing-world.ts';

describe('settings that a refusal depends on', () => {
  let world: SharingWorld;
  beforeEach(() => {
    world = new SharingWorld({ ready: [A, B] });
    world.write(A, 'src/a.ts', 'one\n');
  });
  afterEach(() => world.remove());

  it.each([
    ['alias.co', 'checkout', 'git co -b other'],
    ['alias.co', 'checkout', 'git co -b other # see handoff.md and /memory/x'],
    ['alias.wipe', '!git reset --hard', 'git wipe'],
    ['clean.requireForce', 'false', 'git clean -d'],
    ['rebase.autoStash', 'true', 'git rebase main'],
  ])('are known whatever the payload holds: %s=%s, %s', (key, value, command) => {
    world.write(A, 'src/new.ts', 'new\n');
    expect(world.may(B, command).kind).toBe('silent');
    world.git(['config', key, value]);
    expect(refusal(world.may(B, command))).toContain('claude aaaaaaaa');
  });
});

describe('an invalid value of a setting', () => {
  it('is reported to one session, and again when it changes', () => {
    const world = new SharingWorld();
    world.git(['config', 'handoff.verifyOperators', 'strict']);
    const told = (session: string) => {
      const answer = world.begin(session);
      return answer.kind === 'context' ? answer.text : '';
    };
    expect(told(A)).toContain('handoff.verifyoperators is set to "strict", which is not a valid value');
    expect(told(B)).not.toContain('does not know');
    world.git(['config', 'handoff.verifyOperators', 'loose']);
    expect(told(B)).toContain('"loose", which is not a valid value');
    expect(world.handoff(['doctor']).stdout).toContain('"loose", which is not a valid value');
    world.remove();
  });
});

describe("a session's own handoff file", () => {
  let world: GuardWorld;
  beforeEach(() => {
    world = new GuardWorld({ owner: CALLER });
  });
  afterEach(() => world.remove());

  const edits: readonly (readonly [string, object])[] = [
    ['Edit', { old_string: CALLER, new_string: OWNER }],
    ['Edit', { old_string: `<!-- claude-session: ${CALLER} -->`, new_string: markedNote(OWNER) }],
    ['MultiEdit', { edits: [{ old_string: `session: ${CALLER}`, new_string: `session: ${OWNER}` }] }],
    ['mcp__fs__edit_file', { edits: [{ oldText: CALLER, newText: OWNER }] }],
  ];

  it.each(edits)('does not get the marker of another session: %s %j', (tool, input) => {
    const path = { file_path: world.file };
    expect(refusal(world.before(tool, { ...path, ...input }))).toContain('wrong ownership marker');
    expect(world.before(tool, { ...path, old_string: 'secret', new_string: 'open' }).kind).not.toBe('deny');
  });

  it('does not get it through a patch', () => {
    const patch = `*** Begin Patch\n*** Update File: ${world.file}\n@@\n-<!-- claude-session: ${CALLER} -->\n+<!-- claude-session: ${OWNER} -->\n*** End Patch`;
    const payload = {
      session_id: CALLER,
      hook_event_name: 'PreToolUse',
      turn_id: 't',
      tool_name: 'apply_patch',
    };
    const input = JSON.stringify({ ...payload, cwd: world.path, tool_input: { command: patch } });
    const run = world.handoff(['guard'], { input });
    expect(run.stdout).toContain('wrong ownership marker');
  });

  it('is guarded when the payload begins with a byte order mark', () => {
    const foreign = join(world.memory, 'handoff-main-other-work.md');
    writeFileSync(foreign, markedNote(OWNER));
    const payload = {
      session_id: CALLER,
      cwd: world.path,
      hook_event_name: 'PreToolUse',
      tool_name: 'Write',
    };
    const text = JSON.stringify({ ...payload, tool_input: { file_path: foreign, content: 'x' } });
    const run = world.handoff(['guard', '--client', 'claude'], { input: `\u{FEFF}${text}` });
    expect(run.stdout).toContain('Foreign session owns');
    expect(readFileSync(foreign, 'utf8')).toBe(markedNote(OWNER));
  });
});

describe('a commit that bypasses the hooks', () => {
  let world: SharingWorld;
  beforeEach(() => {
    world = new SharingWorld({ ready: [A, B] });
    world.write(A, 'src/a.ts', 'one\n');
  });
  afterEach(() => world.remove());

  const past = [
    'git -c core.hooksPath=/dev/null commit -am x',
    'git -c CORE.hookspath= commit -am x',
    'git -c core.hooksPath="$(mktemp -d)" commit -am x',
    'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null git commit -am x',
    'export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/x; git commit -am x',
    `GIT_CONFIG_PARAMETERS="'core.hooksPath=/dev/null'" git commit -am x`,
    'H=/dev/null git --config-env=core.hooksPath=H commit -am x',
    'env H=/dev/null git --config-env core.hooksPath=H commit -am x',
    'git -c handoff.enabled=false commit -am x',
    'git -c handoff.enabled=off commit -am x',
    "git -c alias.ci='!git -c core.hooksPath=/dev/null commit' ci -am x",
    "git -c core.hooksPath=/dev/null -c alias.ci='!git commit' ci -am x",
    "git -c core.hooksPath=/dev/null -c alias.ci='commit -a' ci -m x",
    'sh -c "git -c core.hooksPath=/dev/null commit -am x"',
    'GIT_HANDOFF=off git commit -am x',
    'cd src && git -c core.hooksPath=. commit -am x',
    'git -c core.hooksPath=/dev/null cherry-pick --continue',
  ];

  it.each(past)('is refused beside a live session: %s', (command) => {
    const text = refusal(world.may(B, command));
    if (!command.startsWith('GIT_HANDOFF')) {
      expect(text).toContain('aaaaaaaa');
      expect(text).toContain('git handoff commit -m ');
    }
    expect(world.status()).toEqual([' M src/a.ts']);
  });

  it('is refused if a configuration file that the command names disables them', () => {
    writeFileSync(join(world.root, 'other'), '[core]\n\thooksPath = /dev/null\n');
    for (const command of [
      `GIT_CONFIG_GLOBAL=${world.root}/other git commit -am x`,
      `git -c include.path=${world.root}/other commit -am x`,
    ])
      expect(refusal(world.may(B, command))).toContain('aaaaaaaa');
  });

  it.each([
    'GIT_CONFIG_NOSYSTEM=1 git commit -am x',
    'GIT_CONFIG_GLOBAL=/dev/null git commit -am x',
    'git -c user.name=b -c user.email="$E" commit -am x',
    'git -c commit.gpgSign=false commit -am x',
    'git -c handoff.operator=x commit -am x',
    'git -c core.hooksPath=/dev/null status',
    'git -c core.hooksPath=.git/hooks commit -m x',
    'cd "$(mktemp -d)" && git init -q && git -c core.hooksPath=/dev/null commit --allow-empty -m x',
    'git config core.hooksPath',
    'git config user.name b',
    'git config --get-regexp handoff',
    'chmod +x .git/hooks/pre-commit',
    'chmod -x src/b.ts',
    'cat .git/hooks/pre-commit .git/config',
    'cp .git/hooks/pre-commit.sample .git/hooks/post-merge',
  ])('leaves what does not stop them alone: %s', (command) => {
    expect(world.may(B, command).kind).not.toBe('deny');
  });

  const changes = [
    'git config core.hooksPath /dev/null',
    'git config set core.hooksPath /dev/null',
    'git config --global core.hooksPath /dev/null',
    'git config handoff.enabled false',
    'git config --unset handoff.enabled',
    'git config handoff.contention off',
    'git config --remove-section handoff',
    'chmod -x .git/hooks/*',
    'chmod 644 .git/hooks/pre-commit',
    'chmod -R a-x .git/hooks',
    'cd .git/hooks && chmod -x pre-commit',
    'mv .git/hooks .git/hooks.off',
    'rm .git/hooks/pre-commit',
    'rm -rf .git/hooks',
    'echo exit 0 > .git/hooks/pre-commit',
    "sed -i '/handoff/d' .git/hooks/prepare-commit-msg",
    'ln -sf /bin/true .git/hooks/pre-commit',
    "printf '[core]\\n hooksPath = /dev/null\\n' >> .git/config",
    'git handoff uninstall --yes',
    'git-handoff uninstall',
  ];

  it.each(changes)('may not be prepared beside a live session: %s', (command) => {
    const text = refusal(world.may(B, command));
    expect(text).toContain('claude aaaaaaaa is at work');
    expect(text).toContain('git handoff commit');
  });

  const files = [
    '.git/hooks/pre-commit',
    '.git/hooks/prepare-commit-msg',
    '.git/config',
    'link',
    'hooks/pre-commit',
  ];
  const prepare = (path: string) => {
    if (path === 'link')
      symlinkSync(join(world.path, '.git', 'hooks', 'pre-commit'), join(world.path, 'link'));
    if (path.startsWith('hooks/')) world.git(['config', 'core.hooksPath', 'hooks']);
  };
  /** The guard's answer to a patch, which is how Codex changes files. */
  const patch = (path: string, cwd = world.path) => {
    const command = `*** Begin Patch\n*** Delete File: ${path}\n*** End Patch`;
    const payload = { session_id: B, hook_event_name: 'PreToolUse', turn_id: 't', tool_name: 'apply_patch' };
    const input = JSON.stringify({ ...payload, cwd, tool_input: { command } });
    return world.handoff(['guard', '--client', 'codex'], { input }).stdout;
  };

  it.each(files)('may not be prepared by a file tool beside a live session: %s', (path) => {
    prepare(path);
    const text = refusal(world.try(B, path, '#!/bin/sh\n'));
    expect(text).toContain('claude aaaaaaaa is at work');
    expect(text).toContain('git handoff commit');
    expect(patch(path)).toContain('claude aaaaaaaa is at work');
    world.end(A);
    expect(world.try(B, path, '#!/bin/sh\n').kind).not.toBe('deny');
  });

  it('may not be prepared by a file tool of a session that works elsewhere', () => {
    const file = join(world.path, '.git', 'hooks', 'pre-commit');
    expect(refusal(world.try(B, file, 'x', world.root))).toContain('claude aaaaaaaa is at work');
    for (const other of ['.git/hooks/post-merge', '.git/description', 'src/config', 'src/pre-commit'])
      expect(world.try(B, other, 'x').kind, other).not.toBe('deny');
  });

  it('is allowed to a session that is alone', () => {
    world.end(A);
    for (const command of [...past.filter((one) => !one.startsWith('GIT_HANDOFF')), ...changes])
      expect(world.may(B, command).kind, command).not.toBe('deny');
  });

  it('is refused if the hooks were disabled while the session was alone', () => {
    world.end(A);
    world.bash(B, 'git config core.hooksPath /dev/null');
    world.begin(C);
    expect(refusal(world.may(B, "git commit -am 'two words'"))).toMatch(
      /core\.hooksPath is \/dev\/null.*git handoff commit -m 'two words'/,
    );
    world.git(['config', '--unset', 'core.hooksPath']);
    expect(world.may(B, 'git commit -am x').kind).not.toBe('deny');
    world.bash(B, 'true');
    world.run('sh', ['-c', 'chmod -x .git/hooks/*']);
    expect(refusal(world.may(B, 'git commit -am x'))).toContain('not executable');
  });

  it('is allowed in a worktree where nobody else works, but not prepared for all worktrees', () => {
    world.git(['worktree', 'add', '-q', '-b', 'wt', '../wt']);
    const tree = join(world.root, 'wt');
    world.begin(C, tree);
    expect(world.may(C, 'git -c core.hooksPath=/dev/null commit -am x', tree).kind).not.toBe('deny');
    expect(refusal(world.may(C, 'git config core.hooksPath /dev/null', tree))).toContain('at work');
  });
});

describe('changes by commands that name no path', () => {
  let world: SharingWorld;
  beforeEach(() => {
    world = new SharingWorld({ ready: [A, B] });
    world.write(A, 'src/a.ts', 'one\n');
    world.write(B, 'src/b.ts', 'two\n');
    world.git(['branch', 'other']);
  });
  afterEach(() => world.remove());

  it.each([
    ['git diff | git apply -R', 'git apply -R --include=src/b.ts'],
    ['git archive HEAD | tar x', 'tar -x -f <archive> -- <path>'],
    ['tar xf /tmp/a.tar', 'tar -x'],
    ['tar -xzf a.tgz -C src', 'tar -x'],
    ['tar xf a.tar src', 'tar -x'],
    ['tar xf a.tar --strip-components=1 x/src/b.ts', 'tar -x'],
    ['curl -sL https://x/a.tgz | tar xz', 'tar -x'],
    ['cat p.diff | patch -p1', 'patch <path>'],
    ['unzip -o a.zip', 'unzip <archive> <path>'],
    ['git symbolic-ref HEAD refs/heads/other', 'git worktree add --detach ../apart'],
    ['gh pr checkout 12', 'gh pr checkout 12'],
    ['gh co 12', 'git worktree add --detach'],
    ['glab mr checkout 3', 'git worktree add'],
    ['hub checkout other', 'git worktree add ../other other'],
    ['gt checkout other', 'git worktree add'],
    ['git town sync', 'git stash push'],
    ['jj commit -m x', "git handoff commit -m '<message>'"],
    ['jj new', 'git handoff commit'],
    ['git fast-import < dump', 'git worktree add'],
    ['git update-ref HEAD $(git commit-tree -p HEAD -m x $(git write-tree))', 'git handoff commit'],
    [
      'c=$(git commit-tree -p HEAD -m x $(git write-tree)); git update-ref refs/heads/main $c',
      'git handoff commit',
    ],
    ['git reset -q --soft $(git commit-tree -p HEAD -m x HEAD^{tree})', 'git handoff commit'],
  ])('are refused beside work that they could hit: %s', (command, hint) => {
    const text = refusal(world.may(B, command));
    expect(text).toContain('src/a.ts');
    expect(text).toContain('aaaaaaaa');
    expect(text).toContain(hint);
  });

  it.each([
    'git diff -- src/b.ts | git apply -R --include=src/b.ts',
    'tar xf a.tar -- src/b.ts',
    'tar xf a.tar -C /tmp/elsewhere',
    'tar xkf a.tar',
    'tar tf a.tar; tar cf /tmp/a.tar src',
    'unzip -l a.zip; unzip -n a.zip',
    'unzip a.zip src/b.ts',
    'gh pr view 12; gh pr create --fill; glab mr list; jj log; gt log',
    'git symbolic-ref HEAD; git symbolic-ref refs/remotes/origin/HEAD refs/heads/main',
    'git update-ref refs/heads/other HEAD',
    'git commit-tree -m x HEAD^{tree}',
    'git update-ref HEAD other',
  ])('are allowed where they hit nothing of others: %s', (command) => {
    expect(world.may(B, command).kind).not.toBe('deny');
  });

  it('are judged by the patch if it can be read', () => {
    const patch = (path: string) => `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-one\n+two\n`;
    writeFileSync(join(world.root, 'a.diff'), patch('src/a.ts'));
    writeFileSync(join(world.root, 'b.diff'), patch('src/b.ts'));
    for (const command of ['git apply X', 'patch -p1 -i X', 'patch -p1 < X', 'patch < X'])
      for (const name of ['a', 'b']) {
        const typed = command.replace('X', `${world.root}/${name}.diff`);
        expect(world.may(B, typed).kind === 'deny', typed).toBe(name === 'a');
      }
    const here = (path: string) => `git apply <<'END'\n${patch(path)}END\n`;
    expect(world.may(B, here('src/b.ts')).kind).not.toBe('deny');
    expect(refusal(world.may(B, here('src/a.ts')))).toContain('src/a.ts');
  });

  it('are refused if the named commit changes what another session has not committed', () => {
    world.as(A, ['stash', 'create']);
    const oid = world.as(A, ['stash', 'create']).stdout.trim();
    expect(refusal(world.may(B, `git update-ref refs/heads/main ${oid}`))).toContain('src/a.ts');
  });

  it('are allowed to a session that is alone', () => {
    world.end(A);
    for (const command of ['git diff | git apply -R', 'tar xf a.tar', 'gh pr checkout 1', 'jj new'])
      expect(world.may(B, command).kind).not.toBe('deny');
  });
});
