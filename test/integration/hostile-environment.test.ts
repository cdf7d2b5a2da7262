import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { GuardWorld, OWNER, markedNote } from '../support/guard.ts';
import { hostileCases } from '../support/hostile-cases.ts';
import { HostileWorld, type Output, type SettingCase } from '../support/hostile-world.ts';
import { readAnswer } from '../support/hook-answer.ts';
import { A, B } from '../support/sharing-world.ts';

const cases = hostileCases<SettingCase>('git-config-env.json').filter(({ env }) => env !== undefined);
const only = (...outcomes: readonly string[]) =>
  cases.filter(({ expect: wanted }) => outcomes.some((outcome) => wanted.startsWith(outcome)));

/** More variables of the same kinds, beyond the corpus. */
const FURTHER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  programs: {
    GIT_SSH: '@EVIL@',
    GIT_SSH_COMMAND: '@EVIL@',
    GIT_PROXY_COMMAND: '@EVIL@',
    SSH_ASKPASS: '@EVIL@',
    GIT_PAGER: '@EVIL@',
    PAGER: '@EVIL@',
    GIT_EDITOR: '@EVIL@',
    GIT_SEQUENCE_EDITOR: '@EVIL@',
    VISUAL: '@EVIL@',
    EDITOR: '@EVIL@',
    BROWSER: '@EVIL@',
    GIT_EXTERNAL_DIFF: '@EVIL@',
  },
  'settings by parameters': {
    GIT_CONFIG_PARAMETERS: `'core.fsmonitor'='@EVIL@' 'core.hookspath'='/nonexistent'`,
  },
  'one file for git config alone': { GIT_CONFIG: '/nonexistent' },
  pathspecs: { GIT_LITERAL_PATHSPECS: '1', GIT_NOGLOB_PATHSPECS: '1' },
  'pathspecs of the other kind': { GIT_GLOB_PATHSPECS: '1', GIT_ICASE_PATHSPECS: '1' },
  'output of diffs': { GIT_DIFF_OPTS: '-u0', GIT_MERGE_VERBOSITY: '5', GIT_PRINT_SHA1_ELLIPSIS: 'yes' },
  traces: {
    GIT_TRACE2: '1',
    GIT_TRACE2_EVENT: '1',
    GIT_TRACE_PACKET: '1',
    GIT_TRACE_SETUP: '1',
    GIT_CURL_VERBOSE: '1',
  },
  'another attribute source': { GIT_ATTR_SOURCE: 'HEAD', GIT_ATTR_NOSYSTEM: '1' },
  'what other git left': {
    GIT_REFLOG_ACTION: 'evil',
    GIT_NAMESPACE: 'other',
    GIT_ADVICE: '0',
  },
  'replaced objects': { GIT_REPLACE_REF_BASE: 'refs/heads/', GIT_NO_REPLACE_OBJECTS: '' },
  language: { LANG: 'de_DE.UTF-8', LANGUAGE: 'de', LC_MESSAGES: 'de_DE.UTF-8' },
};

let world: HostileWorld;
let plainBrief: readonly Output[];
beforeAll(() => {
  world = new HostileWorld({ calls: 'process' });
  world.save();
  plainBrief = world.brief();
});
beforeEach(() => world.restore());
afterAll(() => world.remove());

function filled(env: SettingCase['env'] = {}): Record<string, string> {
  const evil = join(world.root, 'evil.sh');
  writeFileSync(evil, `#!/bin/sh\ntouch ${world.canary('evil')}\n`);
  chmodSync(evil, 0o755);
  const fill = (text: string) =>
    text
      .replaceAll('@PWN@', world.canary('corpus'))
      .replaceAll('@EVIL@', evil)
      .replaceAll('@PATH@', world.env()['PATH'] ?? '');
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)]));
}

describe('a variable changes no output and no file', () => {
  it.each(only('same-', 'stdout-still', 'no-exec', 'no-prompt', 'works'))('$id $why', ({ id, env }) => {
    // GE091: the repository has programs with the names of those that we start.
    if (id === 'GE091') {
      for (const name of [
        'git',
        'node',
        'head',
        'timeout',
        'sh',
        'ps',
        'cat',
        'grep',
        'date',
        'readlink',
        'git-handoff',
      ]) {
        writeFileSync(join(world.path, name), `#!/bin/sh\ntouch ${world.canary(name)}\n`);
        chmodSync(join(world.path, name), 0o755);
        world.run('bash', ['-c', `echo /${name} >>.git/info/exclude`]);
      }
    }
    expect(world.brief(filled(env))).toEqual(plainBrief);
    expect(world.canaries()).toEqual([]);
  });

  it.each(Object.keys(FURTHER))('%s', (name) => {
    expect(world.brief(filled(FURTHER[name]))).toEqual(plainBrief);
    expect(world.canaries()).toEqual([]);
  });

  it('that names a program, in all verbs, events and hooks', () => {
    const plain = world.everything();
    world.restore();
    expect(world.everything(filled(FURTHER['programs']))).toEqual(plain);
    expect(world.canaries()).toEqual([]);
  });
});

describe('a variable that leads away from the repository', () => {
  it.each(only('clear-error'))('$id $why', ({ env = {} }) => {
    const [name = ''] = Object.keys(env);
    const views = [['list'], ['show', 'auth-refresh'], ['status']];
    for (const words of [...views, ['write', 'auth-refresh', '-m', 'x'], ['write', 'new-topic', '-m', 'x']]) {
      const { status, stderr } = world.bounded(words, { env, session: A });
      if (name === 'GIT_QUARANTINE_PATH' && words[0] !== 'write') {
        expect(status, stderr).toBe(0);
        continue;
      }
      expect({ words, status }).toEqual({ words, status: 7 });
      expect(stderr).toMatch(/^error: .*\nhint: unset \w+\n$/);
      expect(stderr).toContain(`hint: unset ${name}\n`);
    }
    const input = JSON.stringify({
      cwd: world.path,
      session_id: B,
      hook_event_name: 'SessionStart',
      source: 'startup',
    });
    expect(world.bounded(['guard', '--client', 'claude'], { env, input })).toMatchObject({
      status: 0,
      stderr: '',
    });
    expect(world.ok(['show', 'auth-refresh', '--raw'])).toBe('# Goal\n\nÜmläut of A');
  });

  it.each([
    ['no number', { GIT_CONFIG_COUNT: '1 (core.fsmonitor=touch x)' }],
    ['too few', { GIT_CONFIG_COUNT: '2', GIT_CONFIG_KEY_0: 'a.b', GIT_CONFIG_VALUE_0: 'c' }],
    ['garbage', { GIT_CONFIG_PARAMETERS: 'core.fsmonitor=touch x' }],
  ])('settings that git cannot read: %s', (_what, env) => {
    const { status, stderr } = world.bounded(['list'], { env });
    expect({ status, stderr }).toMatchObject({
      status: 7,
      stderr: expect.stringMatching(/^error: .*\nhint: .*\n$/) as string,
    });
  });
});

describe('these are no bypass', () => {
  let guarded: GuardWorld;
  beforeAll(() => {
    guarded = new GuardWorld({ calls: 'process' });
    guarded.sessionStart('sess-aaaaaaaa-1111');
  });
  afterAll(() => guarded.remove());
  const write = () => ({
    tool_name: 'Write',
    tool_input: { file_path: guarded.file, content: 'x' },
    session_id: 'sess-aaaaaaaa-1111',
    hook_event_name: 'PreToolUse',
  });

  it.each(only('deny'))('$id $why', ({ env }) => {
    expect(readAnswer(guarded.guard(write(), { env: env ?? {} }), 'PreToolUse').kind).toBe('deny');
  });

  it('GE102 a flag file that somebody else made in a folder for everybody', () => {
    for (const folder of [join(guarded.root, 'tmp'), '/tmp']) {
      const flag = join(folder, 'handoff-guard-bypass-handoff-main-auth-refresh.md');
      const isOurs = !existsSync(flag);
      if (isOurs) writeFileSync(flag, '');
      try {
        expect(readAnswer(guarded.guard(write()), 'PreToolUse').kind).toBe('deny');
      } finally {
        if (isOurs) rmSync(flag);
      }
    }
    expect(readFileSync(guarded.file, 'utf8')).toBe(markedNote(OWNER));
  });
});

describe('a log that is a FIFO', () => {
  it('GE104 delays nobody, in the repository or in the user’s folder', () => {
    const folders = [join(world.path, '.git', 'handoff'), join(world.home, '.local', 'state', 'git-handoff')];
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true });
      rmSync(join(folder, 'guard.log'), { force: true });
      world.run('mkfifo', [join(folder, 'guard.log')]);
    }
    const run = (input: string, env = {}) => world.bounded(['guard', '--client', 'claude'], { input, env });
    const payload = { session_id: B, hook_event_name: 'PreToolUse', tool_name: 'Write', cwd: world.path };
    const denied = run(
      JSON.stringify({ ...payload, tool_input: { file_path: join(world.path, 'src/a.ts') } }),
    );
    expect(readAnswer(denied, 'PreToolUse').kind).toBe('deny');
    // Failures are also logged in that folder: by Node, and by the launcher if it does not reach Node.
    expect(run('{"handoff')).toMatchObject({ status: 0, stdout: '' });
    expect(run(JSON.stringify({ ...payload, cwd: '/nonexistent', tool_input: {} }))).toMatchObject({
      status: 0,
    });
    for (const words of [['list'], ['doctor'], ['status']])
      expect([0, 1]).toContain(world.bounded(words).status);
    for (const folder of folders) rmSync(join(folder, 'guard.log'));
  });
});

describe('a repository of another user', () => {
  const isRoot = process.getuid?.() === 0;

  it.skipIf(!isRoot)('GE099 is not read, runs no program and stops nobody', () => {
    world.configure({ 'core.fsmonitor': `touch ${world.canary('fsmonitor')};:` });
    world.run('chown', ['-R', 'nobody', world.path]);
    try {
      for (const { call, status, stdout, stderr } of world.brief()) {
        if (/^(?:tree|message) of /.test(call)) continue;
        if (call.startsWith('SessionStart') || call.startsWith('PreToolUse')) {
          expect({ call, status, stdout, stderr }).toEqual({ call, status: 0, stdout: '', stderr: '' });
        } else {
          expect({ call, status }).toEqual({ call, status: 7 });
          expect(stderr).toMatch(/^error: .*dubious ownership.*\nhint: read the safe\.directory entry/);
        }
      }
    } finally {
      world.run('chown', ['-R', 'root', world.path]);
    }
    expect(world.canaries()).toEqual([]);
    expect(readdirSync(world.pwned)).toEqual([]);
  });
});
