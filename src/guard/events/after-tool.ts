import { ledgerOf, openLedgers } from '../../changes/work-place.ts';
import { beat } from '../../host/folders.ts';
import { readVisits } from '../../sessions/visits.ts';
import { type SessionCall, isInTree } from '../call.ts';
import { treeFacts } from '../facts.ts';
import type { Finding } from '../findings.ts';
import { commandText, toolPath, toolPaths } from '../tool.ts';
import { orUnchecked } from '../unchecked.ts';

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
    if (failure !== undefined) (await import('./automatic.ts')).noteFailure(call);
    const guarded = paths.flatMap((path) => call.machine.files.reachedBy(path, true) ?? []);
    if (guarded.length > 0)
      await (await import('../../notes/guarded-files.ts')).rememberFiles(call.tree.folder, guarded);
  }
  const command = commandText(tool);
  if (command === undefined && paths.length === 0) return [];
  const seen = await (command === undefined ? afterFileTool(call, paths) : afterShellTool(call, command));
  const lines = [...seen, ...(await heardElsewhere(call)), ...(await strictNotice(call))];
  return lines.length === 0 ? [] : [{ kind: 'tell', text: `git-handoff: ${lines.join('\n')}` }];
}

async function afterShellTool(call: SessionCall, command: string): Promise<string[]> {
  const { afterCommand } = await import('./after-command.ts');
  const seen = isInTree(call) ? await afterCommand(call, command) : [];
  if (readVisits(call.machine.env, call.session).length === 0) return seen;
  const { ranIn, leave } = await import('../visits.ts');
  for (const there of await ranIn(call)) {
    seen.push(...((await orUnchecked(there, () => afterCommand(there, command))) ?? []));
    await orUnchecked(there, () => leave(there));
  }
  return seen;
}

async function afterFileTool(call: SessionCall, paths: readonly string[]): Promise<readonly string[]> {
  const { afterFiles } = await import('../effects/after-file.ts');
  return (await orUnchecked(call, () => afterFiles(call, paths))) ?? [];
}

/** A request may wait in a worktree that the session works in from outside. */
async function heardElsewhere(call: SessionCall): Promise<readonly string[]> {
  if (call.event.agent !== undefined || readVisits(call.machine.env, call.session).length === 0) return [];
  const { visited } = await import('../visits.ts');
  const { hear } = await import('../effects/hear.ts');
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
  const { headOfOthers } = await import('../checks/strict-head.ts');
  const text = await headOfOthers(call, treeFacts(call), 'original working copy');
  return text === undefined ? [] : [text];
}
