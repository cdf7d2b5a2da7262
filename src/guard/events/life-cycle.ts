import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { contextUse, sessionFile } from '../../agents/context-use.ts';
import { ledgerOf } from '../../changes/work-place.ts';
import { parseContextSettings } from '../../domain/context-settings.ts';
import { type SessionId, parseTopic } from '../../domain/names.ts';
import { topicSlug } from '../../domain/note/topic-slug.ts';
import { encodeBranch } from '../../git/namespace.ts';
import { openRepository, workTreeFacts } from '../../git/repository.ts';
import { exists, readText, readTail } from '../../host/disk.ts';
import {
  stateFolder,
  beat,
  beatFile,
  ensureFolder,
  repositoryFolder,
  touchedFolder,
} from '../../host/folders.ts';
import { byAge } from '../../notes/find-topic.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import { readTopics, type TopicState } from '../../notes/topic.ts';
import { endSession, listSessions } from '../../sessions/records.ts';
import { forgetRegistration } from '../../sessions/registered.ts';
import { isSolo, removeSolo } from '../../sessions/solo.ts';
import { readVisits, removeVisit } from '../../sessions/visits.ts';
import { forgetAgents } from '../agents.ts';
import { forgetModels } from '../models.ts';
import { orUnchecked, type SessionCall, type TreeCall, isInTree } from '../call.ts';
import { endAlone } from '../effects/arrival.ts';
import { dropUnused } from '../effects/list-touched.ts';
import { forgetCalls, answerCalls } from '../effects/tidy.ts';
import type { Finding } from '../findings.ts';
import { leave, visited } from '../visits.ts';
import { noteCompaction, expectEndNotes, noteEnd, countOwn, hasUntoldWork } from './automatic.ts';
import { sessionStart } from './session-start.ts';

/** Handles every event but those of a tool. */
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
  if (exists(touchedFolder(tree.commonDir))) {
    await dropUnused(call);
  }
  return [];
}

/** How much is read of the end of the client's session file. */
const TAIL_BYTES = 65_536;
/** Recorded beside the session's note at the time: it was asked at the end of a turn. */
const AT_STOP = 'stop';

/**
 * Asks a session for a note with a user's prompt, while there is room for it: when its context is `handoff.contextNudge` percent
 * full and it has worked since its last note. At most once between two notes; never a sub-agent.
 */
async function askForNote(call: TreeCall): Promise<readonly Finding[]> {
  return ask(call, false);
}

/** Asks at the end of a turn, which this continues: at most once in a session. */
async function askAtStop(call: TreeCall): Promise<readonly Finding[]> {
  return ask(call, true);
}

async function ask(call: TreeCall, isStop: boolean): Promise<readonly Finding[]> {
  const { event, session, tree } = call;
  const percent = event.agent === undefined ? fullness(call) : undefined;
  if (percent === undefined) return [];
  const file = join(repositoryFolder(tree.commonDir), 'asked', session);
  const [before, ...flags] = readText(file).split('\n');
  if (isStop && flags.includes(AT_STOP)) return [];
  const topics = await readTopics({ cwd: tree.folder });
  const own = topics.filter(({ tip }) => isWrittenBy(tip, call)).sort(byAge)[0];
  const noteNow = own?.tip?.oid ?? 'none';
  if (before === noteNow) return [];
  if ((await hasUntoldWork(call)) !== true) return [];
  const isUsed = isStop || flags.includes(AT_STOP);
  ensureFolder(dirname(file));
  writeFileSync(file, `${noteNow}\n${isUsed ? `${AT_STOP}\n` : ''}`);
  const name = own === undefined ? await freeTopic(tree.folder, topics) : typedTopic(own.branch, own.topic);
  const what = 'its goal, the state, how it was tested and the next action, on standard input';
  const text = `git-handoff: context ${percent} % full: write the note now: git handoff write ${name} (${what})`;
  return [{ kind: 'tell', text }];
}

/** How full the context is, in percent; `undefined`: unknown, or not full enough to ask. */
function fullness({ event, session, dialect, entries, machine }: TreeCall): number | undefined {
  const { contextNudge: nudge, contextWindow: window } = parseContextSettings(entries);
  const file = event.transcript ?? sessionFile(dialect.client, session, machine.env) ?? '';
  const tail = nudge === undefined ? undefined : readTail(file, TAIL_BYTES);
  const use = tail === undefined ? undefined : contextUse(dialect.client, tail);
  const whole = use?.window ?? window;
  if (nudge === undefined || use === undefined || whole === undefined) return undefined;
  const percent = Math.min(100, Math.floor((100 * use.used) / whole));
  return percent < nudge ? undefined : percent;
}

function isWrittenBy(tip: TopicState['tip'], { session }: TreeCall): boolean {
  const { owner, automatic, state } = tip?.trailers ?? {};
  return owner === session && automatic === undefined && state === 'open';
}

/** A topic named after the branch, if it is free; otherwise `<topic>`, for the session to fill in. */
async function freeTopic(cwd: string, topics: readonly TopicState[]): Promise<string> {
  const { branch } = await openRepository(cwd);
  const topic = parseTopic(topicSlug(branch.slice(branch.lastIndexOf('/') + 1)));
  const component = encodeBranch(branch);
  const isTaken = topics.some((one) => one.topic === topic && one.path.component === component);
  return topic === undefined || isTaken ? '<topic>' : topic;
}
