import { lstatSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { GuardEvent } from '../agents/dialect.ts';
import { type SessionId, parseSessionId } from '../domain/names.ts';
import { entries, linkTarget } from '../host/disk.ts';
import { removeFile } from '../host/folders.ts';

/*
 * Some clients name the agent that started a sub-agent (perhaps itself a sub-agent), but not the session. So we keep a
 * symbolic link from each sub-agent to its session: making a link is atomic, so parallel calls cannot disturb each other.
 */

/** How long to keep a sub-agent's link to its session if the session's end is never reported. Milliseconds. */
const KEEP_MS = 7 * 86_400_000;

const agentsFolder = (state: string) => join(state, 'agents');

/**
 * Returns a sub-agent's call as a call of its session, which is found through the agent that started the sub-agent. Links the
 * sub-agent to that session, too, because it may start further agents.
 */
export function ofItsSession(event: GuardEvent, state: string): GuardEvent {
  const { agent = '', startedBy } = event;
  return startedBy === undefined ? event : { ...event, session: rootSession(state, agent, startedBy) };
}

function rootSession(state: string, agent: string, startedBy: SessionId): SessionId {
  const folder = agentsFolder(state);
  const root = parseSessionId(linkTarget(join(folder, startedBy))) ?? startedBy;
  const name = parseSessionId(agent);
  if (name === undefined || name === root) return root;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    symlinkSync(root, join(folder, name));
  } catch {
    // The link exists, or cannot be made: then calls of agents that the sub-agent starts do not count as the session's.
  }
  return root;
}

/** Forgets the sub-agents of a session that ends, and those older than `KEEP_MS`. */
export function forgetAgents(state: string, session: SessionId, now: number): void {
  const folder = agentsFolder(state);
  for (const name of entries(folder)) {
    const file = join(folder, name);
    if (linkTarget(file) !== session && now - lstatSync(file).mtimeMs < KEEP_MS) continue;
    removeFile(file);
  }
}
