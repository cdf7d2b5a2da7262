import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InstallScope } from '../../src/install/guard-command.ts';
import { World } from './install-world.ts';

const FOREIGN = '{ "matcher": "x", "hooks": [ { "type": "command", "command": "echo caf\\u00e9 é" } ] }';

const SHAPES: Record<string, string | undefined> = {
  'no file': undefined,
  'empty file': '',
  'empty object': '{}',
  'other keys, four blanks':
    '{\n    "general": { "vimMode": true },\n    "hooksConfig": { "notifications": false }\n}\n',
  'tabs, no line feed at the end': '{\n\t"model": "é"\n}',
  CRLF: '{\r\n  "hooks": {}\r\n}\r\n',
  'hooks of others': `{"hooks":{"SessionStart":[${FOREIGN}],\n"PreToolUse":[ ],"BeforeTool":[${FOREIGN}]}}`,
};

const QWEN_TOOLS = '^(write_file|edit|notebook_edit|run_shell_command|monitor|exit_worktree|mcp__.*)$';
const CURSOR_TOOLS = 'Shell|Write|Edit|MultiEdit|StrReplace|TabWrite|EditNotebook|NotebookEdit|Delete|MCP:.*';
const COPILOT_SHELLS = 'Bash|bash|PowerShell|powershell';
const COPILOT_TOOLS = `${COPILOT_SHELLS}|Write|create|Edit|edit|str_replace_editor|apply_patch|.+-.+`;

const CLIENTS = {
  codex: {
    file: join('.codex', 'hooks.json'),
    events: [
      'PostToolUse',
      'PreCompact',
      'PreToolUse',
      'SessionEnd',
      'SessionStart',
      'Stop',
      'SubagentStart',
    ],
    group: (event: string, command: string) => ({
      ...(/Tool/.test(event) ? { matcher: '^(Bash|apply_patch|mcp__.*)$' } : {}),
      hooks: [{ type: 'command', command, timeout: event === 'SessionEnd' ? 3 : 10 }],
    }),
  },
  gemini: {
    file: join('.gemini', 'settings.json'),
    events: ['AfterAgent', 'AfterTool', 'BeforeAgent', 'BeforeTool', 'SessionEnd', 'SessionStart'],
    group: (event: string, command: string) => ({
      ...(/Tool/.test(event) ? { matcher: '^(write_file|replace|run_shell_command|mcp_.*)$' } : {}),
      hooks: [{ type: 'command', name: 'git-handoff', command, timeout: 10_000 }],
    }),
  },
  qwen: {
    file: join('.qwen', 'settings.json'),
    events: [
      'PostToolUse',
      'PostToolUseFailure',
      'PreCompact',
      'PreToolUse',
      'SessionEnd',
      'SessionStart',
      'Stop',
      'UserPromptSubmit',
    ],
    group: (event: string, command: string) => {
      const matcher = event === 'PostToolUseFailure' ? '^run_shell_command$' : QWEN_TOOLS;
      const handler = { type: 'command', name: 'git-handoff', command, timeout: 10_000 };
      return { ...(/Tool/.test(event) ? { matcher } : {}), hooks: [handler] };
    },
  },
  cursor: {
    file: join('.cursor', 'hooks.json'),
    events: [
      'postToolUse',
      'postToolUseFailure',
      'preCompact',
      'preToolUse',
      'sessionEnd',
      'sessionStart',
      'stop',
    ],
    group: (event: string, command: string) => {
      const matcher = event === 'postToolUseFailure' ? 'Shell' : CURSOR_TOOLS;
      return { command, timeout: 10, ...(/Tool/.test(event) ? { matcher } : {}) };
    },
  },
  copilot: {
    file: join('.copilot', 'hooks', 'git-handoff.json'),
    project: join('.github', 'hooks', 'git-handoff.json'),
    events: [
      'PostToolUse',
      'PostToolUseFailure',
      'PreCompact',
      'PreToolUse',
      'SessionEnd',
      'SessionStart',
      'Stop',
      'SubagentStart',
      'UserPromptSubmit',
    ],
    group: (event: string, command: string) => {
      const matcher = event === 'PostToolUseFailure' ? COPILOT_SHELLS : COPILOT_TOOLS;
      return {
        type: 'command',
        bash: command,
        timeoutSec: 10,
        ...(/Tool/.test(event) ? { matcher } : {}),
      };
    },
  },
} as const;

type Client = keyof typeof CLIENTS;

let world: World;
beforeEach(() => {
  world = new World();
  world.commit('first');
});
afterEach(() => world.remove());

function settingsPath(client: Client, scope: InstallScope): string {
  const settings: { file: string; project?: string } = CLIENTS[client];
  return scope === 'user'
    ? join(world.home, settings.file)
    : join(world.repository, settings.project ?? settings.file);
}

function ourGroups(client: Client, path: string): [event: string, group: unknown][] {
  const { hooks } = JSON.parse(readFileSync(path, 'utf8')) as { hooks: Record<string, unknown[]> };
  return Object.entries(hooks).flatMap(([event, groups]) =>
    groups
      .filter((group) => JSON.stringify(group).includes(`guard --client ${client}`))
      .map((group): [string, unknown] => [event, group]),
  );
}

/** Codex's users trust this text by its hash, so they must trust it again whenever it changes. */
function commandOf(client: Client, scope: InstallScope): string {
  if (client === 'copilot') {
    return scope === 'user'
      ? `p='${world.packageRoot}/bin/git-handoff'; [ -x "$p" ] || exit 0; "$p" guard --client copilot --client-pid $PPID || exit 0`
      : 'command -v git-handoff >/dev/null 2>&1 || exit 0; git-handoff guard --client copilot --client-pid $PPID || exit 0';
  }
  return scope === 'user'
    ? `p='${world.packageRoot}/bin/git-handoff'; [ -x "$p" ] || exit 0; exec "$p" guard --client ${client}`
    : `command -v git-handoff >/dev/null 2>&1 || exit 0; exec git-handoff guard --client ${client}`;
}

const NAMES = ['codex', 'gemini', 'qwen', 'cursor', 'copilot'] as const;

describe.each(NAMES)('settings of %s', (client) => {
  describe.each(['user', 'project'] as const)('%s scope', (scope) => {
    // All clients' settings are edited in the same way, so it suffices to try all shapes with Gemini CLI.
    const shapes = Object.entries(SHAPES).filter(
      ([name]) => client === 'gemini' || name === 'no file' || name === 'hooks of others',
    );
    it.each(shapes)('%s: init three times, uninstall, every byte', async (_, shape) => {
      const path = settingsPath(client, scope);
      if (shape !== undefined) world.write(path, shape, 0o640);
      const before = world.snapshot();
      const options = { scope, clients: [client] };
      expect((await world.init(options)).outcome).toBe('applied');
      const { events, group: wanted } = CLIENTS[client];
      const groups = ourGroups(client, path);
      expect(groups.map(([event]) => event).sort()).toEqual(events);
      for (const [event, group] of groups) expect(group).toEqual(wanted(event, commandOf(client, scope)));
      const { version } = JSON.parse(readFileSync(path, 'utf8').replace('\ufeff', '')) as {
        version?: number;
      };
      expect(version).toBe(client === 'cursor' || client === 'copilot' ? 1 : undefined);
      const installed = world.snapshot();
      expect((await world.init(options)).outcome).toBe('unchanged');
      expect((await world.init(options)).outcome).toBe('unchanged');
      expect(world.snapshot()).toEqual(installed);
      await world.uninstall();
      expect(world.snapshot()).toEqual(before);
    });
  });

  it('the command reaches the launcher, and is silent without it', async () => {
    await world.init({ clients: [client] });
    const command = commandOf(client, 'user');
    expect(world.shell(command)).toEqual({ status: 0, output: '' });
    expect(world.calls()).toEqual([expect.stringContaining(`guard guard --client ${client}`)]);
    const gone = command.replace('/bin/', '/gone/');
    expect(world.shell(gone)).toEqual({ status: 0, output: '' });
    expect(world.shell(commandOf(client, 'project'))).toEqual({ status: 0, output: '' });
  });

  it('what others wrote meanwhile stays', async () => {
    await world.init({ clients: [client] });
    const path = settingsPath(client, 'user');
    const edited = readFileSync(path, 'utf8').replace('{', '{\n  "later": true,');
    world.write(path, edited);
    await world.uninstall();
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ later: true });
    expect(readFileSync(path, 'utf8')).not.toContain('git-handoff');
  });
});

describe('the command of a client that refuses a call when its hook fails', () => {
  const command = (scope: InstallScope) => commandOf('copilot', scope);

  it.each([
    ['a launcher that fails', '#!/bin/sh\nexit 1\n'],
    ['one that is killed', '#!/bin/sh\nkill -9 $$\n'],
    ['one that cannot be started', '#!/nonexistent\n'],
  ])('%s stops nothing', (_, text) => {
    world.write(join(world.packageRoot, 'bin', 'git-handoff'), text, 0o755);
    expect(world.shell(command('user')).status).toBe(0);
    const PATH = `${join(world.packageRoot, 'bin')}:${process.env['PATH'] ?? ''}`;
    expect(world.shell(command('project'), { PATH }).status).toBe(0);
  });

  it('passes the pid of the process that runs the hook, not that of the shell between', () => {
    world.write(
      join(world.packageRoot, 'bin', 'git-handoff'),
      '#!/bin/sh\necho "$5" >>"$HOME/calls"\nps -o ppid= -p "$PPID" >>"$HOME/calls"\n',
      0o755,
    );
    world.shell(command('user'));
    const [told, parent] = world.calls().map(Number);
    expect(told).toBe(parent);
  });
});

describe('several clients', () => {
  const registered = () =>
    [
      ['claude', join('.claude', 'settings.json')] as const,
      ...NAMES.map((client) => [client, CLIENTS[client].file] as const),
    ]
      .filter(([, file]) => Object.keys(world.snapshot()).some((name) => name.endsWith(`home/${file}`)))
      .map(([client]) => client);

  it('are set up at once, even if named twice, and removed together', async () => {
    const before = world.snapshot();
    await world.init({ clients: ['codex', 'gemini', 'codex', 'claude'] });
    expect(registered()).toEqual(['claude', 'codex', 'gemini']);
    expect(ourGroups('codex', settingsPath('codex', 'user'))).toHaveLength(7);
    expect((await world.init({ clients: ['claude'] })).outcome).toBe('unchanged');
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
  });

  it('ask for notes in Codex only with --context-nudge, which stays; trusted lines stay byte for byte', async () => {
    const before = world.snapshot();
    const groups = () =>
      ourGroups('codex', settingsPath('codex', 'user')).map((group) => JSON.stringify(group));
    await world.init({ clients: ['codex'] });
    const trusted = groups();
    expect((await world.init({ clients: ['codex'], contextNudge: true })).outcome).toBe('applied');
    const more = groups().filter((group) => !trusted.includes(group));
    expect(groups()).toEqual(expect.arrayContaining(trusted));
    expect(more).toHaveLength(1);
    expect((await world.init({ clients: ['codex'] })).outcome).toBe('unchanged');
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
  });

  it('are set up one after the other', async () => {
    const before = world.snapshot();
    await world.init();
    await world.init({ clients: ['gemini'] });
    await world.init({ clients: ['codex'], scope: 'project' });
    expect(registered()).toEqual(['claude', 'gemini']);
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
  });

  it('named "all" are those that have a folder, and init says which', async () => {
    for (const folder of ['.claude', '.gemini', '.copilot']) mkdirSync(join(world.home, folder));
    const { notices } = await world.init({ clients: ['all'] });
    expect(registered()).toEqual(['claude', 'gemini', 'copilot']);
    expect(notices.join('\n')).toContain('clients: claude, gemini, copilot');
    expect(notices.join('\n')).toContain(`cursor (no folder ${join(world.home, '.cursor')})`);
    expect(notices.join('\n')).toContain(`codex (no folder ${join(world.home, '.codex')})`);
  });

  it('named "all" change nothing if none is in use', async () => {
    const before = world.snapshot();
    await expect(world.init({ clients: ['all'] })).rejects.toMatchObject({ code: 'usage' });
    expect(world.snapshot()).toEqual(before);
  });

  it('change nothing if one is unknown', async () => {
    const before = world.snapshot();
    await expect(world.init({ clients: ['codex', 'x'] })).rejects.toMatchObject({ code: 'usage' });
    expect(world.snapshot()).toEqual(before);
  });
});

describe('what init tells a person', () => {
  it('that Codex asks for trust: only when the hooks are new', async () => {
    const said = async () => (await world.init({ clients: ['codex'] })).notices.join('\n');
    expect(await said()).toContain('/hooks');
    expect(await said()).not.toContain('/hooks');
  });

  it.each(['{"hooksConfig":{"enabled":false}}', '{"hooksConfig":{"disabled":["git-handoff"]}}'])(
    'that Gemini CLI will run no hook of ours: %s',
    async (settings) => {
      world.write(settingsPath('gemini', 'user'), settings);
      expect((await world.init({ clients: ['gemini'] })).notices.join('\n')).toContain('hooksConfig');
    },
  );

  it('nothing about comments in Gemini CLI’s settings, which stay and come back byte for byte', async () => {
    const path = settingsPath('gemini', 'user');
    const text = '{\n  // mine\n  "hooksConfig": { "enabled": false } // "hooks": none\n  /* all */\n}\n';
    world.write(path, text);
    const before = world.snapshot();
    expect((await world.init({ clients: ['gemini'] })).notices.join('\n')).toContain('hooksConfig');
    expect(readFileSync(path, 'utf8')).toContain('git-handoff');
    await world.uninstall();
    expect(world.snapshot()).toEqual(before);
  });

  it('that Copilot CLI runs no hook of a file that switches them off', async () => {
    world.write(settingsPath('copilot', 'user'), '{"version":1,"disableAllHooks":true}');
    expect((await world.init({ clients: ['copilot'] })).notices.join('\n')).toContain('disableAllHooks');
  });

  it.each([
    ['cursor', 'was never tried', 'documentation'],
    ['copilot', 'has to trust a project', 'told it to trust'],
  ])('%s %s: it is said once', async (client, _, said) => {
    expect((await world.init({ clients: [client] })).notices.join('\n')).toContain(said);
    expect((await world.init({ clients: [client] })).notices).toEqual([]);
  });

  it('the paths that CODEX_HOME, GEMINI_CLI_HOME and COPILOT_HOME set', async () => {
    const [codex, gemini] = [join(world.root, 'codex'), join(world.root, 'gemini')];
    const copilot = join(world.root, 'copilot');
    const env = { ...world.env, CODEX_HOME: codex, GEMINI_CLI_HOME: gemini, COPILOT_HOME: copilot };
    const clients = ['codex', 'gemini', 'copilot'];
    const { changed } = await world.init({ clients }, undefined, { env });
    expect(changed).toContain(join(copilot, 'hooks', 'git-handoff.json'));
    expect(changed).toContain(join(codex, 'hooks.json'));
    expect(changed).toContain(join(gemini, '.gemini', 'settings.json'));
  });
});
