import { ledgerOf, openLedgers } from '../../changes/windows.ts';
import { beat } from '../../host/folders.ts';
import { rememberFiles } from '../../notes/guarded-files.ts';
import { readVisits, ranIn, leave, visited } from '../visits.ts';
import {
  type SessionCall,
  isInTree,
  type TreeCall,
  failOpen,
  type Finding,
  commandText,
  toolPath,
  toolPaths,
} from '../call.ts';
import { headOfOthers } from '../checks/strict-head.ts';
import { afterFiles } from '../effects/after-file.ts';
import { afterShell } from '../effects/after-shell.ts';
import { deliverNews } from '../effects/news.ts';
import { lookAround } from '../effects/look-around.ts';
import { treeFacts } from '../facts.ts';
import { noteLookedAround } from '../harmless-call.ts';

/**
 * After a tool call: reports changes that could not be foreseen (refs moved by hand, handoff files changed unseen), and
 * remembers guarded files that the session wrote.
 */
export async function afterTool(call: SessionCall): Promise<readonly Finding[]> {
  const { tool } = call.event;
  if (tool === undefined) return [];
  const paths = toolPaths(tool).map((path) => toolPath(call, path));
  if (isInTree(call)) {
    // The tool is no longer running.
    beat(call.tree.commonDir, call.session, call.event.kind);
    const guarded = paths.flatMap((path) => call.machine.files.reachedBy(path, true) ?? []);
    if (guarded.length > 0) await rememberFiles(call.tree.folder, guarded);
  }
  const command = commandText(tool);
  if (command === undefined && paths.length === 0) return [];
  const seen =
    command === undefined
      ? await failOpen(call, 'what this tool changed', () => afterFiles(call, paths))
      : await afterShellTool(call, command);
  const lines = [...(seen ?? []), ...(await deliverNewsElsewhere(call)), ...(await strictNotice(call))];
  return lines.length === 0 ? [] : [{ kind: 'tell', text: `git-handoff: ${lines.join('\n')}` }];
}

const CHANGED = 'what this command changed';

async function afterShellTool(call: SessionCall, command: string): Promise<string[]> {
  const seen = isInTree(call) ? await afterCommand(call, command) : [];
  if (readVisits(call.machine.env, call.session).length === 0) return seen;
  for (const there of await ranIn(call)) {
    seen.push(...((await failOpen(there, CHANGED, () => afterCommand(there, command))) ?? []));
    await failOpen(there, 'work in another worktree', () => leave(there));
  }
  return seen;
}

/** Delivers news and requests that wait in worktrees that the session visits. */
async function deliverNewsElsewhere(call: SessionCall): Promise<readonly string[]> {
  if (call.event.agent !== undefined || readVisits(call.machine.env, call.session).length === 0) return [];
  const delivered = (await visited(call)).map((there) =>
    failOpen(there, 'news of other sessions', async () => {
      const place = ledgerOf(there.tree, call.session);
      return place === undefined ? [] : deliverNews(there, place, openLedgers(place, call.session));
    }),
  );
  return (await Promise.all(delivered)).flatMap((lines) => lines ?? []);
}

/** Returns what `handoff.headCheck=strict` reports after a tool call if HEAD is another session's commit. */
async function strictNotice(call: SessionCall): Promise<string[]> {
  if (!isInTree(call) || call.settings.headCheck !== 'strict') return [];
  const text = await headOfOthers(call, treeFacts(call), 'original working copy');
  return text === undefined ? [] : [text];
}

/** Returns what to tell the session after a shell command: about its changes, and about changes that nobody could foresee. */
async function afterCommand(call: TreeCall, command: string): Promise<string[]> {
  const [around, ledger] = await Promise.all([lookAround(call, command), changesOfCommand(call, command)]);
  noteLookedAround(call.tree, call.session, call.now);
  if (/handoff-/.test(command)) await rememberFiles(call.tree.folder, call.machine.files.all());
  return [...around, ...ledger];
}

/** Claims the command's changes. If `git status` takes too long, the changes stay unclaimed, and the log says so. */
async function changesOfCommand(call: TreeCall, command: string): Promise<readonly string[]> {
  try {
    return await afterShell(call, command);
  } catch (error) {
    call.log('open', `what the command changed is not known: ${String(error)}`);
    call.notChecked(`${CHANGED}, because git status did not finish in time`);
    return [];
  }
}
