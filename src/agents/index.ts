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

/** The client whose dialect reads a payload: the one named, unless the payload can only be another's. */
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

/** Its own names of events; those that others have too come with a time and a transcript below its folder. */
function isGeminis(name: string, event: Fields | undefined, transcript: string): boolean {
  if (/^(?:Before|After)(?:Tool|Agent|Model)|^PreCompress$/.test(name)) return true;
  return event?.['timestamp'] !== undefined && transcript.includes('/.gemini/');
}

/** It counts turns, and calls a session's transcript a rollout. */
function isCodexs(event: Fields | undefined, transcript: string): boolean {
  if (typeof event?.['turn_id'] === 'string' || event?.['tool_name'] === 'apply_patch') return true;
  return /\/rollout-[^/]*\.jsonl$/.test(transcript);
}

/** The dialect of a client; Claude's is the common shape. */
export function dialectFor(client: string): Dialect {
  switch (client) {
    case 'codex':
      return codex;
    case 'gemini':
      return gemini;
    case 'qwen':
      return qwen;
    case 'opencode':
      return opencode;
    case 'grok':
      return grok;
    case 'cursor':
      return cursor;
    case 'copilot':
      return copilot;
    default:
      return claude;
  }
}
