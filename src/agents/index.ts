import { claude } from './claude.ts';
import type { Dialect } from './dialect.ts';
import { type Fields, fields, text } from './payload.ts';
import { codex } from './codex.ts';
import { gemini } from './gemini.ts';
import { qwen } from './qwen.ts';
import { opencode } from './opencode.ts';
import { grok } from './grok.ts';
import { cursor } from './cursor.ts';
import { copilot } from './copilot.ts';

/** Returns the client whose dialect reads a payload: the named one, unless the payload shows that another client sent it. */
export function clientOf(named: string | undefined, payload: unknown): string {
  if (named !== undefined && named !== claude.client) return named;
  const event = fields(payload);
  if (named === undefined) {
    const transcript = text(event?.['transcript_path']) ?? '';
    const name = text(event?.['hook_event_name']) ?? '';
    if (isGeminis(name, event, transcript)) return 'gemini';
    if (isCodexs(event, transcript)) return 'codex';
    if (transcript.includes('/.qwen/')) return 'qwen';
    if (/^(?:chat|tool|session)\./.test(name)) return 'opencode';
  }
  // These clients also run the hooks of `.claude/settings.json`, with their own payloads.
  if (event?.['hookEventName'] !== undefined) return 'grok';
  if (event?.['cursor_version'] !== undefined) return 'cursor';
  const isStamped = event?.['timestamp'] !== undefined && event['permission_mode'] === undefined;
  return isStamped && event['tool_use_id'] === undefined ? 'copilot' : claude.client;
}

/** Whether Gemini CLI sent this: only it uses the event name, or there is a time and a transcript under `.gemini`. */
function isGeminis(name: string, event: Fields | undefined, transcript: string): boolean {
  if (/^(?:Before|After)(?:Tool|Agent|Model)|^PreCompress$/.test(name)) return true;
  return event?.['timestamp'] !== undefined && transcript.includes('/.gemini/');
}

/** Codex gives each turn an id, and its transcripts are files named `rollout-…`. */
function isCodexs(event: Fields | undefined, transcript: string): boolean {
  if (typeof event?.['turn_id'] === 'string' || event?.['tool_name'] === 'apply_patch') return true;
  return /\/rollout-[^/]*\.jsonl$/.test(transcript);
}

const DIALECTS: readonly Dialect[] = [claude, codex, gemini, qwen, opencode, grok, cursor, copilot];

/** Returns a client's dialect, or Claude Code's if we do not know the client. */
export function dialectFor(client: string): Dialect {
  return DIALECTS.find((dialect) => dialect.client === client) ?? claude;
}
