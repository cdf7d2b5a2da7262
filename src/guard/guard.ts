import { homedir } from 'node:os';
import { clientOf, dialectFor } from '../agents/index.ts';
import type { Dialect, GuardEvent, Verdict } from '../agents/dialect.ts';
import {
  type SettingEntry,
  aliasesFrom,
  entriesFromLines,
  parseSettings,
  treeSettingsFrom,
} from '../domain/settings.ts';
import { type FoundRepository, discoverRepository } from '../git/discover.ts';
import { gitState } from '../git/limits.ts';
import { exists, realPath } from '../host/disk.ts';
import { ensureFolder, hungFolder, isInitialised, repositoryFolder, stateFolder } from '../host/folders.ts';
import { type Budget, beforeAnswer, inTime } from '../host/io.ts';
import { type LogLine, appendLog } from '../host/log.ts';
import { markerFiles } from '../host/marker-files.ts';
import { beforeTool } from './before-tool.ts';
import { decideOrLift } from './lift.ts';
import { ALLOW, combined } from './verdicts.ts';
import { noteCall } from './presence.ts';
import type { Listed, Scene } from './scene.ts';
import { PROBE_TOOL } from '../install/probe-tool.ts';

/** One call of a client's hook. */
export interface GuardCall {
  /** The payload, as it came. */
  readonly text: string;
  readonly client: string | undefined;
  /** The settings, when the launcher has read them already. */
  readonly settings: string | undefined;
  /** git did not tell the settings in time, and is not asked again. */
  readonly isLate?: boolean | undefined;
  /** Refs that it has listed. */
  readonly listed?: Listed;
  readonly clientPid: number;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly budget: Budget;
}

/**
 * Decides one hook call and returns the bytes for stdout; silence allows. It never throws and never
 * answers late: whatever goes wrong, or takes too long, is one line in the log and an allowed call.
 */
export async function guard(call: GuardCall): Promise<string> {
  let client = call.client ?? '';
  let folder = stateFolder(call.env);
  let event: GuardEvent | undefined;
  const log = (kind: string, detail: string) => {
    const line: LogLine = {
      event: event?.name ?? '',
      client,
      session: event?.session ?? '',
      kind,
      detail,
    };
    appendLog(folder, line);
  };
  try {
    const payload: unknown = JSON.parse(withoutMark(call.text));
    client = clientOf(call.client, payload);
    const dialect = await dialectFor(client);
    client = dialect.client;
    event = dialect.parse(payload, call.env);
    if (event === undefined) throw new Error('the payload is none of this client');
    const unchecked = new Set<string>();
    const scene = await setScene(call, dialect, event, { log, notChecked: (what) => unchecked.add(what) });
    folder = ownFolder(scene) ?? folder;
    const decided = await decideInTime(scene);
    await noteGitState(scene);
    const verdict =
      decided.kind === 'deny' ? decided : combined(decided, notCheckedVerdict(event, unchecked));
    if (verdict.kind === 'deny') log('deny', `${event.toolName ?? ''}: ${verdict.reason}`);
    return dialect.render(verdict, event, payload);
  } catch (error) {
    log('error', error instanceof Error ? error.message : String(error));
    return '';
  }
}

/** Some writers put a byte order mark before a text; JSON knows none. */
const withoutMark = (text: string) => (text.startsWith('\u{FEFF}') ? text.slice(1) : text);

async function setScene(
  call: GuardCall,
  dialect: Dialect,
  event: GuardEvent,
  { log, notChecked }: Pick<Scene, 'log' | 'notChecked'>,
): Promise<Scene> {
  const home = call.env['HOME'] ?? homedir();
  const cwd = event.cwd ?? call.cwd;
  const [entries, place] = await Promise.all([
    entriesOf(call, cwd).catch((error: unknown): readonly SettingEntry[] => {
      log('open', `settings could not be read: ${String(error)}`);
      return [];
    }),
    findPlace(cwd, call.env),
  ]);
  const settings = parseSettings(entries);
  const isEnabled =
    settings.enabled === true ||
    (call.isLate === true && place !== undefined && isInitialised(place.commonDir));
  const enabled = isEnabled && place !== undefined;
  const files = markerFiles(home, call.env, settings.guardPath);
  const { env, clientPid, listed, now, budget } = call;
  return {
    event,
    dialect,
    env,
    home,
    cwd,
    folder: cwd,
    clientPid,
    settings,
    entries,
    listed,
    aliases: aliasesFrom(entries),
    treeSettings: treeSettingsFrom(entries),
    files,
    place,
    enabled,
    now,
    budget,
    notChecked,
    log,
  };
}

/** Our folder in the repository; a decision does not need it, so one that cannot be made is none. */
function ownFolder({ place, enabled }: Scene): string | undefined {
  if (place === undefined || !enabled) return undefined;
  const folder = repositoryFolder(place.commonDir);
  try {
    ensureFolder(folder);
    return folder;
  } catch {
    return undefined;
  }
}

/** Whatever starts git is loaded only where git is needed: most calls are decided without. */
async function entriesOf(
  { settings, isLate, budget }: GuardCall,
  cwd: string,
): Promise<readonly SettingEntry[]> {
  if (isLate === true) return [];
  if (settings !== undefined) return entriesFromLines(settings);
  const { plainConfig } = await import('../git/config-under.ts');
  return plainConfig(cwd, budget.left());
}

/** `GIT_DIR` and friends are git's to read; the common case needs no process. */
async function findPlace(cwd: string, env: NodeJS.ProcessEnv): Promise<FoundRepository | undefined> {
  // By its real name: paths of tools are compared by theirs.
  const found = env['GIT_DIR'] === undefined ? discoverRepository(realPath(cwd)) : undefined;
  if (found !== undefined || env['GIT_DIR'] === undefined) return found;
  const { openRepository } = await import('../git/repository.ts');
  const opened = await openRepository(cwd).catch(() => undefined);
  return opened === undefined
    ? undefined
    : { workTree: cwd, gitDir: opened.gitDir, commonDir: opened.commonDir };
}

/** Where git hangs, the next calls of this worktree wait less for it: noted where there is anything to note. */
async function noteGitState({ place, env, now, log }: Scene): Promise<void> {
  const state = gitState();
  const folder = stateFolder(env);
  if (place === undefined || state === undefined) return;
  if (state === 'answers' && !exists(hungFolder(folder))) return;
  try {
    const { noteGit } = await import('../host/breaker.ts');
    noteGit(folder, place.workTree, state, now);
  } catch (error) {
    log('open', `that git hangs is not remembered: ${String(error)}`);
  }
}

async function decideInTime(scene: Scene): Promise<Verdict> {
  const verdict = await inTime(decideOrLift(scene, decide), scene.budget);
  if (verdict !== 'late') return verdict;
  scene.log('open', 'the deadline passed before there was a decision');
  if (scene.enabled) scene.notChecked('this call, for git did not answer in time');
  return ALLOW;
}

/** Only around a tool: there the session reads the answer, and goes on. */
function notCheckedVerdict({ kind }: GuardEvent, unchecked: ReadonlySet<string>): Verdict | undefined {
  if (unchecked.size === 0 || (kind !== 'before-tool' && kind !== 'after-tool')) return undefined;
  return { kind: 'context', text: `git-handoff: not checked: ${[...unchecked].join('; ')}` };
}

async function decide(scene: Scene): Promise<Verdict> {
  const { event, enabled } = scene;
  const { session } = event;
  if (event.toolName === PROBE_TOOL) {
    scene.log('probe', scene.env['GIT_HANDOFF_PROBE'] ?? '');
    return ALLOW;
  }
  if (event.kind === 'before-tool') {
    // Who else is here must be known before anything is decided about their work.
    const told = enabled && session !== undefined ? await registration(scene, session) : undefined;
    return combined(await beforeTool(scene), told);
  }
  if (session === undefined) return ALLOW;
  if (event.kind === 'after-tool') return (await import('./events/after-tool.ts')).afterTool(scene, session);
  const { lifeCycle } = await import('./events/life-cycle.ts');
  return lifeCycle(scene, session);
}

/** A session that was not on record is, from now on. A decision is made whatever becomes of this. */
async function registration(
  scene: Scene,
  session: NonNullable<GuardEvent['session']>,
): Promise<Verdict | undefined> {
  const registered = register(scene, session).catch((error: unknown) => {
    scene.log('error', `registration: ${String(error)}`);
    return undefined;
  });
  const { budget } = scene;
  const told = await inTime(registered, budget.part(beforeAnswer(budget)));
  return told === 'late' ? undefined : told;
}

async function register(
  scene: Scene,
  session: NonNullable<GuardEvent['session']>,
): Promise<Verdict | undefined> {
  if (noteCall(scene, session)) return undefined;
  return (await import('./events/first-call.ts')).registerCaller(scene, session);
}
