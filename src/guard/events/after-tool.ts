import { ledgerOf, openLedgers } from '../../changes/work-place.ts';
import { beat } from '../../host/folders.ts';
import { readVisits } from '../../sessions/visits.ts';
import { type SessionCall, isInTree } from '../call.ts';
import { treeFacts } from '../facts.ts';
import type { Finding } from '../findings.ts';
import { commandText, toolPath, toolPaths } from '../tool.ts';
import { orUnchecked } from '../unchecked.ts';
import { afterCommand } from './after-command.ts';
import { ranIn, leave, visited } from '../visits.ts';
import { afterFiles } from '../effects/after-file.ts';
import { hear } from '../effects/hear.ts';
import { headOfOthers } from '../checks/strict-head.ts';
import { noteFailure } from './automatic.ts';
import { rememberFiles } from '../../notes/guarded-files.ts';

/**
 * Looks afterwards at what could not be told before: refs that were moved by hand, handoff files that
 * were changed unseen. Remembers guarded files that the session wrote, and what its sub-agent has seen.
 */
export async function afterTool(call: SessionCall): Promise<readonly Finding[]> {
  const { tool, failure } = call.event;
  if (tool === undefined) return [];
  const paths = toolPaths(tool).map((path) => toolPath(call, path));
  if (isInTree(call)) {
    // It is no longer running.
    beat(call.tree.commonDir, call.session, call.event.name);
    if (failure !== undefined) noteFailure(call);
    const guarded = paths.flatMap((path) => call.machine.files.reachedBy(path, true) ?? []);
    if (guarded.length > 0) await rememberFiles(call.tree.folder, guarded);
  }
  const command = commandText(tool);
  if (command === undefined && paths.length === 0) return [];
  const seen = await (command === undefined ? afterFileTool(call, paths) : afterShellTool(call, command));
  const lines = [...seen, ...(await heardElsewhere(call)), ...(await strictNotice(call))];
  return lines.length === 0 ? [] : [{ kind: 'tell', text: `git-handoff: ${lines.join('\n')}` }];
}

async function afterShellTool(call: SessionCall, command: string): Promise<string[]> {
  const seen = isInTree(call) ? await afterCommand(call, command) : [];
  if (readVisits(call.machine.env, call.session).length === 0) return seen;
  for (const there of await ranIn(call)) {
    seen.push(...((await orUnchecked(there, () => afterCommand(there, command))) ?? []));
    await orUnchecked(there, () => leave(there));
  }
  return seen;
}

async function afterFileTool(call: SessionCall, paths: readonly string[]): Promise<readonly string[]> {
  return (await orUnchecked(call, () => afterFiles(call, paths))) ?? [];
}

/** A request may wait in a worktree that the session works in from outside. */
async function heardElsewhere(call: SessionCall): Promise<readonly string[]> {
  if (call.event.agent !== undefined || readVisits(call.machine.env, call.session).length === 0) return [];
  const heard = (await visited(call)).map((there) =>
    orUnchecked(there, async () => {
      const place = ledgerOf(there.tree, call.session);
      return place === undefined ? [] : hear(there, place, openLedgers(place, call.session));
    }),
  );
  return (await Promise.all(heard)).flatMap((lines) => lines ?? []);
}

/** Every further module costs: this check is loaded where it is asked for. */
async function strictNotice(call: SessionCall): Promise<string[]> {
  if (!isInTree(call) || call.settings.headCheck !== 'strict') return [];
  const text = await headOfOthers(call, treeFacts(call), 'original working copy');
  return text === undefined ? [] : [text];
}
