import type { SessionId } from '../domain/names.ts';
import { aliasesFrom, parseSettings, treeSettingsFrom } from '../domain/settings.ts';
import type { FoundRepository } from '../git/discover.ts';
import { unfinishedOperation } from '../git/operations.ts';
import { knownWorktreeId, repositoryFolder } from '../host/folders.ts';
import { appendLog } from '../host/log.ts';
import { readLedger } from '../changes/ledger.ts';
import { readBeginners } from '../changes/operations.ts';
import { readWindows } from '../changes/windows.ts';
import { listSessions, removeRecords } from '../sessions/records.ts';
import { forgetRegistration } from '../sessions/registered.ts';
import { putVisit, readVisits, removeVisit } from '../sessions/visits.ts';
import { forgetCalls } from './effects/tidy.ts';
import { noteCall } from './presence.ts';
import { quietly } from './quietly.ts';
import { windowId } from './window-id.ts';
import { ledgerOf } from '../changes/work-place.ts';
import type { Scene } from './scene.ts';

/**
 * A call is judged in every worktree that it touches, wherever it is made: in a scene of the worktree's own, with the
 * settings of its repository.
 */
export interface Visit {
  readonly scene: Scene;
  readonly found: FoundRepository;
  /** The session was never there before. */
  readonly isNew: boolean;
}

/** The scene of a worktree that a call touches from outside; `undefined` where git-handoff is not switched on. */
async function sceneAt(scene: Scene, found: FoundRepository): Promise<Scene | undefined> {
  // What a person allowed in one repository is not allowed in another.
  const { lifted, ...rest } = scene;
  const there = { ...rest, place: found, folder: found.workTree, visiting: true } as const;
  if (scene.enabled && scene.place?.commonDir === found.commonDir)
    return lifted === undefined ? there : { ...there, lifted };
  const { plainConfig } = await import('../git/config-under.ts');
  const entries = await plainConfig(found.workTree, scene.budget.left());
  const settings = parseSettings(entries);
  if (settings.enabled !== true) return undefined;
  const { event, dialect } = scene;
  return {
    ...there,
    settings,
    entries,
    aliases: aliasesFrom(entries),
    treeSettings: treeSettingsFrom(entries),
    enabled: true,
    log: (kind, detail) =>
      appendLog(repositoryFolder(found.commonDir), {
        event: event.name,
        client: dialect.client,
        session: event.session ?? '',
        kind,
        detail,
      }),
  };
}

/** The scenes of those worktrees where git-handoff is switched on. */
export async function scenesAt(scene: Scene, trees: readonly FoundRepository[]): Promise<Scene[]> {
  const scenes = await Promise.all(trees.map((found) => quietly(scene, () => sceneAt(scene, found))));
  return scenes.filter((one) => one !== undefined);
}

/**
 * Puts the session on record in the worktrees that a call touches, before anything is decided about their work.
 *
 * @param known scenes that were made already
 */
export async function visit(
  scene: Scene,
  session: SessionId,
  trees: readonly FoundRepository[],
  known: readonly Scene[] = [],
): Promise<Visit[]> {
  const strange = trees.filter(({ gitDir }) => !known.some(({ place }) => place?.gitDir === gitDir));
  const scenes = [...known, ...(await scenesAt(scene, strange))];
  const visits = await Promise.all(
    trees.map(async (found) => {
      const there = scenes.find(({ place }) => place?.gitDir === found.gitDir);
      if (there === undefined) return undefined;
      // Whatever becomes of the record, what others have there is looked at.
      const entered = await quietly(there, () => enter(there, session, found));
      return entered ?? { scene: there, found, isNew: false };
    }),
  );
  return visits.filter((one) => one !== undefined);
}

async function enter(there: Scene, session: SessionId, found: FoundRepository): Promise<Visit> {
  // Also where it began itself: what follows on this call may be told from the other folder, too.
  putVisit(there.env, session, found);
  if (noteCall(there, session)) return { scene: there, found, isNew: false };
  const { register } = await import('./events/registration.ts');
  const registered = await register(there, session);
  return { scene: there, found, isNew: registered?.isNew === true };
}

/** The scenes of the worktrees in which the session is on record although its calls are made elsewhere. */
export async function visited(scene: Scene, session: SessionId): Promise<Scene[]> {
  const trees = readVisits(scene.env, session).filter(({ gitDir }) => gitDir !== scene.place?.gitDir);
  return scenesAt(scene, trees);
}

/** Those of them in which the command ran that is over now. */
export async function ranIn(scene: Scene, session: SessionId): Promise<Scene[]> {
  const id = windowId(scene);
  return (await visited(scene, session)).filter(({ place }) => {
    const ledger = place === undefined ? undefined : ledgerOf(place, session);
    return ledger !== undefined && readWindows(ledger, session).some((window) => window.id === id);
  });
}

/** A visitor goes when it has no uncommitted work there any more, and nothing of git's to finish. */
export async function leave(scene: Scene, session: SessionId): Promise<void> {
  const { place, env } = scene;
  const worktreeId = place === undefined ? undefined : knownWorktreeId(place.gitDir);
  if (place === undefined || worktreeId === undefined) return;
  const ledger = { commonDir: place.commonDir, worktreeId };
  if (readLedger(ledger, session).claims.size > 0 || readWindows(ledger, session).length > 0) return;
  const operation = unfinishedOperation(place.gitDir);
  if (operation !== undefined && readBeginners(place.gitDir, operation).includes(session)) return;
  const repository = { cwd: place.workTree };
  const all = await listSessions(repository, scene.budget.left());
  const own = all.filter((one) => one.worktreeId === worktreeId && one.record.session === session);
  if (!own.every(({ record }) => record.visiting)) return;
  await removeRecords(repository, own);
  forgetRegistration(place, session);
  forgetCalls(place, session, scene.now);
  removeVisit(env, session, place);
}
