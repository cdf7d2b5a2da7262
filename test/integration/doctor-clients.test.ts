import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LAUNCHER, TestRepository } from '../support/repository.ts';

const CLIENTS = {
  claude: join('.claude', 'settings.json'),
  codex: join('.codex', 'hooks.json'),
  gemini: join('.gemini', 'settings.json'),
  qwen: join('.qwen', 'settings.json'),
  cursor: join('.cursor', 'hooks.json'),
  copilot: join('.copilot', 'hooks', 'git-handoff.json'),
} as const;
type Client = keyof typeof CLIENTS;
const NAMES = Object.keys(CLIENTS) as Client[];

let repo: TestRepository;
beforeEach(() => {
  repo = new TestRepository();
});
afterEach(() => repo.remove());

const settings = (client: Client) => join(repo.home, CLIENTS[client]);
const clientLines = (client: Client, env: Record<string, string | undefined> = {}) =>
  repo.json(['doctor'], { env }).items.filter((item) => item['check'] === `hooks (${client})`);
const edit = (path: string, change: (text: string) => string) =>
  writeFileSync(path, change(readFileSync(path, 'utf8')));

function put(path: string, text: string, mode = 0o755): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, mode);
}

describe.each(NAMES)('hooks of %s', (client) => {
  const init = () => repo.ok(['init', '--yes', '--client', client]);

  it('are reached with a payload of its own, in each scope', () => {
    init();
    repo.ok(['init', '--yes', '--client', client, '--project']);
    // Codex starts a login shell, and the system's profile may change PATH.
    put(join(repo.home, '.profile'), `PATH='${repo.env()['PATH'] ?? ''}'\n`, 0o644);
    expect(clientLines(client).slice(0, 2)).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
    const log = readFileSync(join(repo.path, '.git', 'handoff', 'guard.log'), 'utf8')
      .trimEnd()
      .split('\n');
    const event = client === 'gemini' ? 'BeforeTool' : client === 'cursor' ? 'preToolUse' : 'PreToolUse';
    for (const line of log) expect(JSON.parse(line)).toMatchObject({ client, event, kind: 'probe' });
  });

  it('that call the guard for another client are reported', () => {
    init();
    const other = client === 'claude' ? 'codex' : 'claude';
    edit(settings(client), (text) => text.replaceAll(`--client ${client}`, `--client ${other}`));
    // The payloads of Cursor and Copilot CLI are recognised even under another client's name.
    const isKnown = client === 'cursor' || client === 'copilot';
    expect(clientLines(client)).toMatchObject([{ status: isKnown ? 'ok' : 'problem' }]);
  });

  it('in a broken file are reported, and the file stays as it is', () => {
    init();
    edit(settings(client), (text) => text.replace(/\}\s*$/, ''));
    const broken = readFileSync(settings(client));
    const items = clientLines(client);
    expect(items).toMatchObject([{ status: 'problem' }]);
    expect(items[0]?.['detail']).toContain(`${settings(client)} is not valid JSON`);
    expect(repo.handoff(['init', '--yes', '--client', client]).status).toBe(2);
    expect(readFileSync(settings(client))).toEqual(broken);
  });

  it('that miss an event are reported', () => {
    init();
    const events = { gemini: 'AfterTool', cursor: 'postToolUse' } as Partial<Record<Client, string>>;
    const event = events[client] ?? 'PostToolUse';
    edit(settings(client), (text) => text.replace(`"${event}"`, '"Elsewhere"'));
    expect(clientLines(client)).toMatchObject([
      { status: 'ok' },
      { status: 'warning', detail: expect.stringContaining(` ${event}: `) as string },
    ]);
  });
});

// A registered line has one of two forms; these clients have one each.
describe.each(['claude', 'copilot'] as const)('hooks of %s', (client) => {
  const init = () => repo.ok(['init', '--yes', '--client', client]);

  it('whose package is gone are reported, and the hint mends them', () => {
    init();
    const command = (text: string) => text.replaceAll(LAUNCHER, '/gone/bin/git-handoff');
    edit(settings(client), command);
    const [item] = clientLines(client);
    expect(item).toMatchObject({ status: 'problem' });
    expect(item?.['detail']).toContain('the package is not at /gone/bin/git-handoff any more');
    const typed = String(item?.['hint']).replace('init', 'init --yes');
    expect(repo.run('sh', ['-c', typed]).status).toBe(0);
    expect(clientLines(client)).toMatchObject([{ status: 'ok' }]);
  });

  it('whose launcher is not executable are reported', () => {
    init();
    const launcher = join(repo.root, 'package', 'bin', 'git-handoff');
    put(launcher, '#!/bin/sh\n', 0o644);
    edit(settings(client), (text) => text.replaceAll(LAUNCHER, launcher));
    expect(clientLines(client)[0]?.['detail']).toContain(`${launcher} is not executable`);
  });

  it('of a project are reported if our program is not on PATH, or another one is', () => {
    repo.ok(['init', '--yes', '--client', client, '--project']);
    const doctor = (PATH: string) =>
      (
        JSON.parse(repo.run(LAUNCHER, ['doctor', '--json'], { env: { PATH } }).stdout) as {
          items: Record<string, string>[];
        }
      ).items.filter((item) => item['check'] === `hooks (${client})`);
    const PATH = (repo.env()['PATH'] ?? '').replace(`${dirname(LAUNCHER)}:`, '');
    expect(doctor(PATH)[0]?.['detail']).toContain('git-handoff is not on PATH');
    const foreign = join(repo.root, 'foreign');
    put(join(foreign, 'git-handoff'), '#!/bin/sh\nexit 1\n');
    expect(doctor(`${foreign}:${PATH}`)[0]).toMatchObject({ status: 'problem' });
    expect(doctor(`${foreign}:${PATH}`)[0]?.['detail']).toContain('is another program');
  });

  it('are reported while GIT_HANDOFF=off', () => {
    init();
    expect(clientLines(client, { GIT_HANDOFF: 'off' })[0]?.['detail']).toContain('GIT_HANDOFF=off is set');
  });
});

describe('settings that switch hooks off', () => {
  it.each<[Client, string, string]>([
    ['claude', join('.claude', 'settings.local.json'), '{"disableAllHooks": true}'],
    ['gemini', join('.gemini', 'settings.json'), '{"hooksConfig": {"enabled": false}}'],
    ['gemini', join('.gemini', 'settings.json'), '{"hooksConfig": {"disabled": ["git-handoff"]}}'],
    ['qwen', join('.qwen', 'settings.json'), '{"disableAllHooks": true}'],
    ['copilot', join('.github', 'copilot', 'settings.json'), '{"disableAllHooks": true}'],
  ])('of %s in %s are told', (client, file, text) => {
    repo.ok(['init', '--yes', '--client', client]);
    expect(clientLines(client)).toMatchObject([{ status: 'ok' }]);
    put(join(repo.path, file), text, 0o644);
    const items = clientLines(client);
    expect(items).toMatchObject([{ status: 'ok' }, { status: 'problem' }]);
    expect(items[1]?.['detail']).toContain(join(repo.path, file));
  });
});

it('a login shell that sets another PATH is reported for a client that starts one', () => {
  repo.ok(['init', '--yes', '--client', 'codex', '--project']);
  put(join(repo.home, '.profile'), 'PATH=/usr/bin:/bin\n', 0o644);
  expect(clientLines('codex')[0]).toMatchObject({ status: 'problem' });
  expect(clientLines('codex')[0]?.['detail']).toContain('your login shell sets a PATH without git-handoff');
});

it('a shell that cannot read our line is reported if the client uses the user’s own shell', () => {
  repo.ok(['init', '--yes', '--client', 'codex']);
  const SHELL = join(repo.root, 'no-posix-shell');
  put(SHELL, '#!/bin/sh\nexit 127\n');
  expect(clientLines('codex', { SHELL })[0]).toMatchObject({ status: 'problem' });
  expect(clientLines('codex', { SHELL })[0]?.['detail']).toContain(`exit status 127 of ${SHELL}`);
});

describe('another program called git-handoff', () => {
  const programs = (PATH: string) =>
    repo
      .json(['doctor'], { env: { PATH } })
      .items.filter((item) => item['check'] === 'program')
      .map(({ status, detail }) => `${String(status)} ${String(detail)}`);
  const path = () => repo.env()['PATH'] ?? '';
  const folder = () => join(repo.root, 'other tools');
  const trace = () => join(repo.root, 'ran');

  beforeEach(() => repo.ok(['init', '--yes']));

  it('is recognised by its bytes: a compiled one is never run', () => {
    // Like a compiled program, the file has no `#!`. If it were run, the C library would pass it to sh, and leave a trace.
    put(join(folder(), 'git-handoff'), `echo ran >>'${trace()}'\necho git-handoff version 1\n`);
    const found = programs(`${path()}:${folder()}`);
    expect(found).toEqual([expect.stringMatching(/^warning .*other tools.*after ours/)]);
    expect(existsSync(trace())).toBe(false);
  });

  it('first on PATH is a problem', () => {
    put(join(folder(), 'git-handoff'), `#!/bin/sh\necho "$*" >>'${trace()}'\necho usage\n`);
    const PATH = `${folder()}:${path()}`;
    const run = repo.run(LAUNCHER, ['doctor', '--json'], { env: { PATH } });
    const { items } = JSON.parse(run.stdout) as { items: Record<string, string>[] };
    expect(items.find((item) => item['check'] === 'program')).toMatchObject({ status: 'problem' });
    expect(readFileSync(trace(), 'utf8')).toBe('--version\n');
  });

  it.each([
    ['that never ends', '#!/bin/sh\nexec sleep 60\n'],
    ['that cannot be started', '#!/nonexistent\n'],
  ])('%s does not hold doctor up', (_, text) => {
    put(join(folder(), 'git-handoff'), text);
    const begin = performance.now();
    expect(programs(`${path()}:${folder()}`)).toHaveLength(1);
    expect(performance.now() - begin).toBeLessThan(10_000);
  });

  it('a link to ours, and a script that starts ours, are ours', () => {
    put(join(folder(), 'git-handoff'), `#!/bin/sh\nexec '${LAUNCHER}' "$@"\n`);
    expect(programs(`${folder()}:${path()}`)).toEqual([]);
    repo.run('ln', ['-sf', LAUNCHER, join(folder(), 'git-handoff')]);
    expect(programs(`${folder()}:${path()}`)).toEqual([]);
  });

  it('in a relative folder of PATH is ignored', () => {
    put(join(repo.path, 'git-handoff'), `#!/bin/sh\necho >>'${trace()}'\n`);
    expect(programs(`.:${path()}`)).toEqual([]);
    expect(existsSync(trace())).toBe(false);
  });
});

describe('the Node that hooks are started with', () => {
  it('is gone: this is reported, and init stores the one that runs', () => {
    repo.ok(['init', '--yes']);
    const stored = join(repo.home, '.local', 'state', 'git-handoff', 'node');
    const node = () => repo.json(['doctor']).items.filter((item) => item['check'] === 'node');
    expect(node()).toEqual([]);
    writeFileSync(stored, '/gone/node\n');
    expect(node()).toMatchObject([{ status: 'warning', hint: 'git handoff init' }]);
    repo.ok(['init', '--yes']);
    expect(node()).toEqual([]);
  });
});

it('settings that another program broke, with nothing of ours left, are reported as broken', () => {
  repo.ok(['init', '--yes']);
  writeFileSync(settings('claude'), '{"hooks": {');
  const [item] = clientLines('claude');
  expect(item).toMatchObject({ status: 'problem', hint: 'fix that file, then run: git handoff doctor' });
  expect(item?.['detail']).toContain(`${settings('claude')} is not valid JSON`);
});

it('settings with comments are read as Gemini CLI reads them', () => {
  put(settings('gemini'), '{\n  // mine\n  "theme": "dark"\n}\n', 0o600);
  repo.ok(['init', '--yes', '--client', 'gemini']);
  expect(readFileSync(settings('gemini'), 'utf8')).toContain('// mine');
  expect(clientLines('gemini')).toMatchObject([{ status: 'ok' }]);
});
