import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Verdict } from '../../agents/dialect.ts';
import type { SessionId } from '../../domain/names.ts';
import { openRepository, workTreeFacts } from '../../git/repository.ts';
import { beatFile, ensureFolder, repositoryFolder } from '../../host/folders.ts';
import { forgetFailed } from '../../notes/failed-commands.ts';
import { isLate } from '../../notes/noted.ts';
import { forgetRegistration } from '../../sessions/registered.ts';
import { isSolo, removeSolo } from '../../sessions/solo.ts';
import { endSession, listSessions } from '../../sessions/records.ts';
import { readTopics } from '../../notes/topic.ts';
import { ledgerOf } from '../../changes/work-place.ts';
import { answerCalls, forgetCalls } from '../effects/tidy.ts';
import type { Scene } from '../scene.ts';

/** Reminds a session once, by a message to the person, when it stops with work and no note. Never blocks. */
export async function stop(scene: Scene, session: SessionId): Promise<Verdict> {
  const { place } = scene;
  if (place === undefined) return { kind: 'allow' };
  const ledger = ledgerOf(place, session);
  if (ledger !== undefined) answerCalls(ledger, session, scene.now);
  if (scene.event.stopHookActive) return { kind: 'allow' };
  // Most sessions that stop have nothing uncommitted around them.
  if ((await workTreeFacts(scene.folder)).dirty === 0 || (await hasNote(scene, session)))
    return { kind: 'allow' };
  const own = await (await import('./automatic.ts')).countOwn(scene, session);
  if (own === 0 || !firstTime(place.commonDir, session)) return { kind: 'allow' };
  return {
    kind: 'notice',
    text:
      `Handoff reminder: ${own} path${own === 1 ? '' : 's'} changed and no note left. ` +
      "Leave one with: git handoff write <topic> -m '<what the next session must know>' (Shown once per session.)",
  };
}

async function hasNote(scene: Scene, session: SessionId): Promise<boolean> {
  if (scene.files.all().some((path) => scene.files.read(path).owner === session)) return true;
  return (await readTopics({ cwd: scene.folder })).some(
    ({ tip }) => tip?.trailers?.owner === session && tip.trailers.automatic === undefined,
  );
}

/** Whether this is the session's first reminder; two hooks at once agree by exclusive creation. */
function firstTime(commonDir: string, session: SessionId): boolean {
  const file = join(repositoryFolder(commonDir), 'nudged', session);
  try {
    ensureFolder(dirname(file));
    writeFileSync(file, '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

/** Records that a session is over, in every worktree it was registered in. */
export async function sessionEnd(scene: Scene, session: SessionId): Promise<Verdict> {
  const { place } = scene;
  if (place === undefined) return { kind: 'allow' };
  const all = await listSessions({ cwd: scene.folder }, scene.budget.left());
  const own = all.filter(({ record }) => record.session === session && record.ended === null);
  const { expectEndNotes, noteEnd } = await import('./automatic.ts');
  const here = expectEndNotes(scene, session, all);
  // First of all: clients give it one or two seconds, and a session whose end is not on record has died.
  const repository = await openRepository(scene.folder);
  for (const stored of own) {
    await endSession(repository, stored, { at: scene.now, reason: scene.event.reason ?? 'other' });
  }
  if (isSolo(place.gitDir, session)) removeSolo(place.gitDir);
  forgetRegistration(place, session);
  forgetCalls(place, session, scene.now);
  for (const file of [
    beatFile(place.commonDir, session),
    join(repositoryFolder(place.commonDir), 'nudged', session),
  ]) {
    rmSync(file, { force: true });
  }
  // Then what takes time. Without this all that happens until the session comes back counts as its own.
  const { endAlone } = await import('../effects/arrival.ts');
  await endAlone(scene, place, session);
  if (here !== undefined) await noteEnd(scene, here, all);
  if (!own.some((one) => isLate(place.commonDir, one))) forgetFailed(place.commonDir, session);
  return { kind: 'allow' };
}
