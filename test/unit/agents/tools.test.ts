import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dialectFor } from '../../../src/agents/index.ts';
import { toolsOf } from '../../../scripts/client-tools.mjs';
import { INSTALLERS } from '../../../src/install/clients.ts';

/** An input with the fields of every file tool and every shell tool. */
const INPUT = {
  command: '*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n',
  patchText: '*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n',
  file_path: '/repo/a.txt',
  filePath: '/repo/a.txt',
  action: 'remove',
  name: 'wt',
};

const CALL = {
  hook_event_name: 'PreToolUse',
  session_id: 'a1f0c3d2-1111-4222-8333-444455556666',
  cwd: '/repo/.claude/worktrees/wt',
};

/** The kind of a call according to a client's dialect. Each client has its own name for the event. */
function kindOf(client: string, tool_name: string, tool_input: object): string | undefined {
  const event = INSTALLERS.find((row) => row.client === client)?.events.find((name) =>
    /^(?:preToolUse|BeforeTool|tool\.execute\.before)$/i.test(name),
  );
  const call = { ...CALL, hook_event_name: event ?? CALL.hook_event_name, tool_name, tool_input };
  return dialectFor(client).parse(call, {})?.tool?.kind;
}

/** The matcher with which `init` registers the event before a tool call. If undefined, every tool starts the guard. */
function matcherOf(client: string): string | undefined {
  const row = INSTALLERS.find((one) => one.client === (client === 'grok' ? 'claude' : client));
  const text = row?.register('', 'user', join(import.meta.dirname, '../../../bin/git-handoff')) ?? '';
  const { hooks } = JSON.parse(row?.settingsIn?.(text) ?? text) as {
    hooks: Record<string, { matcher?: string }[]>;
  };
  const event = row?.events.find((name) => /^(?:preToolUse|BeforeTool|tool\.execute\.before)$/i.test(name));
  return hooks[event ?? '']?.[0]?.matcher;
}

/** A tool's name in a client's hooks, which may differ from the name that the model uses. */
function nameInHooks(client: string, tool: string): string {
  if (client === 'codex' && toolsOf('codex', 'shell').includes(tool)) return 'Bash';
  if (client !== 'grok') return tool;
  return { run_terminal_command: 'Bash', write: 'Write', search_replace: 'Edit' }[tool] ?? tool;
}

describe.each([...INSTALLERS.map(({ client }) => client), 'grok'])('the tools of %s', (client) => {
  const judged = [...toolsOf(client, 'file'), ...toolsOf(client, 'shell')];
  const others = toolsOf(client, 'afterwards', 'reads', 'ignored');

  it('are each in the table once', () => {
    const all = [...judged, ...others];
    expect(new Set(all).size).toBe(all.length);
  });

  it('that change files or run commands are understood so by its dialect', () => {
    for (const tool of toolsOf(client, 'file'))
      expect(['write', 'edit', 'patch'], tool).toContain(kindOf(client, tool, INPUT));
    for (const tool of toolsOf(client, 'shell'))
      expect(['shell', 'argv'], tool).toContain(kindOf(client, tool, INPUT));
  });

  it('that do neither are ignored by its dialect', () => {
    for (const tool of others) expect(kindOf(client, tool, {}), tool).toBe('other');
  });

  it('start the guard if and only if they are judged', () => {
    const matcher = matcherOf(client);
    if (matcher === undefined) return;
    const whole = new RegExp(`^(?:${matcher})$`);
    for (const tool of judged) expect(nameInHooks(client, tool), tool).toMatch(whole);
    for (const tool of others) expect(nameInHooks(client, tool), tool).not.toMatch(whole);
  });
});

it('every client that init can set up has tools in the table, in its order', () => {
  for (const { client } of INSTALLERS) expect(toolsOf(client, 'shell'), client).not.toEqual([]);
  expect(toolsOf('gemini', 'shell', 'file')).toEqual(['write_file', 'replace', 'run_shell_command']);
  expect(toolsOf('nobody', 'file', 'shell')).toEqual([]);
});
