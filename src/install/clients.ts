import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ClientInstaller, clientFolder, jsonClient } from './client.ts';
import { codexPlugin, enabledPlugin, extension, listedPlugin } from './client-packages.ts';
import { type InstallScope, guardCommand } from './guard-command.ts';
import { SettingsError } from './hook-settings.ts';
import { toBinary } from './json-text.ts';

/* The table of clients. */

/** Seconds that a client allows a hook; Claude Code's own default is ten minutes. */
const TIMEOUT_S = 10;
/** The same limit for Gemini CLI and Qwen Code, which read a number of at least 1,000 as milliseconds. */
const TIMEOUT_MS = 10_000;
/** Codex's own limit for `SessionEnd`; Codex complains about a longer one. Seconds. */
const CODEX_END_TIMEOUT_S = 3;
/** The name that Gemini CLI's `/hooks` shows, and by which `hooksConfig.disabled` switches a hook off. */
const NAME = 'git-handoff';

/*
 * Matchers for the tools that scripts/client-tools.mjs lists as file or shell tools, spelled as in each client's hooks. Claude
 * Code, Gemini CLI, Qwen Code and Codex CLI search for the regex anywhere in a tool's name, so `^` and `$` anchor it. Copilot
 * CLI matches the whole name. Cursor's documentation shows names joined by `|`.
 */
/** Grok Build runs Claude Code's hooks, too. It matches its tools by Claude Code's names for them, except for `monitor`. */
const CLAUDE_TOOLS =
  '^(Write|Edit|MultiEdit|NotebookEdit|Bash|Monitor|PowerShell|ExitWorktree|monitor|mcp__.*)$';
/** Codex reports every shell tool as `Bash`. */
const CODEX_TOOLS = '^(Bash|apply_patch|mcp__.*)$';
const GEMINI_TOOLS = '^(write_file|replace|run_shell_command|mcp_.*)$';
const QWEN_TOOLS = '^(write_file|edit|notebook_edit|run_shell_command|monitor|exit_worktree|mcp__.*)$';
const CURSOR_TOOLS = 'Shell|Write|Edit|MultiEdit|StrReplace|TabWrite|EditNotebook|NotebookEdit|Delete|MCP:.*';
const COPILOT_SHELL = 'Bash|bash|PowerShell|powershell';
/** Tools as Copilot CLI and Claude Code name them, and `<server>-<tool>` for those of MCP servers. */
const COPILOT_TOOLS = `${COPILOT_SHELL}|Write|create|Edit|edit|str_replace_editor|apply_patch|.+-.+`;

const toolCall = (id: string, event: string) => ({
  session_id: id,
  transcript_path: '',
  hook_event_name: event,
});

/** The warning for a client that runs no hook at all if `disableAllHooks` is true. */
const allOff = (title: string) => (settings: Readonly<Record<string, unknown>>) =>
  settings['disableAllHooks'] === true
    ? `"disableAllHooks" is true in these settings: ${title} runs no hook, nothing is guarded`
    : undefined;

const CLAUDE_FILES = {
  user: 'settings.json',
  project: '.claude/settings.json',
  local: '.claude/settings.local.json',
};

const claude = jsonClient({
  client: 'claude',
  title: 'Claude Code',
  proven: '2.1.332',
  instructionsFile: 'CLAUDE.md',
  programs: ['claude'],
  folder: (places) => clientFolder(places, 'CLAUDE_CONFIG_DIR', '.claude'),
  files: CLAUDE_FILES,
  packageFile: (folder, { topLevel: top }) =>
    enabledPlugin([
      join(folder, CLAUDE_FILES.user),
      ...(top === undefined ? [] : [join(top, CLAUDE_FILES.project), join(top, CLAUDE_FILES.local)]),
    ]),
  events: [
    'SessionStart',
    'SessionEnd',
    'UserPromptSubmit',
    'Stop',
    'PreCompact',
    'SubagentStart',
    'SubagentStop',
  ],
  toolEvents: { PreToolUse: CLAUDE_TOOLS, PostToolUse: CLAUDE_TOOLS, PostToolUseFailure: 'Bash' },
  handler: (command) => ({ type: 'command', command, timeout: TIMEOUT_S }),
  off: allOff('Claude Code'),
  probe: (id) => ({ ...toolCall(id, 'PreToolUse'), permission_mode: 'default', tool_use_id: id }),
});

/** Codex reads its hooks from `hooks.json`, beside its `config.toml`. */
const codex = jsonClient({
  client: 'codex',
  title: 'Codex CLI',
  proven: '0.171.0',
  note: 'Codex runs a hook only when you have trusted it: start codex, type /hooks, trust ours, once',
  instructionsFile: 'AGENTS.md',
  hookShell: 'login',
  programs: ['codex'],
  folder: (places) => clientFolder(places, 'CODEX_HOME', '.codex'),
  files: { user: 'hooks.json', project: '.codex/hooks.json' },
  packageFile: (folder) => codexPlugin(join(folder, 'config.toml')),
  events: ['SessionStart', 'SessionEnd', 'Stop', 'PreCompact', 'SubagentStart'],
  toolEvents: { PreToolUse: CODEX_TOOLS, PostToolUse: CODEX_TOOLS },
  // Codex asks its user to trust each hook: this one would be one more question.
  onNudge: ['UserPromptSubmit'],
  handler: (command, event) => ({
    type: 'command',
    command,
    timeout: event === 'SessionEnd' ? CODEX_END_TIMEOUT_S : TIMEOUT_S,
  }),
  probe: (id) => ({
    session_id: id,
    turn_id: id,
    transcript_path: null,
    model: '',
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_use_id: id,
  }),
});

const gemini = jsonClient({
  client: 'gemini',
  title: 'Gemini CLI',
  proven: '0.61.0',
  instructionsFile: 'GEMINI.md',
  comments: true,
  hookShell: 'bash',
  programs: ['gemini'],
  folder: ({ env, home }) => join(env['GEMINI_CLI_HOME'] || home, '.gemini'),
  files: { user: 'settings.json', project: '.gemini/settings.json' },
  packageFile: (folder, { topLevel, cwd }) =>
    extension(join(folder, 'extensions'), topLevel ?? cwd, 'gemini-extension.json'),
  // PreCompress is left out: Gemini sends it at every turn, even if there is nothing to compress.
  events: ['SessionStart', 'SessionEnd', 'BeforeAgent', 'AfterAgent'],
  toolEvents: { BeforeTool: GEMINI_TOOLS, AfterTool: GEMINI_TOOLS },
  handler: (command) => ({ type: 'command', name: NAME, command, timeout: TIMEOUT_MS }),
  off({ hooksConfig }) {
    const { enabled, disabled } = (hooksConfig ?? {}) as { enabled?: unknown; disabled?: unknown };
    if (enabled === false)
      return '"hooksConfig.enabled" is false in these settings: Gemini CLI runs no hook, nothing is guarded';
    return Array.isArray(disabled) && disabled.includes(NAME)
      ? `"hooksConfig.disabled" names ${NAME} in these settings: Gemini CLI runs unguarded`
      : undefined;
  },
  probe: (id) => ({ ...toolCall(id, 'BeforeTool'), timestamp: new Date().toISOString() }),
});

const qwen = jsonClient({
  client: 'qwen',
  title: 'Qwen Code',
  proven: '0.24.4',
  instructionsFile: 'AGENTS.md',
  comments: true,
  hookShell: 'bash',
  programs: ['qwen'],
  folder: (places) => clientFolder(places, 'QWEN_HOME', '.qwen'),
  files: { user: 'settings.json', project: '.qwen/settings.json' },
  packageFile: (folder, { topLevel, cwd }) =>
    extension(join(folder, 'extensions'), topLevel ?? cwd, 'qwen-extension.json'),
  events: ['SessionStart', 'SessionEnd', 'UserPromptSubmit', 'Stop', 'PreCompact'],
  toolEvents: { PreToolUse: QWEN_TOOLS, PostToolUse: QWEN_TOOLS, PostToolUseFailure: '^run_shell_command$' },
  handler: (command) => ({ type: 'command', name: NAME, command, timeout: TIMEOUT_MS }),
  off: allOff('Qwen Code'),
  probe: (id) => ({
    ...toolCall(id, 'PreToolUse'),
    timestamp: new Date().toISOString(),
    permission_mode: 'default',
    tool_use_id: id,
  }),
});

const cursor = jsonClient({
  client: 'cursor',
  title: 'Cursor',
  instructionsFile: 'AGENTS.md',
  programs: ['cursor', 'cursor-agent'],
  folder: ({ home }) => join(home, '.cursor'),
  files: { user: 'hooks.json', project: '.cursor/hooks.json' },
  flat: true,
  version: 1,
  events: ['sessionStart', 'sessionEnd', 'stop', 'preCompact'],
  toolEvents: { preToolUse: CURSOR_TOOLS, postToolUse: CURSOR_TOOLS, postToolUseFailure: 'Shell' },
  handler: (command) => ({ command, timeout: TIMEOUT_S }),
  probe: (id, cwd) => ({
    conversation_id: id,
    generation_id: id,
    hook_event_name: 'preToolUse',
    cursor_version: '3.0.0',
    workspace_roots: [cwd],
    tool_use_id: id,
  }),
});

/** Our hooks have a file of their own in Copilot CLI's folder of hooks. */
const copilot = jsonClient({
  client: 'copilot',
  title: 'Copilot CLI',
  proven: '1.0.102',
  note: 'Copilot CLI runs the hooks of a project (--project) only in a folder that you have told it to trust',
  failsClosed: true,
  instructionsFile: 'AGENTS.md',
  hookShell: 'bash',
  programs: ['copilot'],
  folder: (places) => clientFolder(places, 'COPILOT_HOME', '.copilot'),
  files: { user: 'hooks/git-handoff.json', project: '.github/hooks/git-handoff.json' },
  packageFile: (folder) => enabledPlugin([join(folder, 'settings.json')]),
  switches: (folder, { topLevel: top }) => [
    join(folder, 'settings.json'),
    ...(top === undefined
      ? []
      : ['settings.json', 'settings.local.json'].map((name) => join(top, '.github', 'copilot', name))),
  ],
  flat: true,
  version: 1,
  // We spell the events like this because the payloads then name their event.
  events: ['SessionStart', 'SessionEnd', 'UserPromptSubmit', 'Stop', 'PreCompact', 'SubagentStart'],
  toolEvents: { PreToolUse: COPILOT_TOOLS, PostToolUse: COPILOT_TOOLS, PostToolUseFailure: COPILOT_SHELL },
  // The key is not `command`: if PowerShell is the only shell, it would run our POSIX command, fail, and block every call.
  handler: (bash) => ({ type: 'command', bash, timeoutSec: TIMEOUT_S }),
  off: allOff('Copilot CLI'),
  probe: (id) => ({
    hook_event_name: 'PreToolUse',
    session_id: id,
    timestamp: new Date().toISOString(),
  }),
});

const OPENCODE_PLUGIN = 'plugins/opencode/index.js';
const OPENCODE_MARK = "// git-handoff's plugin for OpenCode.";
/** The plugin's line that holds the command to run, as JSON. */
const OPENCODE_COMMAND = /^const COMMAND = (.*);$/m;

const OPENCODE_EVENTS = [
  'chat.message',
  'tool.execute.before',
  'tool.execute.after',
  'session.compacting',
  'session.deleted',
];

/** The text of our plugin with the command for this scope. Throws SettingsError. */
function registerPlugin(text: string, scope: InstallScope, launcher: string): string {
  if (text.trim() !== '' && !text.startsWith(OPENCODE_MARK)) throw new SettingsError('it is not ours');
  const command = toBinary(JSON.stringify(guardCommand({ client: 'opencode' }, scope, launcher)));
  const plugin = readFileSync(join(dirname(launcher), '..', OPENCODE_PLUGIN), 'latin1');
  return plugin.replace(OPENCODE_COMMAND, () => `const COMMAND = ${command};`);
}

/** Returns our plugin's events with the command that each runs, as JSON. Returns the text of any other file unchanged. */
function settingsInPlugin(text: string): string {
  const command = OPENCODE_COMMAND.exec(text)?.[1];
  if (!text.startsWith(OPENCODE_MARK) || command === undefined) return text;
  const hooks = OPENCODE_EVENTS.filter((event) => text.includes(`'${event}'`)).map(
    (event) => `"${event}":[{"command":${command}}]`,
  );
  return `{"hooks":{${hooks.join(',')}}}`;
}

/** OpenCode gets a copy of our plugin in its folder of plugins. */
const opencode: ClientInstaller = {
  client: 'opencode',
  title: 'OpenCode',
  proven: '1.18.33',
  instructionsFile: 'AGENTS.md',
  programs: ['opencode'],
  folder: (places) => clientFolder(places, 'OPENCODE_CONFIG_DIR', '.config/opencode'),
  files: { user: 'plugin/git-handoff.js', project: '.opencode/plugin/git-handoff.js' },
  packageFile(folder, { topLevel: top }) {
    const folders = [folder, ...(top === undefined ? [] : [top, join(top, '.opencode')])];
    return listedPlugin(folders.flatMap((one) => [join(one, 'opencode.json'), join(one, 'opencode.jsonc')]));
  },
  probe: (id) => ({ hook_event_name: 'tool.execute.before', session_id: id, tool_use_id: id }),
  events: OPENCODE_EVENTS,
  settingsIn: settingsInPlugin,
  register: registerPlugin,
  unregister: (text) => (text.startsWith(OPENCODE_MARK) ? '' : text),
  warnings: () => [],
};

/** Every client whose settings `init` can edit. */
export const INSTALLERS: readonly ClientInstaller[] = [
  claude,
  codex,
  gemini,
  qwen,
  opencode,
  cursor,
  copilot,
];
