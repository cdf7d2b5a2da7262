import { lstatSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { GuardEvent } from '../agents/dialect.ts';
import { type SessionId, parseSessionId } from '../domain/names.ts';
import { ensureFolder, removeFile } from '../host/folders.ts';

/*
 * The sub-agents of clients that say who started an agent, which may be an agent itself, and not for which session. Each
 * is a symbolic link to the session's id: made in one step, whoever else makes it.
 */

/** How long to keep the model of a session whose end was never reported. Milliseconds. */
const KEEP_MS = 7 * 86_400_000;

const agentsFolder = (state: string) => join(state, 'agents');

/**
 * The call of a sub-agent as one of the session that it works for, by what earlier calls said of the one that started it.
 * It is remembered for the agents that this one starts.
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
    ensureFolder(folder);
    symlinkSync(root, join(folder, name));
  } catch {
    // It is known, or cannot be kept: its own agents then count as its.
  }
  return root;
}

/** Forgets the sub-agents of a session that ends, and those of long ago. */
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
