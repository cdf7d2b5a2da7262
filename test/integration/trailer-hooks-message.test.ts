import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TrailerWorld, mine, other } from '../support/trailer-world.ts';

let world: TrailerWorld;
beforeEach(() => {
  world = new TrailerWorld();
  world.enable(process.pid);
});
afterEach(() => world.remove());

const trailer = `Claude-Session-Id: ${mine}`;

describe('messages that need no editor', () => {
  it.each([
    ['fix: one', `fix: one\n\n${trailer}`],
    ['one\n\nbody', `one\n\nbody\n\n${trailer}`],
    ['one\n\nSigned-off-by: a <a@b>', `one\n\nSigned-off-by: a <a@b>\n${trailer}`],
    ['one\n\nsee: this', `one\n\nsee: this\n${trailer}`],
    ['one\nsee: this', `one\nsee: this\n\n${trailer}`],
    ['one\n\n(cherry picked from commit 1)', `one\n\n(cherry picked from commit 1)\n${trailer}`],
    ['one\n\nbody\n\n# 1', `one\n\nbody\n\n${trailer}\n\n# 1`],
    ['one\n\nbefore\n---\nafter', `one\n\nbefore\n---\nafter\n\n${trailer}`],
    ['one\n\n$(id) `id` %s \\n "x"', `one\n\n$(id) \`id\` %s \\n "x"\n\n${trailer}`],
    [`one\n\nclaude-session-id: ${mine}`, `one\n\nclaude-session-id: ${mine}`],
    ['# not a comment\n\nbody', `# not a comment\n\nbody\n\n${trailer}`],
    ['é\n\n\u0081', `é\n\n\u0081\n\n${trailer}`],
  ])('%j', (message, expected) => {
    world.commit(message);
    expect(world.message()).toBe(expected);
    expect(world.ids()).toEqual([mine]);
  });

  it('is also added to messages from a file or a pipe, and with --no-verify', () => {
    writeFileSync(join(world.base.dir, 'm'), 'one\r\n\r\nbody without an end');
    world.git(['commit', '-q', '--allow-empty', '-n', '-F', join(world.base.dir, 'm')]);
    expect(world.ids()).toEqual([mine]);
  });

  it('precedes blank lines at the end that git is told to keep', () => {
    world.git(['commit', '-q', '--allow-empty', '--cleanup=verbatim', '-m', 'one\n\nbody\n\n']);
    expect(world.git(['log', '-1', '--format=%B']).stdout).toContain(`body\n\n${trailer}\n\n`);
  });

  it('keeps exactly one id when amended', () => {
    world.commit('one');
    world.git(['commit', '-q', '--allow-empty', '--amend', '-m', 'two']);
    world.git(['commit', '-q', '--allow-empty', '--amend', '--no-edit']);
    world.git(['commit', '-q', '--allow-empty', '--amend', '--no-edit', '-s']);
    expect(world.ids()).toEqual([mine]);
  });

  it('keeps the id of a commit that is amended or copied', () => {
    world.file('a', 'a', other);
    world.git(['commit', '-q', '--allow-empty', '--amend', '--no-edit']);
    expect(world.ids()).toEqual([other]);
    world.git(['commit', '-q', '--allow-empty', '-C', 'HEAD']);
    expect(world.ids()).toEqual([other]);
  });

  it.each(['', '  \n\n', 'Signed-off-by: a <a@b>'])('leaves %j to git, which refuses it', (message) => {
    expect(world.try(['commit', '-q', '--allow-empty', '-m', message]).status).not.toBe(0);
    expect(world.try(['rev-parse', '-q', '--verify', 'HEAD']).status).not.toBe(0);
  });

  it.each([
    [
      'names and places',
      { 'trailer.ifmissing': 'doNothing', 'trailer.claude-session-id.ifmissing': 'doNothing' },
    ],
    ['commands', {}],
  ])('is not changed by configuration, and runs no command of it: %s', (_, more) => {
    const canary = join(world.base.dir, 'canary');
    const settings = {
      ...more,
      'trailer.separators': '=',
      'trailer.ifexists': 'replace',
      'trailer.where': 'start',
      'trailer.claude.key': 'X-Claude-Session-Id=',
      'trailer.run.command': `touch '${canary}'`,
      'trailer.runs.cmd': `touch '${canary}' #`,
    };
    const count = Object.keys(settings).length;
    const env: Record<string, string> = { GIT_CONFIG_COUNT: String(count) };
    Object.entries(settings).forEach(([key, value], index) => {
      env[`GIT_CONFIG_KEY_${index}`] = key;
      env[`GIT_CONFIG_VALUE_${index}`] = value;
      world.git(['config', key, value]);
      world.git(['config', '--global', key, value]);
    });
    const given = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    world.git([...given, 'commit', '-q', '--allow-empty', '-m', 'one'], env);
    expect(world.message()).toBe(`one\n\n${trailer}`);
    // In this message, git decides where the trailer belongs.
    const signed = 'one\n\nSigned-off-by: a <a@b>';
    world.git([...given, 'commit', '-q', '--allow-empty', '-m', signed], env);
    expect(existsSync(canary)).toBe(false);
    expect(world.message()).toBe(`${signed}\n${trailer}`);
  });
});

describe('messages from an editor', () => {
  const write = 'printf "subject\\n\\nbody\\n" | cat - "$1" >"$1.new" && mv "$1.new" "$1"';
  const commit = (env: Record<string, string>, ...more: string[]): number | null =>
    world.try([...more, 'commit', '--allow-empty'], env).status;

  it.each([
    ['the default', []],
    ['a comment character', ['-c', 'core.commentChar=;']],
    ['an automatic comment character', ['-c', 'core.commentChar=auto']],
    ['a comment string, which git may not know', ['-c', 'core.commentString=Session-Id']],
    ['a diff below the scissors', ['-c', 'commit.verbose=true']],
    ['scissors', ['-c', 'commit.cleanup=scissors']],
  ])('%s', (_, config) => {
    writeFileSync(join(world.root, 'x'), 'x\n');
    world.git(['add', 'x']);
    expect(commit(world.editor(write), ...config)).toBe(0);
    expect(world.message()).toBe(`subject\n\nbody\n\n${trailer}`);
    const head = world.git(['rev-parse', 'HEAD']).stdout;
    // A diff is not part of the message.
    writeFileSync(join(world.root, 'x'), 'y\n');
    world.git(['add', 'x']);
    expect(commit(world.editor(':'), ...config)).not.toBe(0);
    expect(world.git(['rev-parse', 'HEAD']).stdout).toBe(head);
  });

  it('are refused if nothing but a trailer is left', () => {
    const run = world.try(['commit', '--allow-empty'], world.editor(`printf '\\n${trailer}\\n# x\\n' >"$1"`));
    expect(run).toMatchObject({ status: 1, stderr: 'Aborting commit due to empty commit message.\n' });
  });

  it('keeps exactly one id when amended', () => {
    world.commit('one');
    const env = { GIT_EDITOR: 'true' };
    world.git(['commit', '-q', '--allow-empty', '--amend'], env);
    expect(world.message()).toBe(`one\n\n${trailer}`);
    world.file('a', 'a', other);
    world.git(['commit', '-q', '--amend'], env);
    expect(world.ids()).toEqual([other]);
  });
});
