import type { ToolCall, Verdict } from '../agents/dialect.ts';
import type { HandoffCall, IdentityEffect, PathEffect, RefEffect, ShellEffects } from '../shell/effects.ts';
import { analyseArgv, analyseShell } from '../shell/analyse.ts';
import { SESSION_VARIABLES } from '../domain/identity.ts';
import { checkedOutBranch, isHandoffRefFile } from '../git/discover.ts';
import { absolutePath, realPath } from '../host/disk.ts';
import { shellWorld } from '../host/shell-world.ts';
import { hasWorktreeBelow } from '../git/worktrees.ts';
import { RESCUE_MS } from './effects/rescue/rescue-time.ts';
import { removePath, decideGuarded } from './checks/guarded-path.ts';
import { firstRefusal, combined, stands } from './verdicts.ts';
import { mayGoAround } from '../shell/hook-ways.ts';
import { changesTree } from '../shell/tree-verb-names.ts';
import type { SessionId } from '../domain/names.ts';
import type { Look } from './look-once.ts';
import { othersPaths } from './checks/claimed-paths.ts';
import type { Looking } from './look-before.ts';
import { quietly } from './quietly.ts';
import { identityRefusal, personsRefusal, refRefusal } from './refusals.ts';
import type { Scene } from './scene.ts';

const GUARDED_REFS = 'refs/handoffs';

/** Decides a shell command: what it would change is told without running it. */
export async function shellTool(
  scene: Scene,
  tool: Extract<ToolCall, { kind: 'shell' | 'argv' }>,
  looking: Looking | undefined,
  ahead: Look | undefined,
): Promise<Verdict> {
  const { home, place, files } = scene;
  const { session } = scene.event;
  const env = { ...sessionVariables(scene), ...scene.env };
  const cwd = tool.cwd === undefined ? scene.cwd : absolutePath(tool.cwd, scene.cwd, home);
  const commonDir = place?.commonDir;
  const isKnown = scene.enabled && commonDir !== undefined && session !== undefined;
  const claimed = () => (isKnown ? othersPaths(commonDir, session) : []);
  const { aliases } = scene;
  const where = { cwd, home, env, commonDir, headBranch: checkedOutBranch, aliases, claimed };
  const world = shellWorld(where, files);
  const effects = tool.kind === 'shell' ? analyseShell(tool.command, world) : analyseArgv(tool.argv, world);
  const verdict = firstRefusal([
    // First those that nobody can lift.
    ...(scene.enabled ? effects.identity.flatMap((effect) => identityVerdicts(scene, effect)) : []),
    ...effects.handoffCalls.flatMap((call) => (isPersons(call) ? [personsVerdict()] : [])),
    ...effects.paths.flatMap((effect) => pathVerdicts(scene, effect)),
    ...(await refVerdicts(scene, effects.refs)),
  ]);
  if (stands(scene, verdict)) return verdict;
  const unseen = await unseenWrites(scene, effects);
  if (unseen !== undefined && stands(scene, unseen)) return unseen;
  const other = await inOtherTrees(scene, effects);
  if (other !== undefined && stands(scene, other)) return other;
  if (!scene.enabled || session === undefined) return verdict;
  // What may destroy work is worth waiting for.
  if (effects.gitCalls.some(({ verb }) => changesTree(verb))) scene.budget.extend(RESCUE_MS);
  const look = looking === undefined ? (ahead ?? lookLater(scene)) : () => looking.snapshot;
  const shared = await ofAllWorktrees(scene, session, effects, look);
  if (shared !== undefined && stands(scene, shared)) return shared;
  const around = await pastHooks(scene, session, effects);
  if (around !== undefined && stands(scene, around)) return around;
  const told = combined(verdict, await inLedger(scene, session, effects, looking));
  if (stands(scene, told)) return told;
  return combined(told, await savedFirst(scene, session, effects, look));
}

/** Most commands neither commit nor change what the hooks are. */
async function pastHooks(
  scene: Scene,
  session: SessionId,
  effects: ShellEffects,
): Promise<Verdict | undefined> {
  if (!mayGoAround(effects)) return undefined;
  return quietly(scene, async () => {
    const { waysAround } = await import('./checks/ways-around.ts');
    return waysAround(scene, session, effects);
  });
}

function lookLater(scene: Scene): Look {
  return async () => (await import('./look-once.ts')).lookOnce(scene)();
}

async function inLedger(
  scene: Scene,
  session: SessionId,
  effects: ShellEffects,
  looking: Looking | undefined,
): Promise<Verdict | undefined> {
  if (looking === undefined) return undefined;
  const { beforeShell } = await import('./checks/before-shell.ts');
  return quietly(scene, () => beforeShell(scene, session, effects, looking));
}

/** Most commands leave stash, branches and worktrees alone. */
async function ofAllWorktrees(
  scene: Scene,
  session: SessionId,
  effects: ShellEffects,
  look: Look,
): Promise<Verdict | undefined> {
  const isShared = effects.gitCalls.some(({ verb }) => SHARED_VERBS.has(verb));
  if (!isShared && !effects.paths.some(({ kind }) => kind === 'remove')) return undefined;
  return quietly(scene, async () => {
    const { sharedVerbs } = await import('./checks/shared-verbs.ts');
    return sharedVerbs(scene, session, effects, look);
  });
}

const SHARED_VERBS = new Set([
  'stash',
  'worktree',
  'clean',
  'branch',
  'reset',
  'switch',
  'checkout',
  'update-ref',
]);

/** Uncommitted work that the command may destroy is saved before. */
async function savedFirst(
  scene: Scene,
  session: SessionId,
  effects: ShellEffects,
  look: Look,
): Promise<Verdict | undefined> {
  const removes = effects.paths.some(({ kind }) => kind === 'remove');
  if (!removes && !effects.gitCalls.some(({ verb }) => changesTree(verb))) return undefined;
  return quietly(scene, async () => {
    const { saveBefore } = await import('./effects/rescue/before-command.ts');
    return saveBefore(scene, session, effects, look);
  });
}

/** Most commands stay where they are: this is loaded for those that do not. */
async function inOtherTrees(scene: Scene, effects: ShellEffects): Promise<Verdict | undefined> {
  const { place, enabled, event } = scene;
  const { session } = event;
  if (!enabled || place === undefined || session === undefined) return undefined;
  const hasNested = hasWorktreeBelow(place);
  const isHere = (path: string | undefined) =>
    path === undefined || (!hasNested && `${path}/`.startsWith(`${place.workTree}/`));
  const leaves =
    effects.gitCalls.some(({ cwd }) => !isHere(cwd)) || effects.paths.some(({ path }) => !isHere(path));
  if (!leaves) return undefined;
  return quietly(scene, async () => {
    const { otherTrees } = await import('./checks/other-trees.ts');
    return otherTrees(scene, session, effects);
  });
}

async function unseenWrites(scene: Scene, effects: ShellEffects): Promise<Verdict | undefined> {
  if (!scene.enabled || scene.event.agent === undefined || effects.handoffCalls.length === 0)
    return undefined;
  const { checkAgentWrites } = await import('./checks/sub-agents.ts');
  return checkAgentWrites(scene, effects.handoffCalls);
}

/** What the client sets for its shell commands, whether or not it sets it for its hooks. */
function sessionVariables({ dialect, event }: Scene): Readonly<Record<string, string>> {
  const own = SESSION_VARIABLES.filter(({ client }) => client === dialect.client);
  return Object.fromEntries(own.map(({ name }) => [name, event.session ?? '']));
}

function pathVerdicts(scene: Scene, { path, kind, follows, by }: PathEffect): Verdict[] {
  if (kind === 'remove') return removePath(scene, path, by);
  if (isHandoffRefFile(realPath(path, follows), false)) {
    return [{ kind: 'deny', reason: refRefusal({ ref: path, by }) }];
  }
  const guarded = scene.files.reachedBy(path, follows);
  return guarded === undefined ? [] : [decideGuarded(scene, guarded, { kind: 'shell' }, by)];
}

/** Refs are guarded where `init` ran, and where handoffs are although it did not. */
async function refVerdicts(scene: Scene, effects: readonly RefEffect[]): Promise<Verdict[]> {
  const hits = effects.filter(({ ref }) => touchesHandoffs(ref));
  const [hit] = hits;
  if (hit === undefined) return [];
  const guarded = scene.enabled || (await holdsHandoffs(hit.cwd));
  return guarded ? [{ kind: 'deny', reason: refRefusal(hit) }] : [];
}

/** Whether the repository around a folder has any handoff, by asking git. */
async function holdsHandoffs(cwd: string): Promise<boolean> {
  const { listRefs } = await import('../git/refs.ts');
  return (await listRefs({ cwd }, [`${GUARDED_REFS}/`]).catch(() => [])).length > 0;
}

/** A pattern with one `*` touches handoffs when either could be the beginning of the other. */
function touchesHandoffs(ref: string): boolean {
  const star = ref.indexOf('*');
  if (star < 0) return ref.startsWith(`${GUARDED_REFS}/`) || ref.startsWith(`${GUARDED_REFS}-local/`);
  const beginning = ref.slice(0, star);
  return [`${GUARDED_REFS}/`, `${GUARDED_REFS}-local/`].some(
    (namespace) => namespace.startsWith(beginning) || beginning.startsWith(namespace),
  );
}

function identityVerdicts(scene: Scene, effect: IdentityEffect): Verdict[] {
  const { session } = scene.event;
  if (effect.kind === 'session-option' && effect.value === session) return [];
  return [{ kind: 'deny', reason: identityRefusal(effect, session), isFinal: true }];
}

function isPersons({ verb, words }: HandoffCall): boolean {
  return verb === 'allow' && !words.some((word) => word === '-h' || word === '--help');
}

/** A session does not lift its own refusals. */
function personsVerdict(): Verdict {
  return { kind: 'deny', reason: personsRefusal(), isFinal: true };
}
