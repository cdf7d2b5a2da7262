import type { ToolCall } from '../agents/dialect.ts';
import { isSolo } from '../sessions/solo.ts';
import { type Call, type SessionCall, isInTree } from './call.ts';
import { FILES_ANYWHERE, FILES_IN_TREE } from './checks/of-files.ts';
import { type FileFacts, type Looks, callFacts, treeFacts } from './facts.ts';
import type { Finding } from './findings.ts';
import { type Site, judge } from './judge.ts';
import { type CommandTool, commandText, toolPath, toolPaths } from './tool.ts';
import { treesOf } from './trees-of-paths.ts';
import { beginToLook } from './looks.ts';

/** Decides a tool call before it runs. */
export async function beforeTool(call: Call): Promise<readonly Finding[]> {
  const { tool = { kind: 'other' }, toolName } = call.event;
  switch (tool.kind) {
    case 'shell':
    case 'argv':
      return beforeCommand(call, tool);
    case 'other':
      return judge(call, { anywhere: [], facts: undefined, inTrees: [], trees: () => [] });
    case 'unreadable':
      call.log('open', `the input of ${toolName ?? 'a nameless tool'} is unreadable`);
  }
  const trees = () => (call.session === undefined ? [] : sites({ ...call, session: call.session }, tool));
  return judge(call, {
    anywhere: FILES_ANYWHERE,
    facts: callFacts(call),
    inTrees: FILES_IN_TREE,
    trees,
  });
}

async function sites(call: SessionCall, tool: ToolCall): Promise<Site<FileFacts>[]> {
  const trees = await treesOf(
    call,
    toolPaths(tool).map((path) => toolPath(call, path)),
  );
  return trees.map(({ call: there, placed, isNew }) => ({
    call: there,
    facts: { ...treeFacts(there), placed, isNew },
  }));
}

/** git looks at the working tree while the analyser is loaded and runs. */
async function beforeCommand(call: Call, tool: CommandTool): Promise<readonly Finding[]> {
  const looks = await looksBefore(call, tool);
  return (await import('./before-command.ts')).beforeCommand(call, tool, looks);
}

/** Verbs before which the uncommitted work of a session that is alone is saved, too. */
const DESTRUCTIVE = /\b(?:reset|checkout|restore|clean|stash|read-tree)\b/;

/** A look that is not needed after all costs nothing but a process. */
async function looksBefore(call: Call, tool: CommandTool): Promise<Looks | undefined> {
  if (!isInTree(call)) return undefined;
  const text = commandText(tool);
  const mayDestroy = text.includes('git') && DESTRUCTIVE.test(text);
  if (isSolo(call.tree.gitDir, call.session) && !mayDestroy) return undefined;
  return beginToLook(call, tool, mayDestroy);
}
