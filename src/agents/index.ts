import { claude } from './claude.ts';
import { codex } from './codex.ts';
import type { Dialect } from './dialect.ts';
import { gemini } from './gemini.ts';
import { fields } from './payload.ts';

/** What every decision may need at once; the others are loaded when their client calls. */
const DIALECTS: readonly Dialect[] = [claude, codex, gemini];

/** The client whose dialect reads a payload: the one named, unless the payload can only be another's. */
export function clientOf(named: string | undefined, payload: unknown): string {
  if (named !== undefined && named !== claude.client) return named;
  const event = fields(payload);
  // Cursor and Copilot CLI run the hooks of `.claude/settings.json`, too, with payloads of their own.
  if (typeof event?.['cursor_version'] === 'string') return 'cursor';
  const isStamped = event?.['timestamp'] !== undefined && event['permission_mode'] === undefined;
  return isStamped && event['tool_use_id'] === undefined ? 'copilot' : claude.client;
}

/** The dialect of a client; Claude's is the common shape. */
export async function dialectFor(client: string): Promise<Dialect> {
  if (client === 'cursor') return (await import('./cursor.ts')).cursor;
  if (client === 'copilot') return (await import('./copilot.ts')).copilot;
  return DIALECTS.find((dialect) => dialect.client === client) ?? claude;
}
