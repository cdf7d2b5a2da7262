import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GuardEvent, ToolCall, Verdict } from '../../../src/agents/dialect.ts';
import { clientOf, dialectFor } from '../../../src/agents/index.ts';
import type { ClientInstaller } from '../../../src/install/client.ts';
import { INSTALLERS } from '../../../src/install/clients.ts';
import { type Payload, PAYLOADS, capturedPayloads } from '../../support/payloads.ts';

/* What holds in every dialect, for every event and tool that is documented or was captured from a client. */

const FOLDERS = readdirSync(PAYLOADS, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);

/** The kind of an event, by its name in any client. A client need not have all of them. */
const EVENTS: readonly (readonly [name: RegExp, kind: GuardEvent['kind']])[] = [
  [/^(?:sessionStart|chat\.message)/i, 'session-start'],
  [/^SessionEnd-subagent/, 'agent-stop'],
  [/^session(?:End|\.deleted)/i, 'session-end'],
  [/^(?:preToolUse|BeforeTool|tool\.execute\.before)-/i, 'before-tool'],
  [/^(?:postToolUse(?:Failure)?|AfterTool|tool\.execute\.after)-/i, 'after-tool'],
  [/^(?:UserPromptSubmit|BeforeAgent)/, 'prompt'],
  [/^Stop-subagent/, 'agent-stop'],
  [/^(?:(?:agent)?Stop|AfterAgent)(?:-|$)/i, 'stop'],
  [/^(?:preCompact|session\.compacting)/i, 'compaction'],
  [/^SubagentStart/, 'agent-start'],
  [/^SubagentStop/, 'agent-stop'],
];

/** The kind of a tool, by its name in any client. */
const TOOLS: readonly (readonly [name: RegExp, kinds: readonly ToolCall['kind'][]])[] = [
  [/^(?:Bash|bash|Shell|run_shell_command|run_terminal_command|monitor)$/, ['shell']],
  // After the call it is `other`: the removal was judged before, and the worktree is gone.
  [/^(?:ExitWorktree|exit_worktree)$/, ['argv', 'other']],
  [/^(?:Write|write|create|(?:.*[-_])?write_file)$/, ['write']],
  [
    /^(?:Edit|edit|MultiEdit|NotebookEdit|replace|search_replace|apply_patch|Delete)$/,
    ['edit', 'patch', 'write'],
  ],
  [/^MCP:/, ['write', 'edit', 'patch', 'other']],
];

const OTHERS: readonly ToolCall['kind'][] = ['other'];

it.each(INSTALLERS.map(({ client }) => client))(
  'payloads of %s show that its hooks are understood',
  (client) => {
    expect(FOLDERS.map((folder) => folder.replace(/-.*/, ''))).toContain(client);
  },
);

describe.each(FOLDERS)('of the payloads in %s', (folder) => {
  const client = folder.replace(/-.*/, '');
  const all = capturedPayloads(folder).map(({ name, payload }) => ({
    name: name.replace(/^camel-/, ''),
    payload,
  }));
  const parsed = async (payload: Payload): Promise<GuardEvent> => {
    const event = dialectFor(client).parse(payload, {});
    if (event === undefined) throw new Error('not understood');
    return event;
  };

  it.each(all)('$name is understood: event, session, folder and tool', async ({ name, payload }) => {
    const event = await parsed(payload);
    const kind = EVENTS.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
    // Cursor's sub-agent events are documented, but contain nothing for the guard.
    const isOther = folder.startsWith('cursor') && kind.startsWith('agent');
    expect(event.kind).toBe(isOther ? 'other' : kind);
    expect(event.session).toBe(
      payload['parent_agent_id'] ??
        payload['conversation_id'] ??
        payload['session_id'] ??
        payload['sessionId'],
    );
    expect(event.cwd).toMatch(/^\//);
    if (event.kind !== 'before-tool' && event.kind !== 'after-tool') return;
    const tool = event.toolName ?? '';
    expect(TOOLS.find(([pattern]) => pattern.test(tool))?.[1] ?? OTHERS, tool).toContain(event.tool?.kind);
  });

  it.each(all)('$name identifies its client if nobody names one, or Claude Code is named', ({ payload }) => {
    expect(clientOf(undefined, payload)).toBe(client);
    // These clients also run the hooks of `.claude/settings.json`.
    if (['cursor', 'copilot', 'grok'].includes(client)) expect(clientOf('claude', payload)).toBe(client);
    expect(clientOf(client, payload)).toBe(client);
  });

  it.each(all)('$name gets silence, or one JSON object that approves nothing', async (one) => {
    const event = await parsed(one.payload);
    const dialect = dialectFor(client);
    const said = (verdict: Verdict) => dialect.render(verdict, event, one.payload);
    expect(said({ kind: 'allow' })).toBe('');
    const told = [said({ kind: 'context', text: 'some news' }), said({ kind: 'notice', text: 'some news' })];
    for (const output of told) {
      if (output === '') continue;
      expect(JSON.parse(output)).toBeTypeOf('object');
      expect(output).not.toMatch(/"(?:allow|approve)"/);
    }
    const tells = dialect.contextEvents.has(event.name);
    expect(/additional_?context|"tell"/i.test(told[0] ?? '')).toBe(tells);
    expect(told[1]).not.toMatch(/additional_?context|"tell"/i);
    if (event.kind !== 'before-tool') return;
    expect(said({ kind: 'deny', reason: 'not yours' })).toMatch(/"den[a-z]+".*not yours/);
  });

  it.each(all)('$name starts the guard if there is something to judge', async ({ name, payload }) => {
    const event = await parsed(payload);
    const row = INSTALLERS.find((installer) => installer.client === client);
    const judges = event.tool !== undefined && event.tool.kind !== 'other';
    // Copilot CLI spells each event in two ways, of which `init` registers one.
    if (row === undefined || !judges || !row.events.includes(event.name)) return;
    const matchers = matchersOf(row, event.name);
    expect(matchers.some((matcher) => matcher.test(event.toolName ?? '')) || isFailure(name)).toBe(true);
  });

  it('nothing else is a payload', async () => {
    const dialect = dialectFor(client);
    for (const wrong of [undefined, null, 1, 'x', [], {}, { hook_event_name: 1 }])
      expect(dialect.parse(wrong, {})).toBeUndefined();
  });
});

/** A file tool that failed has changed nothing. */
const isFailure = (name: string) => name.startsWith('PostToolUseFailure');

/** What `init` registers for an event; a client matches the whole name of a tool. */
function matchersOf(row: ClientInstaller, event: string): RegExp[] {
  const text = row.register('', 'user', join(import.meta.dirname, '../../../bin/git-handoff'));
  const { hooks } = JSON.parse(row.settingsIn?.(text) ?? text) as {
    hooks: Record<string, { matcher?: string }[]>;
  };
  return (hooks[event] ?? []).map(({ matcher = '.*' }) => new RegExp(`^(?:${matcher})$`));
}

it('the dialect knows every event that init registers', async () => {
  for (const row of INSTALLERS) {
    const { client, events } = row;
    const dialect = dialectFor(client);
    const call = { ...row.probe('doctor', '/'), cwd: '/', tool_name: 'x', tool_input: {} };
    for (const hook_event_name of events)
      expect(dialect.parse({ ...call, hook_event_name }, {})?.kind, `${client} ${hook_event_name}`).not.toBe(
        'other',
      );
  }
  expect(dialectFor('somebody').client).toBe('claude');
});
