import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ClientInstaller, InstallScope, SettingsFolders } from './client.ts';
import { clientFolder, userOrProject } from './client-hooks.ts';
import { listedPlugin } from './client-packages.ts';
import { guardCommand } from './guard-command.ts';
import { SettingsError } from './hook-settings.ts';
import { toBinary } from './json-text.ts';

/** The plugin's file in our package. */
const PLUGIN = 'plugins/opencode/index.js';
/** How it begins. */
const MARK = "// git-handoff's plugin for OpenCode.";
/** The line in it that says what to run, as JSON. */
const COMMAND = /^const COMMAND = (.*);$/m;

const EVENTS = [
  'chat.message',
  'tool.execute.before',
  'tool.execute.after',
  'session.compacting',
  'session.deleted',
];

/** Our plugin with the command that this scope has. Throws SettingsError. */
function register(text: string, scope: InstallScope, launcher: string): string {
  if (text.trim() !== '' && !text.startsWith(MARK)) throw new SettingsError('it is not ours');
  const command = toBinary(JSON.stringify(guardCommand({ client: 'opencode' }, scope, launcher)));
  const plugin = readFileSync(join(dirname(launcher), '..', PLUGIN), 'latin1');
  return plugin.replace(COMMAND, () => `const COMMAND = ${command};`);
}

/** The events that our plugin asks at, each with its command, as JSON; of any other file its text. */
function settingsIn(text: string): string {
  const command = COMMAND.exec(text)?.[1];
  if (!text.startsWith(MARK) || command === undefined) return text;
  const hooks = EVENTS.filter((event) => text.includes(`'${event}'`)).map(
    (event) => `"${event}":[{"command":${command}}]`,
  );
  return `{"hooks":{${hooks.join(',')}}}`;
}

function folder(places: SettingsFolders): string {
  return clientFolder(places, 'OPENCODE_CONFIG_DIR', '.config/opencode');
}

/** OpenCode: a copy of our plugin in its folder. */
export const opencodeInstaller: ClientInstaller = {
  client: 'opencode',
  title: 'OpenCode',
  proven: '1.18.33',
  events: EVENTS,
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
  register,
  unregister: (text) => (text.startsWith(MARK) ? '' : text),
  warnings: () => [],
  probe: ({ session, ...call }) => ({
    hook_event_name: 'tool.execute.before',
    session_id: session,
    tool_use_id: session,
    ...call,
  }),
};
