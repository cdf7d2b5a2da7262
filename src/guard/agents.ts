import { lstatSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { GuardEvent } from '../agents/dialect.ts';
import { type SessionId, parseSessionId } from '../domain/names.ts';
import { ensurePrivateFolder, removeFile } from '../host/folders.ts';

/*
 * Some clients name the agent that started a sub-agent, which may be a sub-agent, too, but not the session. For each
 * sub-agent a symbolic link names its session: a link is made in one step, so parallel calls cannot disturb each other.
 */

/** How long to keep a sub-agent of a session whose end was never reported. Milliseconds. */
const KEEP_MS = 7 * 86_400_000;

const agentsFolder = (state: string) => join(state, 'agents');

/**
 * Returns a sub-agent's call as one of the session that the sub-agent works for. Earlier calls told the session of the
 * agent that started it; the answer is remembered for the agents that this one starts.
 */
export function ofItsSession(event: GuardEvent, state: string): GuardEvent {
  const { agent = '', startedBy } = event;
  return startedBy === undefined ? event : { ...event, session: rootSession(state, agent, startedBy) };
}

function rootSession(state: string, agent: string, startedBy: SessionId): SessionId {
  const folder = agentsFolder(state);
  const root = linked(join(folder, startedBy)) ?? startedBy;
  const name = parseSessionId(agent);
  if (name === undefined || name === root) return root;
  try {
    ensurePrivateFolder(folder);
    symlinkSync(root, join(folder, name));
  } catch {
    // The link exists, or cannot be made: sub-agents of this one then count as its own, and not as the session's.
  }
  return root;
}

/** Forgets the sub-agents of a session that ends, and those older than `KEEP_MS`. */
export function forgetAgents(state: string, session: SessionId, now: number): void {
  const folder = agentsFolder(state);
  for (const name of agentsIn(folder)) {
    const file = join(folder, name);
    if (linked(file) !== session && now - lstatSync(file).mtimeMs < KEEP_MS) continue;
    removeFile(file);
  }
}

function agentsIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function linked(file: string): SessionId | undefined {
  try {
    return parseSessionId(readlinkSync(file));
  } catch {
    return undefined;
  }
}
