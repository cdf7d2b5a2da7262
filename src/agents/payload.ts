import type { Replacement } from '../domain/marker.ts';
import { parseClientSessionId } from '../domain/names.ts';
import { patchedFiles } from '../domain/patch.ts';
import type { Dialect, GuardEvent, SessionStartSource, ToolCall, Verdict } from './dialect.ts';

/** Functions that read payloads, in which every field may be missing or of another type. */

/** A JSON object with unknown fields. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns an object without a prototype, so that only own fields are read; `undefined` for anything else. */
export function fields(value: unknown): Fields | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.assign(Object.create(null) as object, value) as Fields;
}

/** The value as a text, `undefined` for anything else. */
export function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The first of these fields that is a text: client versions name some fields differently. */
export function firstText(input: Fields | undefined, keys: readonly string[]): string | undefined {
  return keys.map((key) => text(input?.[key])).find((value) => value !== undefined);
}

/** Returns the value as an object; it may also be JSON in a text. */
export function fieldsOrJson(value: unknown): Fields | undefined {
  if (typeof value !== 'string') return fields(value);
  try {
    return fields(JSON.parse(value));
  } catch {
    return undefined;
  }
}

/** A call of a tool that we know, with an input that we cannot read. */
export const UNREADABLE: ToolCall = { kind: 'unreadable' };

/**
 * Reads an event whose fields have Claude Code's names. `own` holds the fields that this client names differently or adds.
 * `tool` is called only for tool events.
 */
function guardEvent(
  event: Fields,
  name: string,
  kind: GuardEvent['kind'] = 'other',
  tool: () => ToolCall,
  own: Partial<GuardEvent> = {},
): GuardEvent {
  return {
    kind,
    name,
    session: parseClientSessionId(event['session_id']),
    agent: text(event['agent_id']),
    startedBy: undefined,
    cwd: text(event['cwd']),
    model: text(event['model']),
    transcript: text(event['transcript_path']),
    tool: kind === 'before-tool' || kind === 'after-tool' ? tool() : undefined,
    toolName: text(event['tool_name']),
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
  /** The client's name of an event. Default: what Claude Code's field says. */
  readonly name?: (event: Fields) => string | undefined;
  readonly tool: (event: Fields) => ToolCall;
  /** Fields that only this client has, or spells differently. */
  readonly more?: (event: Fields, name: string) => Partial<GuardEvent>;
  /** The answer that refuses a call. Default: Claude Code's. */
  readonly deny?: (reason: string, event: GuardEvent) => object;
  /** The answer that gives the model a text, in a client whose answers have no text for the user. Default: Claude Code's. */
  readonly tell?: (text: string, event: GuardEvent) => object | undefined;
  /** The answer that replaces a tool's content, for a client that accepts this without an approval. */
  readonly rewrite?: (
    input: Fields,
    verdict: Extract<Verdict, { kind: 'rewrite' }>,
    event: GuardEvent,
  ) => object;
}

/** The dialect of a client, by its differences from Claude Code. An empty output allows a call. */
export function dialectOf({ kinds, name, tool, more, deny, tell, rewrite, ...own }: OwnWays): Dialect {
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
    /** Most clients replace an input only together with an approval, which is not ours to give, or do not document it. */
    canRewrite: () => false,
    runsGitHooks: true,
    ...own,
    parse(payload) {
      const event = fields(payload);
      if (event === undefined) return undefined;
      const named = name === undefined ? text(event['hook_event_name']) : name(event);
      if (named === undefined) return undefined;
      const kind = kinds === undefined ? eventKind(named) : kinds[named];
      return guardEvent(event, named, kind, () => tool(event), more?.(event, named));
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

/** An event's name as Cursor writes it: Claude Code's with a small first letter. */
export const lowerFirst = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1);

/** The kind of an event with one of those names; `undefined`: we do not know the name. */
export const eventKind = (name: string): GuardEvent['kind'] | undefined => KINDS[lowerFirst(name)];

/** The fields with which Claude Code's protocol refuses a call. */
export const denial = (reason: string) =>
  ({ permissionDecision: 'deny', permissionDecisionReason: reason }) as const;

/** Wraps an answer in the field where Claude Code expects it. */
export function specific(event: GuardEvent, content: object): object {
  return { hookSpecificOutput: { hookEventName: event.name, ...content } };
}

/** A tool call on one file: a whole write if the content is known, otherwise an edit. */
export function writeOrEdit(
  path: string | undefined,
  content: string | undefined,
  input: Fields = {},
): ToolCall {
  if (path === undefined) return UNREADABLE;
  return content === undefined ? editCall(path, input) : { kind: 'write', path, content };
}

/** The call of a command line, in the folder that the tool's input names, if it names one. */
export function shellCall(command: unknown, folder?: unknown, inBackground = false): ToolCall {
  if (typeof command !== 'string') return UNREADABLE;
  const cwd = text(folder) ?? '';
  return {
    kind: 'shell',
    command,
    ...(cwd === '' ? {} : { cwd }),
    ...(inBackground ? { inBackground } : {}),
  };
}

/** What a patch changes (apply_patch). */
export function patchCall(patch: string | undefined): ToolCall {
  const files = patchedFiles(patch ?? '');
  return files.length === 0 ? UNREADABLE : { kind: 'patch', files };
}

const FROM_KEYS = ['old_string', 'old_str', 'oldText', 'old_text'];
const TO_KEYS = ['new_string', 'new_str', 'newText', 'new_text'];

/** An edit of a file, with its replacements if we know the names of their fields. */
export function editCall(path: string, input: Fields): Extract<ToolCall, { kind: 'edit' }> {
  const given = Array.isArray(input['edits']) ? (input['edits'] as readonly unknown[]) : [input];
  const edits = given.flatMap((one): Replacement[] => {
    const to = firstText(fields(one), TO_KEYS);
    const from = firstText(fields(one), FROM_KEYS) ?? '';
    return to === undefined ? [] : [{ from, to, all: fields(one)?.['replace_all'] === true }];
  });
  return edits.length === 0 ? { kind: 'edit', path } : { kind: 'edit', path, edits };
}

const SOURCES: readonly SessionStartSource[] = ['startup', 'resume', 'clear', 'compact', 'fork'];

/** Why the session started, as its client says. */
function startSource(value: unknown): SessionStartSource {
  return SOURCES.find((known) => known === value) ?? 'unknown';
}
