import { chmodSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Run, TestRepository } from '../support/repository.ts';
import { SECRETS, TOKEN, TOKEN_RULE } from '../support/secrets.ts';

const SESSION = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
const NOTE = `# Goal\n\nThe runner has ${TOKEN} now.\n`;
const REF = 'refs/handoffs/main/auth-refresh';

let world: TestRepository;
beforeEach(() => {
  world = new TestRepository();
});
afterEach(() => world.remove());

/** Every byte of every object, reachable or not. */
const objects = () => world.run('git', ['cat-file', '--batch-all-objects', '--batch']).bytes;
const write = (args: readonly string[] = [], input = NOTE, env = {}) =>
  world.handoff(['write', 'auth-refresh', ...args], { input, session: SESSION, env });
const message = (ref = REF) => world.git(['log', '-1', '--format=%B', ref]);
const refs = () =>
  world.git(['for-each-ref', '--format=%(refname)', 'refs/handoffs', 'refs/handoffs-local/lost']);

/** The file that a refusal names; it holds the text, and only its owner can read it. */
function keptFile({ stderr }: Run): string {
  const file = /; your text is kept in (\S+), which only you can read/.exec(stderr)?.[1] ?? '';
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700);
  return file;
}

function expectRefused(done: Run, secret = TOKEN): string {
  expect(done.status).toBe(1);
  expect(done.stdout).toBe('');
  expect(done.stderr).not.toContain(secret.slice(0, 5));
  expect(objects().includes(secret)).toBe(false);
  expect(refs()).toBe('');
  return keptFile(done);
}

describe('a note with a secret', () => {
  it('is refused with rule and line, and kept in a file but in no object of the repository', () => {
    const done = write();
    const file = expectRefused(done);
    expect(readFileSync(file, 'utf8')).toBe(NOTE);
    expect(done.stderr).toContain(`line 3: ${TOKEN_RULE}, ghp_… (40 characters)`);
  });

  it('can be corrected and written by the first command of the hint', () => {
    const done = write(['--take', '--tag', 'ci', '--reference', '#12']);
    const file = expectRefused(done);
    writeFileSync(file, NOTE.replace(TOKEN, 'a token'));
    const again = /then: git (handoff write [^;]+);/.exec(done.stderr)?.[1] ?? '';
    const second = world.run('sh', ['-c', `git-${again}`], {
      session: SESSION,
    });
    expect(second.stderr).toBe('');
    expect(second.status).toBe(0);
    expect(world.ok(['show', 'auth-refresh', '--raw'])).toContain('tags:');
    expect(message()).not.toContain('Handoff-Secret-Allowed');
  });

  it('is written by the second command of the hint, and the commit says so', () => {
    const done = write(['--expect', 'none']);
    expectRefused(done);
    const again = /if it is not a secret: git (handoff write .+)/.exec(done.stderr)?.[1] ?? '';
    const second = world.run('sh', ['-c', `git-${again}`], { session: SESSION });
    expect(second.stderr).toBe('');
    expect(message()).toMatch(new RegExp(`^Handoff-Secret-Allowed: ${TOKEN_RULE}$`, 'm'));
    expect(world.json(['show', 'auth-refresh'])['secretAllowed']).toEqual([TOKEN_RULE]);
    expect(world.ok(['log', 'auth-refresh'])).toContain('create, secret allowed');
  });

  it('keeps its record when it is closed and taken, and loses it with the next text', () => {
    expect(write(['--allow-secret']).status).toBe(0);
    world.ok(['close', 'auth-refresh'], { session: SESSION });
    world.ok(['take', 'auth-refresh'], { session: OTHER });
    const items = world.json(['log', 'auth-refresh']).items;
    expect(items.map((item) => item['secretAllowed'])).toEqual([[TOKEN_RULE], [TOKEN_RULE], [TOKEN_RULE]]);
    world.ok(['write', 'auth-refresh', '-m', 'fine'], { session: OTHER });
    expect(world.json(['show', 'auth-refresh'])['secretAllowed']).toEqual([]);
  });

  it('is an error of its own in JSON, without the secret', () => {
    const { error } = world.json(['write', 'auth-refresh', '-m', TOKEN], { session: SESSION });
    expect(error).toMatchObject({ code: 'secret', lostRef: null });
    expect(JSON.stringify(error)).not.toContain(TOKEN.slice(0, 5));
  });

  it.each([
    ['from a file', (file: string) => ['--file', file], ''],
    ['by -m', () => ['-m', 'the goal', '-m', `use ${TOKEN}`], ''],
    ['for another owner', () => ['--take', '-m', TOKEN], ''],
  ])('is refused %s', (_name, args) => {
    const file = join(world.root, 'note.md');
    writeFileSync(file, NOTE);
    expectRefused(write(args(file), ''));
  });

  it('is refused for the secret even if it is too long, or its front matter is wrong', () => {
    expectRefused(write([], `${TOKEN}\n${'a\n'.repeat(600_000)}`));
    expectRefused(write([], `---\nschema_version: "9"\nfrom: [\n---\n${TOKEN}\n`));
  });

  it('is refused for a secret in an option for its front matter; the hint leaves that option out', () => {
    const done = write(['--tag', 'ci', '--reference', TOKEN], '# Goal\n');
    const file = expectRefused(done);
    expect(readFileSync(file, 'utf8')).toBe('# Goal\n');
    expect(done.stderr).not.toContain('--reference');
  });

  it('never becomes an object, even if it was refused because of the owner', () => {
    world.ok(['write', 'auth-refresh', '-m', 'mine'], { session: OTHER });
    const done = write();
    expect(done.status).toBe(1);
    keptFile(done);
    expect(objects().includes(TOKEN)).toBe(false);
  });

  it('is refused after the editor, and the text is kept', () => {
    const editor = join(world.root, 'editor.sh');
    writeFileSync(editor, `#!/bin/sh\nprintf 'Goal: use %s\\n' "$SECRET" >"$1"\n`);
    chmodSync(editor, 0o755);
    const command = `GIT_EDITOR='${editor}' git-handoff write auth-refresh`;
    const done = world.atTerminal(command, { env: { SECRET: TOKEN } });
    expect(done.status).toBe(1);
    expect(objects().includes(TOKEN)).toBe(false);
    const folders = readdirSync(join(world.root, 'tmp')).filter((name) => name.startsWith('git-handoff'));
    expect(folders).toHaveLength(1);
    const file = join(world.root, 'tmp', folders[0]!, 'handoff.md');
    expect(readFileSync(file, 'utf8')).toBe(`Goal: use ${TOKEN}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(done.stdout).toContain(file);
  });
});

describe('handoff.secretScan', () => {
  it('warn: the note is written, with a notice and without a record', () => {
    world.git(['config', 'handoff.secretScan', 'warn']);
    const done = write();
    expect(done.status).toBe(0);
    expect(done.stderr).toMatch(/^notice: .*line 3: github\/GITHUB_TOKEN/m);
    expect(done.stderr).not.toContain(TOKEN.slice(0, 5));
    expect(message()).not.toContain('Handoff-Secret-Allowed');
  });

  it('off: the note is written silently', () => {
    world.git(['config', 'handoff.secretScan', 'off']);
    expect(write()).toMatchObject({ status: 0, stderr: '' });
  });

  it.each(['', 'nonsense', 'false'])('%j is the default, deny', (value) => {
    world.git(['config', 'handoff.secretScan', value]);
    expectRefused(write());
  });
});

describe('--allow-secret', () => {
  it('records nothing for a note without one', () => {
    expect(write(['--allow-secret'], '# Goal\n').status).toBe(0);
    expect(message()).not.toContain('Handoff-Secret-Allowed');
  });

  it('records each rule once', () => {
    const text = `${TOKEN}\n${TOKEN}\n${SECRETS['slack/SLACK_TOKEN']}\n`;
    expect(write(['--allow-secret'], text).status).toBe(0);
    expect(message()).toContain(`Handoff-Secret-Allowed: ${TOKEN_RULE}, slack/SLACK_TOKEN\n`);
  });
});

describe('import', () => {
  const importing = (...args: string[]) =>
    world.handoff(['import', 'bad.md', 'good.md', ...args], { session: SESSION });
  beforeEach(() => {
    writeFileSync(join(world.path, 'bad.md'), `# Use ${TOKEN}\n\n${TOKEN}\n`);
    writeFileSync(join(world.path, 'good.md'), '# Token refresh\n\nThe retry test is red.\n');
  });

  it('leaves out the file that holds a secret, and imports the rest', () => {
    const done = importing();
    expect(done.status).toBe(1);
    expect(done.stdout + done.stderr).not.toContain(TOKEN.slice(0, 5));
    expect(done.stdout.toLowerCase()).not.toContain(TOKEN.slice(4, 12).toLowerCase());
    expect(refs().split('\n')).toContain('refs/handoffs/main/token-refresh');
    expect(objects().includes(TOKEN)).toBe(false);
    expect(importing('--dry-run').status).toBe(1);
  });

  it('imports it with the command of the hint, and the commit says so', () => {
    const again = /if it is not a secret: git (handoff import .+)/.exec(importing().stderr)?.[1] ?? '';
    const second = world.run('sh', ['-c', `git-${again}`], { session: SESSION });
    expect(second.stderr).toBe('');
    const all = world.git(['log', '--all', '--format=%B', '--glob=refs/handoffs']);
    expect(all.match(/^Handoff-Secret-Allowed: github\/GITHUB_TOKEN$/gm)).toHaveLength(1);
    expect(importing().status).toBe(0);
  });

  it('warns, or says nothing, as it is set', () => {
    world.git(['config', 'handoff.secretScan', 'warn']);
    expect(importing()).toMatchObject({ status: 0, stderr: expect.stringContaining('line 1') as string });
    rmSync(join(world.path, 'good.md'));
    world.git(['config', 'handoff.secretScan', 'off']);
    expect(world.handoff(['import', 'bad.md', '--topic', 'other-topic'])).toMatchObject({ stderr: '' });
  });
});
