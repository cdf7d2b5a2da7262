import { join } from 'node:path';
import type { ClientInstaller, InstallScope, SettingsFolders } from './client.ts';
import { clientFolder, jsonHooks, userOrProject } from './client-hooks.ts';
import { listedPlugin } from './client-packages.ts';
import { SettingsError } from './hook-settings.ts';

/** The plugin around our hooks. It refuses by throwing, and throws for nothing else. */
const BEGIN = `// Made by \`git handoff init\`, taken out by \`git handoff uninstall\`.
import { spawn } from 'node:child_process';

const settings = `;
const END = `;

/** What the guard answers; nothing when it has nothing to say, or cannot be asked. */
function ask(event, session, cwd, more) {
  return new Promise((resolve) => {
    let said = '';
    const child = spawn('/bin/sh', ['-c', settings.hooks[event][0].command], {
      cwd,
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: 10000,
    });
    child.on('error', () => resolve({}));
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk) => (said += chunk));
    child.on('close', () => resolve(said === '' ? {} : JSON.parse(said)));
    child.stdin.end(JSON.stringify({ hook_event_name: event, session_id: session, cwd, ...more }));
  });
}

export const GitHandoff = async ({ client, directory }) => {
  const roots = new Map();
  const begun = new Map();
  /** The session that a sub-agent's belongs to. */
  const rootOf = async (id) => {
    if (!roots.has(id)) {
      const parent = (await client.session.get({ path: { id } })).data?.parentID;
      roots.set(id, parent ? await rootOf(parent) : id);
    }
    return roots.get(id);
  };
  const told = async (event, session, more) => {
    try {
      const root = await rootOf(session);
      return await ask(event, root, directory, root === session ? more : { agent_id: session, ...more });
    } catch {
      return {};
    }
  };
  const call = ({ tool, callID }, args) => ({ tool_name: tool, tool_use_id: callID, tool_input: args });
  const isAsked = ({ tool }) => !/^(read|grep|glob|list|webfetch|websearch|task|todo\\w*|skill|question)$/.test(tool);
  return {
    event: async ({ event }) => {
      const { info } = event.properties ?? {};
      if (event.type === 'session.deleted' && !info.parentID) await told(event.type, info.id, {});
    },
    'chat.message': async ({ sessionID }) => {
      if (begun.has(sessionID)) return;
      begun.set(sessionID, '');
      if ((await rootOf(sessionID).catch(() => undefined)) !== sessionID) return;
      const { tell } = await told('chat.message', sessionID, {});
      if (tell) begun.set(sessionID, tell);
    },
    'experimental.chat.system.transform': async ({ sessionID }, { system }) => {
      const tell = begun.get(sessionID);
      if (tell) system.push(tell);
    },
    'tool.execute.before': async (input, { args }) => {
      if (!isAsked(input)) return;
      const { deny } = await told('tool.execute.before', input.sessionID, call(input, args));
      if (deny) throw new Error(deny);
    },
    'tool.execute.after': async (input, result) => {
      if (!isAsked(input)) return;
      const response = { tool_response: { exit: result?.metadata?.exit }, tool_output: result?.output };
      const { tell } = await told('tool.execute.after', input.sessionID, { ...call(input, input.args), ...response });
      if (tell && typeof result?.output === 'string') result.output += '\\n\\n' + tell;
      else if (tell && Array.isArray(result?.content)) result.content.push({ type: 'text', text: tell });
    },
    'experimental.session.compacting': async ({ sessionID }) => {
      await told('session.compacting', sessionID, {});
    },
    'shell.env': async ({ sessionID }, { env }) => {
      try {
        if (sessionID) env.GIT_HANDOFF_SESSION = await rootOf(sessionID);
      } catch {}
    },
  };
};
`;

const hooks = jsonHooks({
  client: 'opencode',
  flat: true,
  registrations: [
    ['chat.message'],
    ['tool.execute.before'],
    ['tool.execute.after'],
    ['session.compacting'],
    ['session.deleted'],
  ],
  handler: (command) => ({ command }),
});

/** The hooks in our plugin, as JSON; of any other file its text. */
function settingsIn(plugin: string): string {
  const start = plugin.indexOf(BEGIN);
  const end = plugin.indexOf(END.slice(0, 40));
  return start < 0 || end < 0 ? plugin : plugin.slice(start + BEGIN.length, end);
}

function folder(places: SettingsFolders): string {
  return clientFolder(places, 'OPENCODE_CONFIG_DIR', '.config/opencode');
}

/** OpenCode: a plugin of ours in its folder. */
export const opencodeInstaller: ClientInstaller = {
  ...hooks,
  title: 'OpenCode',
  proven: '1.18.33',
  instructionsFile: 'AGENTS.md',
  programs: ['opencode'],
  userFolder: folder,
  packageFile(places) {
    const top = places.topLevel;
    const folders = [folder(places), ...(top === undefined ? [] : [top, join(top, '.opencode')])];
    return listedPlugin(folders.flatMap((one) => [join(one, 'opencode.json'), join(one, 'opencode.jsonc')]));
  },
  settingsFile: (scope, places) =>
    userOrProject(
      scope,
      places,
      join(folder(places), 'plugin/git-handoff.js'),
      '.opencode/plugin/git-handoff.js',
    ),
  settingsIn,
  register(text: string, scope: InstallScope, launcher: string) {
    if (text.trim() !== '' && !text.startsWith(BEGIN)) throw new SettingsError('it is not ours');
    return BEGIN + hooks.register('', scope, launcher).trimEnd() + END;
  },
  unregister: (text) => (text.startsWith(BEGIN) ? '' : text),
  warnings: () => [],
  probe: ({ session, ...call }) => ({
    hook_event_name: 'tool.execute.before',
    session_id: session,
    tool_use_id: session,
    ...call,
  }),
};
