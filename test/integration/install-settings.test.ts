import { lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileReceipt, formatReceipt, mergeReceipt, parseReceipt } from '../../src/install/changes.ts';
import { installerOf } from '../../src/install/choose-clients.ts';
import type { InstallScope } from '../../src/install/guard-command.ts';
import { markedBlock } from '../../src/install/hook-block.ts';
import { World } from './install-world.ts';

const FOREIGN = '{ "matcher": "Bash", "hooks": [ { "type": "command", "command": "echo caf\\u00e9 é" } ] }';

const SHAPES: Record<string, string | undefined> = {
  'no file': undefined,
  'empty file': '',
  'blank lines': ' \n\n',
  'empty object': '{}',
  'empty object with a line feed': '{}\n',
  'open empty object': '{\n}\n',
  'other keys, two blanks': '{\n  "model": "x",\n  "env": {\n    "A": "1"\n  }\n}\n',
  'no line feed at the end': '{\n  "model": "x"\n}',
  'four blanks': '{\n    "model": "x"\n}\n',
  tabs: '{\n\t"model": "x",\n\t"hooks": {\n\t\t"Stop": []\n\t}\n}\n',
  'one line': '{"model":"x","hooks":{"Stop":[]}}',
  CRLF: '{\r\n  "model": "x",\r\n  "hooks": {}\r\n}\r\n',
  'byte order mark': '\u{feff}{\n  "model": "é"\n}\n',
  'byte order mark alone': '\u{feff}',
  'hooks of others': `{\n  "hooks": {\n    "PreToolUse": [\n      ${FOREIGN}\n    ],\n    "Stop": [${FOREIGN},\n${FOREIGN}]\n  }\n}\n`,
  'a hook of every event': `{"hooks":{"SessionStart":[${FOREIGN}],"SessionEnd":[],"Stop":[],"SubagentStart":[],"SubagentStop":[],"PreToolUse":[ ],"PostToolUse":[\n],"PostToolUseFailure":[]}}`,
};

let world: World;
beforeEach(() => {
  world = new World();
  world.commit('first');
});
afterEach(() => world.remove());

function settingsPath(scope: InstallScope): string {
  if (scope === 'user') return join(world.home, '.claude', 'settings.json');
  return join(world.repository, '.claude', scope === 'project' ? 'settings.json' : 'settings.local.json');
}

interface Group {
  matcher?: string;
  hooks: { type: string; command: string; timeout: number }[];
}

function settings(path: string): { hooks: Record<string, Group[]> } {
  const text = readFileSync(path, 'utf8').replace(/^\u{feff}/u, '');
  return JSON.parse(text) as { hooks: Record<string, Group[]> };
}

/** `event matcher` of every registration of ours. */
function registrations(path: string): string[] {
  return Object.entries(settings(path).hooks).flatMap(([event, groups]) =>
    groups
      .filter((group) => group.hooks.some((hook) => hook.command.includes('guard --client claude')))
      .map((group) => `${event} ${group.matcher ?? ''}`.trim()),
  );
}

const TOOLS = '^(Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell|ExitWorktree|monitor|mcp__.*)$';
const EXPECTED = [
  `PostToolUse ${TOOLS}`,
  'PostToolUseFailure Bash',
  'PreCompact',
  `PreToolUse ${TOOLS}`,
  'SessionEnd',
  'SessionStart',
  'Stop',
  'SubagentStart',
  'SubagentStop',
  'UserPromptSubmit',
];

/** The shapes to try in both scopes: a scope only decides where the file is, not how it is edited. */
const IN_EACH_SCOPE = ['no file', 'hooks of others'];

describe.each(Object.entries(SHAPES))('settings: %s', (name, shape) => {
  const scopes = ['user', 'project'] as const;
  it.each(IN_EACH_SCOPE.includes(name) ? scopes : scopes.slice(0, 1))(
    '%s scope: init three times, uninstall, every byte',
    async (scope) => {
      const path = settingsPath(scope);
      if (shape !== undefined) world.write(path, shape, 0o640);
      const before = world.snapshot();

      expect((await world.init({ scope })).outcome).toBe('applied');
      expect(registrations(path).sort()).toEqual(EXPECTED);
      const installed = world.snapshot();
      for (let round = 2; round <= 3; round++) {
        expect((await world.init({ scope })).outcome).toBe('unchanged');
        expect(world.snapshot()).toEqual(installed);
      }

      expect((await world.uninstall()).outcome).toBe('applied');
      expect(world.snapshot()).toEqual(before);
      expect((await world.uninstall()).outcome).toBe('unchanged');
    },
  );
});

describe('settings that were edited after init', () => {
  it.each([
    ['{\n  "model": "x"\n}\n', (text: string) => text.replace('"x"', '"y"'), '{\n  "model": "y"\n}\n'],
    ['{}', (text: string) => text.replace(/\n\}$/, ',\n  "model": "y"\n}'), '{\n  "model": "y"\n}'],
    [undefined, (text: string) => text.replace(/^\{/, '{ "model": "y",'), '{ "model": "y"\n}\n'],
    [undefined, (text: string) => JSON.stringify(JSON.parse(text)), undefined],
  ])('%j: uninstall takes our entries out and nothing else', async (before, edit, after) => {
    const path = settingsPath('user');
    if (before !== undefined) world.write(path, before);
    await world.init();
    writeFileSync(path, edit(readFileSync(path, 'utf8')));
    await world.uninstall();
    if (after === undefined) expect(world.snapshot()).not.toHaveProperty([path.slice(world.root.length)]);
    else expect(readFileSync(path, 'utf8')).toBe(after);
  });

  it('keeps a hook that a person added to our own group', async () => {
    const path = settingsPath('user');
    await world.init();
    const edited = settings(path);
    edited.hooks['Stop']?.[0]?.hooks.push({ type: 'command', command: 'mine', timeout: 1 });
    writeFileSync(path, JSON.stringify(edited));
    await world.uninstall();
    expect(settings(path)).toEqual({
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'mine', timeout: 1 }] }] },
    });
  });

  it('updates an older form of our entry, and still restores every byte', async () => {
    const path = settingsPath('user');
    world.write(path, '{\n  "model": "x"\n}\n');
    const before = world.snapshot();
    await world.init({}, undefined, { packageRoot: `${world.root}/old/git-handoff` });
    expect(readFileSync(path, 'utf8')).toContain('/old/git-handoff');
    expect((await world.init()).outcome).toBe('applied');
    expect(readFileSync(path, 'utf8')).not.toContain('/old/git-handoff');
    expect(registrations(path).sort()).toEqual(EXPECTED);
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
  });

  it('adds an event that an older release did not register, and still restores every byte', async () => {
    const path = settingsPath('user');
    world.write(path, '{\n  "model": "x"\n}\n');
    const before = world.snapshot();
    await world.init();
    const { PreCompact, ...hooks } = settings(path).hooks;
    expect(PreCompact).toHaveLength(1);
    writeFileSync(path, JSON.stringify({ ...settings(path), hooks }));
    expect((await world.init()).outcome).toBe('applied');
    expect(registrations(path).sort()).toEqual(EXPECTED);
    await world.uninstall();
    expect(settings(path)).toEqual({ model: 'x' });
    expect(Object.keys(world.snapshot())).toEqual(Object.keys(before));
  });

  it('leaves settings that are broken, says so, and removes the rest', async () => {
    const path = settingsPath('user');
    world.write(path, '{}');
    await world.init();
    writeFileSync(path, '{ oops');
    const result = await world.uninstall();
    expect(result.notices.join('\n')).toContain(`${path}: not valid JSON`);
    expect(readFileSync(path, 'utf8')).toBe('{ oops');
    expect(world.git(['config', '--list', '--local'])).not.toContain('handoff');
  });
});

describe('settings that cannot be edited safely', () => {
  it.each(['{ "a": 1, }', '// note\n{}', '[]', '"x"', '{"hooks": []}', '{"hooks": {"Stop": {}}}', '{'])(
    '%s: exit 2, nothing changed',
    async (text) => {
      world.write(settingsPath('user'), text);
      const before = world.snapshot();
      await expect(world.init()).rejects.toMatchObject({
        code: 'usage',
        hint: expect.stringContaining('git handoff init') as string,
      });
      expect(world.snapshot()).toEqual(before);
    },
  );
});

describe('the settings file', () => {
  it('stays a link if it is one, and keeps its mode', async () => {
    const path = settingsPath('user');
    const real = join(world.home, 'dotfiles', 'claude.json');
    world.write(real, '{}\n', 0o600);
    world.write(join(path, '..', 'other'), '');
    symlinkSync('../dotfiles/claude.json', path);
    const before = world.snapshot();
    await world.init();
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(registrations(real)).toHaveLength(EXPECTED.length);
    expect(lstatSync(real).mode & 0o777).toBe(0o600);
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
  });

  it('of --project is not followed out of the working tree', async () => {
    const scope = 'project';
    const path = settingsPath(scope);
    const outside = join(world.home, 'mine.json');
    world.write(outside, '{}\n');
    for (const [link, target] of [
      [path, outside],
      [path, join(world.home, 'not there')],
      [path, join(world.repository, '.git', 'config')],
      [dirname(path), world.home],
    ] as const) {
      rmSync(dirname(path), { recursive: true, force: true });
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(target, link);
      const before = world.snapshot();
      await expect(world.init({ scope })).rejects.toMatchObject({
        code: 'environment',
        message: expect.stringContaining('leads out of the working tree') as unknown,
      });
      expect(world.snapshot()).toEqual(before);
    }
    rmSync(dirname(path), { recursive: true, force: true });
    world.write(join(world.repository, 'shared', 'claude.json'), '{}\n');
    mkdirSync(dirname(path));
    symlinkSync('../shared/claude.json', path);
    await world.init({ scope });
    expect(registrations(join(world.repository, 'shared', 'claude.json'))).toHaveLength(EXPECTED.length);
  });

  it('is where CLAUDE_CONFIG_DIR says', async () => {
    const env = { ...world.env, CLAUDE_CONFIG_DIR: join(world.home, 'elsewhere') };
    await world.init({}, undefined, { env });
    expect(registrations(join(world.home, 'elsewhere', 'settings.json'))).toHaveLength(EXPECTED.length);
  });

  it('warns when disableAllHooks is set', async () => {
    world.write(settingsPath('user'), '{"disableAllHooks": true}');
    expect((await world.init()).notices.join()).toContain('disableAllHooks');
  });

  it('project scope needs a working tree', async () => {
    const bare = join(world.root, 'bare.git');
    world.git(['init', '-q', '--bare', bare], world.root);
    await expect(world.init({ scope: 'project' }, bare)).rejects.toMatchObject({ code: 'usage' });
  });

  it('of the former option --local are restored to the byte, and so is info/exclude', async () => {
    const exclude = join(world.repository, '.git', 'info', 'exclude');
    world.write(exclude, '*.log\n');
    const before = world.snapshot();
    await world.init({ clients: ['none'] });
    const launcher = join(world.packageRoot, 'bin', 'git-handoff');
    const ours = {
      [settingsPath('local')]: installerOf('claude').register('', 'local', launcher),
      [exclude]: `*.log\n${markedBlock(['/.claude/settings.local.json'])}`,
    };
    const receiptPath = join(world.repository, '.git', 'handoff', 'install.json');
    const receipt = parseReceipt(readFileSync(receiptPath), receiptPath);
    const files = Object.entries(ours).map(([path, text]) => {
      const former = path === exclude ? Buffer.from('*.log\n') : Buffer.alloc(0);
      const role = path === exclude ? ('exclude' as const) : ('settings' as const);
      const file = {
        path,
        role,
        existed: path === exclude,
        ...(path === exclude ? {} : { client: 'claude' }),
      };
      return fileReceipt(file, former, Buffer.from(text));
    });
    const folders = [dirname(settingsPath('local'))];
    writeFileSync(receiptPath, formatReceipt(mergeReceipt(receipt, files, folders)));
    for (const [path, text] of Object.entries(ours)) world.write(path, text);
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
  });
});

describe('the registered command', () => {
  const command = (scope: InstallScope) =>
    settings(settingsPath(scope)).hooks['Stop']?.[0]?.hooks[0]?.command ?? '';

  it.each(['plain', 'it\'s a "test" $HOME `x`', 'line\nfeed', 'ü \\'])(
    'survives a package in a folder named %j',
    async (name) => {
      world.remove();
      world = new World(name);
      await world.init();
      expect(world.shell(command('user'))).toEqual({ status: 0, output: '' });
      expect(world.calls()).toEqual(['guard guard --client claude']);
      await world.init({ scope: 'project' });
      const path = `${join(world.packageRoot, 'bin')}:${process.env['PATH'] ?? ''}`;
      expect(world.shell(command('project'), { PATH: path })).toEqual({ status: 0, output: '' });
      expect(world.calls()).toEqual(['guard guard --client claude']);
    },
  );

  it.each(['user', 'project'] as const)('%s scope: exits 0 in silence without the package', async (scope) => {
    await world.init({ scope }, undefined, { packageRoot: join(world.root, 'gone', 'git-handoff') });
    expect(world.shell(command(scope))).toEqual({ status: 0, output: '' });
  });

  it('has a short time limit and matches exactly the tools that can write', async () => {
    await world.init();
    const [group] = settings(settingsPath('user')).hooks['PreToolUse'] ?? [];
    expect(group?.hooks[0]).toMatchObject({ type: 'command', timeout: 10 });
    const matcher = new RegExp(group?.matcher ?? '');
    for (const tool of ['Write', 'Edit', 'Bash', 'Monitor', 'mcp__files__write_file'])
      expect(tool).toMatch(matcher);
    for (const tool of ['Read', 'TodoWrite', 'BashOutput', 'Glob', 'x_mcp__y'])
      expect(tool).not.toMatch(matcher);
  });
});
