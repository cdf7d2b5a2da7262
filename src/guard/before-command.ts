import { dirname, join } from 'node:path';
import { readAllLedgers } from '../sessions/journal.ts';
import { SESSION_VARIABLES, type SessionId } from '../domain/names.ts';
import { aliasesFrom } from '../domain/settings.ts';
import { type FoundRepository, checkedOutBranch, discoverRepository } from '../git/discover.ts';
import { linkedWorktrees } from '../git/worktrees.ts';
import { absolutePath, realPath } from '../host/disk.ts';
import { isTryTree, knownWorktreeId } from '../host/folders.ts';
import { shellWorld } from '../host/shell-world.ts';
import {
  knownRepositories,
  type Call,
  type TreeCall,
  isInTree,
  type Finding,
  type CommandTool,
} from './call.ts';
import { analyseArgv, analyseShell } from '../shell/analyse.ts';
import { isBelow } from '../shell/disk.ts';
import type { ShellEffects } from '../shell/effects.ts';
import { gitReads } from '../shell/read-only.ts';
import { namedPaths } from './checks/touch.ts';
import { COMMANDS_ANYWHERE, COMMANDS_IN_TREE } from './checks/of-commands.ts';
import {
  type CommandFacts,
  type Looks,
  callFacts,
  treeFacts,
  beginToLook,
  namesOnly,
  once,
} from './facts.ts';
import { type CheckTarget, judge } from './judge.ts';
import { callsAt, visit } from './visits.ts';

/** Decides a command by what it would change, without running it. `looks`: the worktree's status, if git already reads it. */
export async function beforeCommand(
  call: Call,
  tool: CommandTool,
  looks: Looks | undefined,
): Promise<readonly Finding[]> {
  const { effects, visits } = await analysed(call, tool);
  const isOn = call.tree !== undefined || visits.length > 0;
  const isOff = call.settings.enabled === false && !isOn;
  const trees = async () => {
    // A lone session keeps no ledger, but its command may destroy work, so a check can still ask for a status.
    const later = (own: TreeCall) => ({ forLedger: undefined, dirty: namesOnly(own) });
    const own = isInTree(call) ? [{ call, looks: looks ?? later(call) }] : [];
    // The command may hit other sessions' work in the other worktrees that it touches, too.
    const others = visits.map(async (there) => ({ call: there, looks: await beginToLook(there, tool) }));
    return commandTargets([...own, ...(await Promise.all(others))], effects);
  };
  return judge(call, {
    anywhere: isOff ? [] : COMMANDS_ANYWHERE,
    facts: { ...callFacts(call), effects, isOn },
    inTrees: COMMANDS_IN_TREE,
    trees,
    visits,
  });
}

/** Marks the first worktree of each repository, where we judge, once, what all its worktrees share. */
function commandTargets(
  trees: readonly { readonly call: TreeCall; readonly looks: Looks }[],
  effects: ShellEffects,
): CheckTarget<CommandFacts>[] {
  const isFirst = ({ tree }: TreeCall, n: number) =>
    trees.findIndex((one) => one.call.tree.commonDir === tree.commonDir) === n;
  return trees.map(({ call, looks }, n) => ({
    call,
    facts: {
      ...{ ...treeFacts(call), effects, looks, isFirst: isFirst(call, n) },
      touches: once(() => namedPaths(effects, call.tree)),
    },
  }));
}

/**
 * Analyses a command. If the command touches another repository, we analyse it again with the aliases of that repository. If
 * the session is new in a worktree, we analyse the command once more: only now do we know what other sessions have changed
 * there. Returns what the command would change, and the call as it concerns each other worktree that it would change.
 */
async function analysed(
  call: Call,
  tool: CommandTool,
): Promise<{ readonly effects: ShellEffects; readonly visits: readonly TreeCall[] }> {
  const { session, repository } = call;
  const repositories = knownRepositories(call.machine.env);
  const touched = (effects: ShellEffects) => touchedTrees(effects, repository, repositories);
  let effects = await analyse(call, tool, [], repositories);
  let trees = session === undefined ? [] : touched(effects);
  if (session === undefined || trees.length === 0) return { effects, visits: [] };
  const caller = { ...call, session };
  const known = await callsAt(caller, trees);
  if (known.some(({ tree }) => tree.commonDir !== repository?.commonDir)) {
    effects = await analyse(call, tool, known, repositories);
    trees = touched(effects);
  }
  const { visits, isNew } = await visit(caller, trees, known);
  if (isNew) effects = await analyse(call, tool, known, repositories);
  return { effects, visits };
}

/** @param elsewhere the call as it concerns other repositories, each with aliases of its own */
function analyse(
  call: Call,
  tool: CommandTool,
  elsewhere: readonly TreeCall[],
  repositories: readonly string[],
): Promise<ShellEffects> {
  const { session, tree, repository, machine } = call;
  const { home, files } = machine;
  const env = { ...sessionVariables(call), ...machine.env };
  const cwd = tool.cwd === undefined ? call.cwd : absolutePath(tool.cwd, call.cwd, home);
  const commonDirs = new Set([...(tree === undefined ? [] : [tree.commonDir]), ...repositories]);
  const claimed = () =>
    session === undefined ? [] : [...commonDirs].flatMap((dir) => othersPaths(dir, session));
  const aliases = aliasesFrom(call.entries);
  const aliasesAt = (folder: string) => {
    if (elsewhere.length === 0) return aliases;
    const at = discoverRepository(realPath(folder))?.commonDir;
    const other = elsewhere.find((one) => one.tree.commonDir === at);
    return other === undefined ? aliases : aliasesFrom(other.entries);
  };
  const commonDir = repository?.commonDir;
  const world = shellWorld(
    { cwd, home, env, commonDir, headBranch: checkedOutBranch, aliasesAt, claimed },
    files,
  );
  return tool.kind === 'shell' ? analyseShell(tool.command, world) : analyseArgv(tool.argv, world);
}

/**
 * Returns absolute paths to look for in a folder that a command changes as a whole (`find -delete`, `cp -r`): those that
 * other sessions have claimed in any worktree, and the `.git` files of linked worktrees.
 */
function othersPaths(commonDir: string, session: SessionId): string[] {
  const trees = linkedWorktrees(commonDir);
  const tops = new Map(trees.map(({ path, gitDir }) => [knownWorktreeId(gitDir), path]));
  const claimed = readAllLedgers(commonDir).flatMap(({ place, ledger }) => {
    const top = tops.get(place.worktreeId);
    if (top === undefined || ledger.session === session) return [];
    return [...ledger.claims.keys()].map((path) => join(top, path));
  });
  const linked = trees.filter(({ gitDir }) => gitDir !== commonDir).map(({ path }) => join(path, '.git'));
  return [...claimed, ...linked];
}

/** The variables in which the client gives the session's id to its shell commands. This hook itself may not have them. */
function sessionVariables({ dialect, session }: Call): Readonly<Record<string, string>> {
  const own = Object.entries(SESSION_VARIABLES).filter(([, client]) => client === dialect.client);
  return Object.fromEntries(own.map(([name]) => [name, session ?? '']));
}

/** Verbs of git-handoff that change a working tree or leave something in the session's name. */
const OWN_WRITES = new Set(['ack', 'close', 'commit', 'import', 'rescue', 'stage', 'take', 'write']);

/**
 * Returns the worktrees, other than the call's own, that a command may change: those of the paths that it names, and of
 * the folders in which it runs git or an unknown program. A worktree that the command only reads does not count.
 *
 * @param repositories common dirs of the repositories whose worktrees a command may remove as a whole
 */
function touchedTrees(
  { paths, gitCalls, handoffCalls, folders }: ShellEffects,
  own: FoundRepository | undefined,
  repositories: readonly string[],
): FoundRepository[] {
  const trees = new Map<string, FoundRepository>();
  const seen = new Set<string>();
  const add = (folder: string | undefined) => {
    if (folder === undefined || seen.has(folder)) return;
    seen.add(folder);
    const found = discoverRepository(realPath(folder));
    if (found !== undefined && found.gitDir !== own?.gitDir && !isTryTree(found.workTree))
      trees.set(found.gitDir, found);
  };
  const removed: string[] = [];
  for (const { path, kind, follows } of paths) {
    const real = realPath(path, follows);
    if (kind === 'remove') removed.push(real);
    // A path inside `.git` belongs to the working tree around it.
    add(dirname(real.replace(/\/\.git\/.*$/s, '/.git')));
  }
  for (const call of gitCalls) if (!gitReads(call)) add(call.cwd);
  for (const { cwd, verb } of handoffCalls) if (OWN_WRITES.has(verb)) add(cwd);
  for (const folder of folders) add(folder);
  if (removed.length > 0)
    for (const tree of worktreesOf(repositories, own))
      if (removed.some((folder) => isBelow(tree, folder))) add(tree);
  return [...trees.values()];
}

/** The worktrees of all other repositories. A command that removes a folder around a worktree touches the worktree. */
function worktreesOf(repositories: readonly string[], own: FoundRepository | undefined): string[] {
  const others = repositories.filter((commonDir) => commonDir !== own?.commonDir);
  return others.flatMap((commonDir) => linkedWorktrees(commonDir).map(({ path }) => realPath(path)));
}
