import type { Verdict } from '../agents/dialect.ts';
import type { HandoffCall, IdentityEffect, PathEffect, RefEffect, ShellEffects } from '../shell/effects.ts';
import { isHandoffRefFile } from '../git/discover.ts';
import { realPath } from '../host/disk.ts';
import { type CommandTool, analysed } from './analysed.ts';
import { removePath, decideGuarded } from './checks/guarded-path.ts';
import { ALLOW, firstRefusal, combined, stands } from './verdicts.ts';
import type { Visit } from './visits.ts';
import { mayGoAround } from '../shell/hook-ways.ts';
import { changesTree } from '../shell/tree-verb-names.ts';
import type { SessionId } from '../domain/names.ts';
import type { Look } from './look-once.ts';
import type { Looking } from './look-before.ts';
import { quietly } from './quietly.ts';
import { identityRefusal, personsRefusal, refRefusal } from './refusals.ts';
import type { Scene } from './scene.ts';

const GUARDED_REFS = 'refs/handoffs';

/** Decides a shell command: what it would change is told without running it. */
export async function shellTool(
  scene: Scene,
  tool: CommandTool,
  looking: Looking | undefined,
  ahead: Look | undefined,
): Promise<Verdict> {
  const { session } = scene.event;
  const { effects, visits } = await analysed(scene, tool);
  const isOn = scene.enabled || visits.length > 0;
  if (scene.settings.enabled === false && !isOn) return ALLOW;
  const verdict = firstRefusal([
    // First those that nobody can lift.
    ...(isOn ? effects.identity.flatMap((effect) => identityVerdicts(scene, effect)) : []),
    ...effects.handoffCalls.flatMap((call) => (isPersons(call) ? [personsVerdict()] : [])),
    ...effects.paths.flatMap((effect) => pathVerdicts(scene, effect)),
    ...(await refVerdicts(isOn, effects.refs)),
  ]);
  if (stands(scene, verdict)) return verdict;
  const unseen = await unseenWrites(scene, effects);
  if (unseen !== undefined && stands(scene, unseen)) return unseen;
  if (session === undefined) return verdict;
  const look = looking === undefined ? (ahead ?? lookLater(scene)) : looking.snapshot;
  const shared = scene.enabled ? await ofAllWorktrees(scene, session, effects, look) : undefined;
  if (shared !== undefined && stands(scene, shared)) return shared;
  const other = await inOtherTrees(scene, session, tool, effects, visits);
  if (other !== undefined && stands(scene, other)) return other;
  const said = combined(verdict, other);
  if (!scene.enabled) return said;
  return combined(said, await inTree(scene, session, effects, { looking, look, saves: true }));
}

/** The other worktrees that the command touches: their sessions' work is as much theirs. */
async function inOtherTrees(
  scene: Scene,
  session: SessionId,
  tool: CommandTool,
  effects: ShellEffects,
  visits: readonly Visit[],
): Promise<Verdict | undefined> {
  if (visits.length === 0) return undefined;
  const { decideThere } = await import('./decide-there.ts');
  const { lookBefore } = await import('./look-before.ts');
  // What all worktrees of a repository share is decided once.
  const decided = new Set(scene.enabled ? [scene.place?.commonDir] : []);
  let said: Verdict = ALLOW;
  for (const { scene: there, found } of visits) {
    const isFirst = !decided.has(found.commonDir);
    decided.add(found.commonDir);
    const looking = await quietly(there, () => Promise.resolve(lookBefore(there, session, tool)));
    const look = looking === undefined ? lookLater(there) : looking.snapshot;
    const verdict = await decideThere(there, scene, session, async (at) => {
      const shared = isFirst ? await ofAllWorktrees(at, session, effects, look) : undefined;
      if (shared !== undefined && stands(at, shared)) return shared;
      return inTree(at, session, effects, { looking, look, saves: isFirst });
    });
    if (stands(there, verdict)) return verdict;
    said = combined(said, verdict);
  }
  return said;
}

/** What the command does in one worktree. What it may destroy in any of the repository is saved once. */
async function inTree(
  scene: Scene,
  session: SessionId,
  effects: ShellEffects,
  { looking, look, saves }: { looking: Looking | undefined; look: Look; saves: boolean },
): Promise<Verdict> {
  const around = await pastHooks(scene, session, effects);
  if (around !== undefined && stands(scene, around)) return around;
  const told = combined(ALLOW, await inLedger(scene, session, effects, looking));
  if (stands(scene, told) || !saves) return told;
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

async function unseenWrites(scene: Scene, effects: ShellEffects): Promise<Verdict | undefined> {
  if (!scene.enabled || scene.event.agent === undefined || effects.handoffCalls.length === 0)
    return undefined;
  const { checkAgentWrites } = await import('./checks/sub-agents.ts');
  return checkAgentWrites(scene, effects.handoffCalls);
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
async function refVerdicts(isOn: boolean, effects: readonly RefEffect[]): Promise<Verdict[]> {
  const hits = effects.filter(({ ref }) => touchesHandoffs(ref));
  const [hit] = hits;
  if (hit === undefined) return [];
  const guarded = isOn || (await holdsHandoffs(hit.cwd));
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
