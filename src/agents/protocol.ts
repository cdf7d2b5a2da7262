import { parseClientSessionId } from '../domain/names.ts';
import { patchedFiles } from '../domain/patch.ts';
import type { Dialect, GuardEvent, SessionStartSource, ToolCall, Verdict } from './dialect.ts';
import { mcpCall } from './mcp.ts';
import {
  FROM_KEYS,
  type Fields,
  TO_KEYS,
  UNREADABLE,
  editCall,
  fields,
  fieldsOrJson,
  firstText,
  text,
} from './payload.ts';

/** Claude Code's hook protocol, from which the clients' dialects differ. */

/** Reads an event with Claude Code's field names; `own` has the fields that this client names differently or adds. */
function guardEvent(
  event: Fields,
  name: string,
  kind: GuardEvent['kind'] = 'other',
  tools: Tools,
  own: Partial<GuardEvent> = {},
): GuardEvent {
  const toolName = text(event['tool_name']) ?? text(event['toolName']);
  const isTool = kind === 'before-tool' || kind === 'after-tool';
  return {
    kind,
    name,
    session: parseClientSessionId(event['session_id']),
    agent: text(event['agent_id']),
    startedBy: undefined,
    cwd: text(event['cwd']),
    model: text(event['model']),
    transcript: text(event['transcript_path']),
    tool: isTool ? toolCall(tools, toolName, event['tool_input'] ?? event['toolArgs'], event) : undefined,
    toolName,
    callId: text(event['tool_use_id']),
    changedFiles: [],
    source: kind === 'session-start' ? startSource(event['source']) : undefined,
    reason: text(event['reason']),
    stopHookActive: event['stop_hook_active'] === true,
    ...own,
  };
}

/** The differences between a client's hook protocol and Claude Code's. */
interface OwnWays
  extends
    Pick<Dialect, 'client' | 'contextEvents'>,
    Partial<Pick<Dialect, 'canRewrite' | 'runsGitHooks' | 'reportsAgentEnd'>> {
  /** The events that we know, by the client's names. Default: Claude Code's. */
  readonly kinds?: Readonly<Record<string, GuardEvent['kind']>>;
  /** The client's name of an event. Default: the field `hook_event_name`. */
  readonly name?: (event: Fields) => string | undefined;
  readonly tools: Tools;
  /** Fields that only this client has, or spells differently. */
  readonly more?: (event: Fields, name: string) => Partial<GuardEvent>;
  /** The answer that refuses a call. Default: Claude Code's. */
  readonly deny?: (reason: string, event: GuardEvent) => object;
  /** The answer with a text for the model, for a client that cannot show texts to its user. Default: Claude Code's. */
  readonly tell?: (text: string, event: GuardEvent) => object | undefined;
  /** The answer that replaces a tool's content, for a client where this does not approve the call. */
  readonly rewrite?: (
    input: Fields,
    verdict: Extract<Verdict, { kind: 'rewrite' }>,
    event: GuardEvent,
  ) => object;
}

/** Makes a client's dialect from what differs from Claude Code. An empty output allows a call. */
export function dialectOf({ kinds, name, tools, more, deny, tell, rewrite, ...own }: OwnWays): Dialect {
  /** Puts a text where the model sees it, or else where the user does. */
  const contextAnswer = (text: string, event: GuardEvent) => {
    if (tell !== undefined) return tell(text, event);
    return own.contextEvents.has(event.name)
      ? specific(event, { additionalContext: text })
      : { systemMessage: text };
  };
  const answer = (verdict: Verdict, event: GuardEvent, payload: unknown): object | undefined => {
    switch (verdict.kind) {
      case 'allow':
        return undefined;
      case 'context':
        return contextAnswer(verdict.text, event);
      case 'notice':
        return tell === undefined ? { systemMessage: verdict.text } : undefined;
      case 'deny':
        return deny?.(verdict.reason, event) ?? specific(event, denial(verdict.reason));
      case 'rewrite': {
        const { context } = verdict;
        const input = fields(fields(payload)?.['tool_input']) ?? {};
        if (rewrite !== undefined) return rewrite(input, verdict, event);
        return context === undefined ? undefined : contextAnswer(context, event);
      }
    }
  };
  return {
    /** Most clients document no replacement, or one that also approves the call, which only the user may do. */
    canRewrite: () => false,
    runsGitHooks: true,
    ...own,
    parse(payload) {
      const event = fields(payload);
      if (event === undefined) return undefined;
      const named = name === undefined ? text(event['hook_event_name']) : name(event);
      if (named === undefined) return undefined;
      const kind = kinds === undefined ? eventKind(named) : kinds[named];
      return guardEvent(event, named, kind, tools, more?.(event, named));
    },
    render(verdict, event, payload) {
      const said = answer(verdict, event, payload);
      return said === undefined ? '' : JSON.stringify(said);
    },
  };
}

/** Event names of Claude Code, Cursor and Copilot CLI, which differ only in the case of the first letter. */
const KINDS: Readonly<Record<string, GuardEvent['kind']>> = {
  sessionStart: 'session-start',
  sessionEnd: 'session-end',
  preToolUse: 'before-tool',
  postToolUse: 'after-tool',
  postToolUseFailure: 'after-tool',
  userPromptSubmit: 'prompt',
  userPromptSubmitted: 'prompt',
  stop: 'stop',
  agentStop: 'stop',
  preCompact: 'compaction',
  subagentStart: 'agent-start',
  subagentStop: 'agent-stop',
};

/** An event's name as Cursor writes it: Claude Code's with a lower-case first letter. */
export const lowerFirst = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1);

/** The kind of an event by its name; `undefined`: we do not know the name. */
export const eventKind = (name: string): GuardEvent['kind'] | undefined => KINDS[lowerFirst(name)];

/** The fields with which Claude Code's protocol refuses a call. */
export const denial = (reason: string) =>
  ({ permissionDecision: 'deny', permissionDecisionReason: reason }) as const;

/** Wraps an answer in the field where Claude Code expects it. */
export function specific(event: GuardEvent, content: object): object {
  return { hookSpecificOutput: { hookEventName: event.name, ...content } };
}

const SOURCES: readonly SessionStartSource[] = ['startup', 'resume', 'clear', 'compact', 'fork'];

function startSource(value: unknown): SessionStartSource {
  return SOURCES.find((known) => known === value) ?? 'unknown';
}

/** How to recognise a client's tools, and those of MCP servers, by their names. */
export interface Tools {
  readonly shell: RegExp;
  /** The tools that replace a whole file. */
  readonly write: RegExp;
  /** The tools that change parts of files, also by a patch. */
  readonly edit: RegExp;
  /** Whether an edit with an empty old text creates the file. */
  readonly editCreates?: true;
  /** Returns the name of an MCP server's tool; `undefined` for other tools. Default: Claude Code's `mcp__<server>__<tool>`. */
  readonly server?: (tool: string, event: Fields) => string | undefined;
  /** Reads the calls of tools that only this client has; `undefined` for all others. */
  readonly own?: (tool: string, input: Fields, event: Fields) => ToolCall | undefined;
}

/** The fields of a tool's input that may hold the file's path. */
export const PATH_KEYS = ['file_path', 'path', 'filePath', 'target_file', 'notebook_path', 'target_notebook'];
const CONTENT_KEYS = ['content', 'contents', 'file_text'];
const FOLDER_KEYS = ['workdir', 'working_directory', 'directory', 'dir_path'];
const PATCH_KEYS = ['patch', 'patchText', 'input', 'command'];
const BACKGROUND_KEYS = ['run_in_background', 'is_background', 'background'];

/** Reads the call of a tool, whose input may also be a text with JSON. */
export function toolCall(tools: Tools, tool: string | undefined, given: unknown, event: Fields): ToolCall {
  if (tool === undefined) return UNREADABLE;
  const known = fieldsOrJson(given);
  const input = known ?? {};
  const own = tools.own?.(tool, input, event);
  if (own !== undefined) return own;
  if (tools.shell.test(tool)) {
    const runsOn = /^monitor$/i.test(tool) || input['mode'] === 'async';
    return commandCall(input, runsOn || BACKGROUND_KEYS.some((key) => input[key] === true));
  }
  const isWrite = tools.write.test(tool);
  if (isWrite || tools.edit.test(tool)) {
    const path = firstText(input, PATH_KEYS);
    if (path === undefined) return patchCall(text(given) ?? firstText(input, PATCH_KEYS));
    const creates = tools.editCreates === true && firstText(input, FROM_KEYS) === '';
    const content = firstText(input, isWrite ? CONTENT_KEYS : creates ? TO_KEYS : []);
    return content === undefined ? editCall(path, input) : { kind: 'write', path, content };
  }
  const { server = (name: string) => (name.startsWith('mcp__') ? name : undefined) } = tools;
  const name = known === undefined ? undefined : server(tool, event);
  return name === undefined ? { kind: 'other' } : mcpCall(name, input);
}

/** Reads a command, given as a line for a shell or as words, and the folder in which it runs. */
export function commandCall(input: Fields, inBackground = false): ToolCall {
  const command = input['command'] ?? input['cmd'];
  const folder = firstText(input, FOLDER_KEYS) ?? '';
  const cwd = folder === '' ? {} : { cwd: folder };
  if (Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === 'string'))
    return { kind: 'argv', argv: command, ...cwd };
  if (typeof command !== 'string') return UNREADABLE;
  return { kind: 'shell', command, ...cwd, ...(inBackground ? { inBackground } : {}) };
}

function patchCall(patch: string | undefined): ToolCall {
  const files = patchedFiles(patch ?? '');
  return files.length === 0 ? UNREADABLE : { kind: 'patch', files };
}
