import {
  stateFolder,
  beat,
  beatFile,
  ensureFolder,
  repositoryFolder,
  touchedFolder,
} from '../../host/folders.ts';
import { forgetAgents } from '../agents.ts';
import { forgetModels } from '../models.ts';
import { readVisits, removeVisit } from '../../sessions/visits.ts';
import { orUnchecked } from '../unchecked.ts';
import type { Finding } from '../findings.ts';
import { type SessionCall, type TreeCall, isInTree } from '../call.ts';
import { sessionStart } from './session-start.ts';
import { leave, visited } from '../visits.ts';
import { forgetCalls, answerCalls } from '../effects/tidy.ts';
import { askForNote, askAtStop } from './ask-note.ts';
import { noteCompaction, expectEndNotes, noteEnd, countOwn } from './automatic.ts';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SessionId } from '../../domain/names.ts';
import { openRepository, workTreeFacts } from '../../git/repository.ts';
import { exists } from '../../host/disk.ts';
import { forgetFailed } from '../../notes/failed-commands.ts';
import { isLate } from '../../notes/noted.ts';
import { forgetRegistration } from '../../sessions/registered.ts';
import { isSolo, removeSolo } from '../../sessions/solo.ts';
import { endSession, listSessions } from '../../sessions/records.ts';
import { readTopics } from '../../notes/topic.ts';
import { ledgerOf } from '../../changes/work-place.ts';
import { endAlone } from '../effects/arrival.ts';
import { dropUnused } from '../effects/list-touched.ts';

/** Everything but the decision before a tool; loaded apart, because that one is waited for at every call. */
export async function lifeCycle(call: SessionCall): Promise<readonly Finding[]> {
  const found = isInTree(call) ? await here(call) : [];
  if (readVisits(call.machine.env, call.session).length > 0) await inOtherTrees(call);
  if (call.event.kind === 'session-end') {
    forgetAgents(stateFolder(call.machine.env), call.session, call.now);
    forgetModels(call.machine.env, call.session, call.now);
  }
  return found;
}

async function here(call: TreeCall): Promise<readonly Finding[]> {
  switch (call.event.kind) {
    case 'session-start':
      return sessionStart(call);
    case 'prompt':
      return askForNote(call);
    case 'stop':
      return stop(call);
    case 'session-end':
      return sessionEnd(call);
    case 'compaction':
      await noteCompaction(call);
      return [];
    default:
      return [];
  }
}

/** The worktrees in which the session works from outside learn that its turn is over, or the session. */
async function inOtherTrees(call: SessionCall): Promise<void> {
  const { session } = call;
  const { kind } = call.event;
  if (kind !== 'stop' && kind !== 'session-end') return;
  for (const there of await visited(call)) {
    await orUnchecked(there, async () => {
      forgetCalls(there.tree, session, call.now);
      await leave(there);
      if (kind === 'session-end') await sessionEnd(there);
    });
  }
  if (kind === 'session-end') removeVisit(call.machine.env, session);
}

/** Reminds a session once, by a message to the person, when it stops with work and no note. Never blocks. */
async function stop(call: TreeCall): Promise<readonly Finding[]> {
  const { session, tree } = call;
  beat(tree.commonDir, session, call.event.name);
  const ledger = ledgerOf(tree, session);
  if (ledger !== undefined) answerCalls(ledger, session, call.now);
  if (call.event.stopHookActive) return [];
  if (call.dialect.tells.has(call.event.name)) {
    const asked = await askAtStop(call);
    if (asked.length > 0) return asked;
  }
  // Most sessions that stop have nothing uncommitted around them.
  if ((await workTreeFacts(call.tree.folder)).dirty === 0 || (await hasNote(call))) return [];
  const own = await countOwn(call);
  if (own === 0 || !firstTime(tree.commonDir, session)) return [];
  const text =
    `Handoff reminder: ${own} path${own === 1 ? '' : 's'} changed and no note left. ` +
    "Leave one with: git handoff write <topic> -m '<what the next session must know>' (Shown once per session.)";
  return [{ kind: 'show', text }];
}

async function hasNote(call: TreeCall): Promise<boolean> {
  const { session, machine } = call;
  if (machine.files.all().some((path) => machine.files.read(path).owner === session)) return true;
  return (await readTopics({ cwd: call.tree.folder })).some(
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
async function sessionEnd(call: TreeCall): Promise<readonly Finding[]> {
  const { session, tree } = call;
  const all = await listSessions({ cwd: call.tree.folder }, call.budget.left());
  const own = all.filter(({ record }) => record.session === session && record.ended === null);
  const here = expectEndNotes(call, all);
  // First of all: clients give it one or two seconds, and a session whose end is not on record has died.
  const repository = await openRepository(call.tree.folder);
  for (const stored of own) {
    await endSession(repository, stored, { at: call.now, reason: call.event.reason ?? 'other' });
  }
  if (isSolo(tree.gitDir, session)) removeSolo(tree.gitDir);
  forgetRegistration(tree, session);
  forgetCalls(tree, session, call.now);
  for (const file of [
    beatFile(tree.commonDir, session),
    join(repositoryFolder(tree.commonDir), 'nudged', session),
    join(repositoryFolder(tree.commonDir), 'asked', session),
  ]) {
    rmSync(file, { force: true });
  }
  // Then what takes time. Without this all that happens until the session comes back counts as its own.
  await endAlone(call);
  if (here !== undefined) await noteEnd(call, here, all);
  if (!own.some((one) => isLate(tree.commonDir, one))) forgetFailed(tree.commonDir, session);
  if (exists(touchedFolder(tree.commonDir))) {
    await dropUnused(call);
  }
  return [];
}
