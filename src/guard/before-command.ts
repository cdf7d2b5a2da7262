import type { ShellEffects } from '../shell/effects.ts';
import { type Call, type TreeCall, isInTree } from './call.ts';
import { COMMANDS_ANYWHERE, COMMANDS_IN_TREE } from './checks/of-commands.ts';
import { analysed } from './command.ts';
import { type CommandFacts, type Looks, callFacts, treeFacts } from './facts.ts';
import type { Finding } from './findings.ts';
import { type Site, judge } from './judge.ts';
import type { CommandTool } from './tool.ts';
import { beginToLook, namesOnly } from './looks.ts';

/**
 * Decides a command: what it would change is told without running it.
 *
 * @param looks at the session's own worktree, where they were begun already
 */
export async function beforeCommand(
  call: Call,
  tool: CommandTool,
  looks: Looks | undefined,
): Promise<readonly Finding[]> {
  const { effects, visits } = await analysed(call, tool);
  const isOn = call.tree !== undefined || visits.length > 0;
  const isOff = call.settings.enabled === false && !isOn;
  const trees = async () => {
    const own = isInTree(call) ? [{ call, looks: looks ?? looksLater(call) }] : [];
    return sites([...own, ...(await begun(visits, tool))], effects);
  };
  return judge(call, {
    anywhere: isOff ? [] : COMMANDS_ANYWHERE,
    facts: { ...callFacts(call), effects, isOn },
    inTrees: COMMANDS_IN_TREE,
    trees,
  });
}

interface Looked {
  readonly call: TreeCall;
  readonly looks: Looks;
}

/** The other worktrees that the command touches: their sessions' work is as much theirs. */
async function begun(visits: readonly { readonly call: TreeCall }[], tool: CommandTool): Promise<Looked[]> {
  if (visits.length === 0) return [];
  return Promise.all(visits.map(async ({ call }) => ({ call, looks: await beginToLook(call, tool, false) })));
}

/** A session that is alone keeps no ledger: one looks only where a command may destroy something. */
function looksLater(call: TreeCall): Looks {
  return { forLedger: undefined, dirty: async () => namesOnly(call)() };
}

/** What all worktrees of a repository share is decided in the first of them. */
function sites(trees: readonly Looked[], effects: ShellEffects): Site<CommandFacts>[] {
  const isFirst = ({ tree }: TreeCall, n: number) =>
    trees.findIndex((one) => one.call.tree.commonDir === tree.commonDir) === n;
  return trees.map(({ call, looks }, n) => ({
    call,
    facts: { ...treeFacts(call), effects, looks, isFirst: isFirst(call, n) },
  }));
}
