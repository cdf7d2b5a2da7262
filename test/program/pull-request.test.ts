import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { TestRepository } from '../support/repository.ts';
import { SECRETS } from '../support/secrets.ts';

const [A, B] = ['3f2b8c1d-1111-4222-8333-444455556666', '7c3e9a52-1111-4222-8333-444455556666'];
const TOKEN = SECRETS['github/GITHUB_TOKEN'] ?? '';
const BRANCH = 'feature/auth-refresh';
let world: TestRepository;

beforeEach(() => {
  world = new TestRepository();
  onTestFinished(() => world.remove());
  world.git(['switch', '-q', '-c', BRANCH]);
});

const request = (...words: string[]) => world.handoff(['export', '--format', 'pr', ...words]);
const commit = (...message: string[]) =>
  world.git(['commit', '-q', '--allow-empty', ...message.flatMap((part) => ['-m', part])]);
const note = (topic: string, input: string, session = A) => world.ok(['write', topic], { session, input });
const wordsOf = (text: string) => text.split(/\s+/).filter(Boolean).length;

const SUBJECTS = [
  'Store the refresh token beside the access token',
  'Refresh the token a minute before it expires',
  'Retry once when the server answers 401',
  'Keep the old token until the new one is stored',
  'fixup! Retry once when the server answers 401',
  'Lock the token file while it is rewritten',
  'Test two processes that refresh at once',
  'Say why a refresh failed',
  'Read the expiry from the token and not from the clock',
  'Document `auth.refreshBefore`',
  'Remove the old login dialog',
  'Rename Session<T> to Login<T>',
];

describe('the text of a pull request', () => {
  it('of twelve commits and three notes says what, why, how it was tested and what is open', () => {
    for (const subject of SUBJECTS) commit(subject, `Claude-Session-Id: ${A}`);
    const done = '## Goal\nTwo processes of one user must not lose each other’s token.\n## Current State\n';
    note(
      'token-store',
      `${done}Done. \`npm test -- token\` passes (14 tests), and\nthe race was run 200 times.\n`,
      B,
    );
    world.ok(['close', 'token-store'], { session: B });
    note('retry-401', 'Goal: A request that meets an expired token is sent again, once.\nNext: Nothing.\n');
    note('auth-refresh', readFileSync('fixtures/pull-request/note.md', 'utf8'));
    const { stdout, stderr, status } = request();
    expect(status).toBe(0);
    expect(stdout).toBe(readFileSync('fixtures/pull-request/twelve-commits.md', 'utf8'));
    expect(wordsOf(stdout)).toBeLessThanOrEqual(400);
    expect(request('--title')).toMatchObject({
      stdout: 'Users stay logged in for as long as they work\n',
      stderr: '',
    });
    expect(stderr).toMatch(/^hint: git handoff export --format pr \| gh pr create --title /);
  });

  it('goes into a pull request by the hint, typed as it stands', () => {
    commit('Refresh the token', 'It expired while people typed.');
    const bin = join(world.root, 'bin');
    mkdirSync(bin);
    const gh = join(bin, 'gh');
    writeFileSync(gh, '#!/bin/sh\nprintf "%s\\n" "$@" && cat\n');
    chmodSync(gh, 0o755);
    const PATH = `${bin}${delimiter}${world.env()['PATH']}`;
    const hint = /^hint: (.*)$/m.exec(request().stderr)?.[1] ?? '';
    const { stdout, status } = world.run('sh', ['-c', hint], { env: { PATH } });
    expect(status).toBe(0);
    const body = '## What\n\n- Refresh the token\n\n## Why\n\nIt expired while people typed.\n';
    expect(stdout).toBe(`pr\ncreate\n--title\nRefresh the token\n--body-file\n-\n${body}`);
  });

  it('names no session, whoever it was and wherever its id stands', () => {
    commit(`Claude-Session-Id: ${A}`);
    commit(`Finish what 3f2b8c1d began\nClaude-Session-Id: ${A}`);
    commit('More of it', `Claude-Session-Id: ${B}`);
    const unknown = '0190aaaa-1111-7222-8333-444455556666';
    note(
      'auth-refresh',
      `Goal: go on where ${unknown} and 7c3e9a52 ended.\nClaude-Session-Id: ${A}\nNext: ask ${B}.\n`,
    );
    const { stdout } = request();
    for (const id of [A, B, unknown]) {
      expect(stdout).not.toContain(id);
      expect(stdout).not.toContain(id.slice(0, 8));
    }
    expect(stdout).toContain('- Finish what … began\n');
    expect(stdout).not.toContain('Session-Id');
  });

  it('takes hostile subjects for text', () => {
    commit('\u001b[31mred\u001b[0m \u202egnp.exe');
    commit('# not a heading');
    commit('[x] not a box ![pixel](https://tracker.example/x.png)');
    commit('<!-- hides the rest');
    commit('ask @octo-org/admins, mail a@example.org');
    commit('``<img src=x>` `@octocat` `<b>`');
    const { stdout } = request();
    // eslint-disable-next-line no-control-regex -- none may be left
    expect(stdout).not.toMatch(/[\u0000-\u0008\u001b\u202e]/);
    expect(stdout.split('\n').filter((line) => line.startsWith('#'))).toEqual(['## What']);
    expect(stdout).toContain('- \\# not a heading\n- \\[x] not a box ');
    expect(stdout).not.toMatch(/!\[|<!|<img/);
    expect(stdout).toContain('- ask `@octo-org/admins`, mail a@example.org\n');
  });

  it('keeps a note’s Markdown inside its section', () => {
    commit('One');
    commit('Two');
    const goal =
      '## Goal\n### Sub\nA para\ngraph.\n***\n- an item\n  goes on\n<details>\n\n```sh\necho "<b> @you"\n';
    note('auth-refresh', goal);
    const { stdout } = request();
    expect(stdout).toContain(
      '## Why\n\n**Sub**\n\nA para graph.\n\n- an item goes on &lt;details>\n\n```sh\n',
    );
    expect(stdout).toMatch(/echo "<b> @you"\n+```\n/);
  });

  it('is short, however long the notes and the branch are', () => {
    for (let at = 0; at < 60; at++) commit(`Change number ${at} of a branch that has far too many of them`);
    const long = 'word '.repeat(30_000);
    note('auth-refresh', `## Goal\n${long}\n## Tests\n${long}\n## Next Action\n${'x'.repeat(50_000)}\n`);
    const { stdout } = request();
    expect(wordsOf(stdout)).toBeLessThanOrEqual(400);
    expect(stdout.length).toBeLessThan(5000);
    expect(stdout).toMatch(/^- and \d\d more commits$/m);
    for (const title of ['What', 'Why', 'How it was tested', 'What is open'])
      expect(stdout).toContain(`## ${title}\n`);
    expect(request('--title').stdout.length).toBeLessThanOrEqual(101);
  });

  it('is made from this branch’s notes alone, and says what none of them says', () => {
    world.ok(['write', 'main/other-work'], { session: A, input: 'Goal: something else\n' });
    commit('One');
    commit('Two');
    expect(request()).toMatchObject({ status: 0, stdout: '## What\n\n- One\n- Two\n' });
    expect(request().stderr).toContain('notice: no note of this branch says why or how it was tested');
    expect(request('--title').stdout).toBe('Auth refresh\n');
  });

  it('leaves out merges, what the target has, and closed notes of an earlier pull request', () => {
    commit('Earlier');
    note('earlier-work', 'Goal: what was merged long ago\n');
    world.ok(['close', 'earlier-work'], { session: A });
    world.git(['switch', '-q', 'main']);
    world.git(['merge', '-q', '--no-ff', '--no-edit', BRANCH]);
    commit('On main');
    world.git(['switch', '-q', BRANCH]);
    commit('Later');
    world.git(['merge', '-q', '--no-ff', '--no-edit', 'main']);
    expect(request().stdout).toBe('## What\n\n- Later\n');
  });

  it('is measured from the branch that it will be merged into', () => {
    world.git(['branch', 'release']);
    world.git(['switch', '-q', 'release']);
    commit('On release');
    world.git(['switch', '-q', '-c', 'hotfix']);
    commit('Mend it');
    world.git(['config', 'branch.hotfix.gh-merge-base', 'release']);
    expect(world.json(['export', '--format', 'pr'])).toMatchObject({ base: 'release', title: 'Mend it' });
    expect(request().stdout).toBe('## What\n\n- Mend it\n');
    expect(request().stderr).toContain('gh pr create --base release --title');
  });
});

describe('there is no text', () => {
  it('without a commit, without a branch, and where a branch is merged into none', () => {
    expect(request()).toMatchObject({ status: 1, stdout: '' });
    expect(request().stderr).toContain(
      `error: ${BRANCH} has no commit that main lacks\nhint: git handoff status\n`,
    );
    world.git(['switch', '-q', 'main']);
    expect(request()).toMatchObject({ status: 1, stdout: '' });
    world.git(['switch', '-q', '--detach']);
    expect(request().stderr).toContain('hint: git switch -c <branch>');
    world.git(['switch', '-q', '--orphan', 'unborn']);
    expect(request().stderr).toContain('unborn has no commit that main lacks');
  });

  it('with a secret in it, until somebody says that it is none', () => {
    commit('One');
    commit('Two');
    world.ok(['write', 'auth-refresh', '--allow-secret'], {
      session: A,
      input: `Goal: use ${TOKEN}\n`,
    });
    expect(request().status).toBe(0);
    commit(`Use ${TOKEN}`);
    const { status, stdout, stderr } = request();
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).not.toContain(TOKEN);
    expect(stderr).toMatch(/the message of [0-9a-f]{12}: it looks like it contains a secret/);
    const again = /if it is not a secret: (.*)$/m.exec(stderr)?.[1] ?? '';
    expect(world.run('sh', ['-c', again]).status).toBe(0);
  });

  it('for what does not go together', () => {
    commit('One');
    for (const words of [
      ['--title', '--format', 'markdown'],
      ['--format', 'pr', '--all'],
      ['--format', 'pr', '-o', 'x'],
    ])
      expect(world.handoff(['export', ...words]).status).toBe(2);
  });
});
