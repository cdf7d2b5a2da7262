import type { ToolCall } from '../agents/dialect.ts';
import { ledgerOf, openLedgers } from '../changes/windows.ts';
import { beat } from '../host/folders.ts';
import { beforeAnswer, inTime } from '../host/io.ts';
import { PROBE_TOOL } from '../install/probe.ts';
import { rememberFiles } from '../notes/guarded-files.ts';
import { isLoneSession } from '../sessions/lone-session.ts';
import {
  type Call,
  commandText,
  type CommandTool,
  failOpen,
  type Finding,
  isInTree,
  ownerOf,
  type SessionCall,
  toolPath,
  toolPaths,
  type TreeCall,
} from './call.ts';
import { FILES_ANYWHERE, FILES_IN_TREE } from './checks/of-files.ts';
import { headOfOthers } from './checks/strict-head.ts';
import { afterFiles } from './effects/after-file.ts';
import { afterShell } from './effects/after-shell.ts';
import { lookAround } from './effects/look-around.ts';
import { deliverNews } from './effects/news.ts';
import { lifeCycle } from './events/life-cycle.ts';
import { register } from './events/registration.ts';
import { beginToLook, callFacts, type FileFacts, treeFacts } from './facts.ts';
import { noteLookedAround } from './harmless-call.ts';
import { besideBypass, type CheckTarget, hasBypass, judge } from './judge.ts';
import { noteAgent, noteCall, noteModel } from './presence.ts';
import { leave, ranIn, readVisits, treesOf, visited } from './visits.ts';

/** Decides a call: judges a tool call before it runs, and records what the other events report. */
export async function decide(call: Call): Promise<readonly Finding[]> {
  const { event } = call;
  if (event.toolName === PROBE_TOOL) {
    call.log('probe', call.machine.env['GIT_HANDOFF_PROBE'] ?? '');
    return [];
  }
  if (isInTree(call)) {
    noteModel(call.tree.commonDir, event, call.dialect.client, call);
    noteAgent(call);
    // What changed before a sub-agent began is not the sub-agent's.
    if (event.kind === 'agent-start' && ownerOf(call) !== call.session) return registration(call);
  }
  if (event.kind === 'before-tool') {
    // The guard must know who else is here before it decides anything about their work.
    const notices = isInTree(call) ? await registration(call) : [];
    return [...(await beforeTool(call)), ...notices];
  }
  if (!isInTree(call) || !hasBypass(call)) return handled(call);
  return besideBypass(call, () => handled(call));
}

/** Handles every event except before-tool. */
async function handled(call: Call): Promise<readonly Finding[]> {
  const { session } = call;
  if (session === undefined) return [];
  if (call.event.kind === 'after-tool') return afterTool({ ...call, session });
  return lifeCycle({ ...call, session });
}

/** Puts the session on record if it is not there yet. The call is judged even if this fails. */
async function registration(call: TreeCall): Promise<readonly Finding[]> {
  const registered = registerCaller(call).catch((error: unknown) => {
    call.log('error', `record: ${String(error)}`);
    return [];
  });
  const { budget } = call;
  const notices = await inTime(registered, budget.part(beforeAnswer(budget)));
  return notices === 'late' ? [] : notices;
}

async function beforeTool(call: Call): Promise<readonly Finding[]> {
  const { tool = { kind: 'other' }, toolName } = call.event;
  switch (tool.kind) {
    case 'shell':
    case 'argv':
      return beforeCommand(call, tool);
    case 'other':
      return [];
    case 'unreadable':
      call.log('open', `the input of ${toolName ?? 'a nameless tool'} is unreadable`);
  }
  // The session has to be on record in a worktree before a call is judged there.
  const trees = call.session === undefined ? [] : await fileTargets({ ...call, session: call.session }, tool);
  return judge(call, {
    anywhere: FILES_ANYWHERE,
    facts: callFacts(call),
    inTrees: FILES_IN_TREE,
    trees: () => trees,
    visits: trees.map((target) => target.call).filter(({ tree }) => tree.visiting === true),
  });
}

async function fileTargets(call: SessionCall, tool: ToolCall): Promise<CheckTarget<FileFacts>[]> {
  const trees = await treesOf(
    call,
    toolPaths(tool).map((path) => toolPath(call, path)),
  );
  return trees.map(({ call: there, placed }) => ({
    call: there,
    facts: { ...treeFacts(there), touches: () => placed.map(({ path }) => ({ path, removes: false })) },
  }));
}

/** Lets git read the status of the working tree while the analyser loads and runs. */
async function beforeCommand(call: Call, tool: CommandTool): Promise<readonly Finding[]> {
  // An early read may be needless. A lone session seldom needs the status, so for it we wait until a check asks.
  const isBeside = isInTree(call) && !isLoneSession(call.tree.gitDir, call.session);
  const looks = isBeside ? await beginToLook(call, tool) : undefined;
  return (await import('./before-command.ts')).beforeCommand(call, tool, looks);
}

/**
 * Registers the calling session unless that was done a moment ago, and returns what to tell it. If the guard never saw the
 * session's start, also looks at the guarded files, as SessionStart does: the guard can undo unforeseen changes only of files
 * that it has seen before.
 */
async function registerCaller(call: TreeCall): Promise<readonly Finding[]> {
  if (noteCall(call)) return [];
  const registered = await register(call);
  const { isNew } = registered;
  const notices = [...registered.notices, ...(isNew ? await lookAround(call, '') : [])];
  if (isNew) await rememberFiles(call.tree.folder, call.machine.files.all());
  return notices.length === 0 ? [] : [{ kind: 'tell', text: `git-handoff: ${notices.join('\n')}` }];
}

/**
 * After a tool call: reports changes that could not be foreseen (refs moved by hand, handoff files changed unseen), and
 * remembers guarded files that the session wrote.
 */
async function afterTool(call: SessionCall): Promise<readonly Finding[]> {
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

/** Returns what to tell the session after a shell command: what it changed, and which changes nobody could foresee. */
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
