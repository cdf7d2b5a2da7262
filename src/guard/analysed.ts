import type { ToolCall } from '../agents/dialect.ts';
import { SESSION_VARIABLES } from '../domain/identity.ts';
import { checkedOutBranch, discoverRepository } from '../git/discover.ts';
import { absolutePath, realPath } from '../host/disk.ts';
import { shellWorld } from '../host/shell-world.ts';
import { knownRepositories } from '../sessions/visits.ts';
import { analyseArgv, analyseShell } from '../shell/analyse.ts';
import type { ShellEffects } from '../shell/effects.ts';
import { othersPaths } from './checks/claimed-paths.ts';
import type { Scene } from './scene.ts';
import { touchedTrees } from './touched-trees.ts';
import type { Visit } from './visits.ts';

export type CommandTool = Extract<ToolCall, { kind: 'shell' | 'argv' }>;

/** What a command would change, and the worktrees in which it would, besides the session's own. */
export interface Analysed {
  readonly effects: ShellEffects;
  readonly visits: readonly Visit[];
}

/**
 * Analyses a command. Where it touches other repositories it is analysed again: with their aliases, and, when the session
 * was not known there before, with what others are known to have changed.
 */
export async function analysed(scene: Scene, tool: CommandTool): Promise<Analysed> {
  const { session } = scene.event;
  const repositories = knownRepositories(scene.env);
  const touched = (effects: ShellEffects) => touchedTrees(effects, scene.place, repositories);
  let effects = analyse(scene, tool, [], repositories);
  let trees = session === undefined ? [] : touched(effects);
  if (session === undefined || trees.length === 0) return { effects, visits: [] };
  const { scenesAt, visit } = await import('./visits.ts');
  const known = await scenesAt(scene, trees);
  if (known.some(({ place }) => place?.commonDir !== scene.place?.commonDir)) {
    effects = analyse(scene, tool, known, repositories);
    trees = touched(effects);
  }
  const visits = await visit(scene, session, trees, known);
  if (visits.some(({ isNew }) => isNew)) effects = analyse(scene, tool, known, repositories);
  return { effects, visits };
}

function analyse(
  scene: Scene,
  tool: CommandTool,
  elsewhere: readonly Scene[],
  repositories: readonly string[],
): ShellEffects {
  const { home, place, files } = scene;
  const { session } = scene.event;
  const env = { ...sessionVariables(scene), ...scene.env };
  const cwd = tool.cwd === undefined ? scene.cwd : absolutePath(tool.cwd, scene.cwd, home);
  const commonDir = place?.commonDir;
  const commonDirs = new Set([
    ...(scene.enabled && commonDir !== undefined ? [commonDir] : []),
    ...repositories,
  ]);
  const claimed = () =>
    session === undefined ? [] : [...commonDirs].flatMap((dir) => othersPaths(dir, session));
  const aliasesAt = (folder: string) => {
    if (elsewhere.length === 0) return scene.aliases;
    const at = discoverRepository(realPath(folder))?.commonDir;
    return (elsewhere.find((one) => one.place?.commonDir === at) ?? scene).aliases;
  };
  const where = { cwd, home, env, commonDir, headBranch: checkedOutBranch, aliasesAt, claimed };
  const world = shellWorld(where, files);
  return tool.kind === 'shell' ? analyseShell(tool.command, world) : analyseArgv(tool.argv, world);
}

/** What the client sets for its shell commands, whether or not it sets it for its hooks. */
function sessionVariables({ dialect, event }: Scene): Readonly<Record<string, string>> {
  const own = SESSION_VARIABLES.filter(({ client }) => client === dialect.client);
  return Object.fromEntries(own.map(({ name }) => [name, event.session ?? '']));
}
