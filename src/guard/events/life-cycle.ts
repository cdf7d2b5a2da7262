import { contextUse, sessionFile } from '../../agents/context-use.ts';
import {
  ledgerOf,
  openLedgers,
  putLast,
  readLast,
  readStart,
  type WorkPlace,
} from '../../changes/windows.ts';
import { parseLongTopic, shortId, ownerName } from '../../domain/names.ts';
import { topicSlug } from '../../domain/note/topic-slug.ts';
import { encodeBranch } from '../../git/namespace.ts';
import { openRepository } from '../../git/repository.ts';
import { readPart, randomName } from '../../host/disk.ts';
import { stateFolder, beat, removeBeat } from '../../host/folders.ts';
import { byAge, typedTopic } from '../../notes/topic-argument.ts';
import { readTopics, type TopicState } from '../../notes/topic.ts';
import { listSessions, putRecord } from '../../sessions/records.ts';
import { appendSessionEvents, isFirstToReport, readJournal } from '../../sessions/journal.ts';
import { isLoneSession, removeLoneSession } from '../../sessions/lone-session.ts';
import { forgetAgents } from '../agents.ts';
import { failOpen, type SessionCall, type TreeCall, isInTree, type Finding } from '../call.ts';
import { keepGoneOutside } from '../effects/hit-work.ts';
import { keepTurn } from '../effects/keep-work.ts';
import { deliverNews } from '../effects/news.ts';
import { endLoneWork } from '../effects/arrival.ts';
import { forgetCalls, answerCalls } from '../effects/tidy.ts';
import { readStatus } from '../facts.ts';
import { endAgents, readSessions } from '../presence.ts';
import { leave, visited } from '../visits.ts';
import { noteCompaction, expectEndNotes, noteEnd, countOwn, hasWorkToNote } from './automatic.ts';
import { register } from './registration.ts';
import { sessionStart } from './session-start.ts';

/** Handles every event except those of a tool. */
export async function lifeCycle(call: SessionCall): Promise<readonly Finding[]> {
  const { kind, agent } = call.event;
  // The sub-agent's session may be alone again.
  if (kind === 'agent-stop' && endAgents(call, agent) && isInTree(call))
    await failOpen(call, 'whether the session is alone', () => register(call));
  // An interrupted sub-agent reports no end, so all count as ended. One that still runs is recorded again when it next calls.
  if (agent === undefined && (kind === 'prompt' || kind === 'session-start')) endAgents(call);
  // We read the visits first, because recording the session's end ends them, too.
  const elsewhere = kind === 'stop' || kind === 'session-end' ? await visited(call) : [];
  const found = isInTree(call) ? await here(call) : [];
  for (const there of elsewhere) await failOpen(there, 'work in another worktree', () => endedThere(there));
  if (call.event.kind === 'session-end') {
    forgetAgents(stateFolder(call.machine.env), call.session, call.now);
  }
  return found;
}

async function here(call: TreeCall): Promise<readonly Finding[]> {
  switch (call.event.kind) {
    case 'session-start':
      return sessionStart(call);
    case 'prompt':
      // The turn begins, perhaps long before its first tool call. From now on no other session may take this one's work.
      beat(call.tree.commonDir, call.session, call.event.kind);
      return [...(await deliverNewsAtPrompt(call)), ...(await askForNote(call, false))];
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

/** Records, in a worktree that the session visits, that its turn or the session itself is over. */
async function endedThere(there: TreeCall): Promise<void> {
  forgetCalls(there);
  await leave(there);
  if (there.event.kind === 'stop') await keepTurn(there);
  if (there.event.kind === 'session-end') await sessionEnd(there);
}

/** The notice that a session stopped with uncommitted work and no note. */
const REMINDER = 'reminder';

/** Reminds the person once that the session stopped with uncommitted work and no note. Never blocks the stop. */
async function stop(call: TreeCall): Promise<readonly Finding[]> {
  const { session, tree } = call;
  const ledger = ledgerOf(tree, session);
  if (ledger !== undefined) answerCalls(ledger, session, call.now);
  const mayAsk = !call.event.stopHookActive && call.dialect.contextEvents.has(call.event.name);
  const asked = mayAsk ? await askForNote(call, true) : [];
  // The session has been asked for a note, so its turn continues.
  if (asked.length > 0) return asked;
  beat(tree.commonDir, session, call.event.kind);
  if ((await keepTurn(call)) === 0 || call.event.stopHookActive) return [];
  // The slow count comes last: most sessions that stop have a note, or have been reminded.
  if (readJournal(tree.commonDir, session).notified.has(REMINDER) || (await hasNote(call))) return [];
  const own = await countOwn(call);
  if (own === 0 || !isFirstToReport(tree.commonDir, session, REMINDER, randomName(), call.now)) return [];
  const who = ownerName(session, { client: call.dialect.client });
  const text = `Handoff reminder: ${who} stopped with ${own} uncommitted file${own === 1 ? '' : 's'} and no note. Tell it: "leave a handoff".`;
  return [{ kind: 'show', text }];
}

async function hasNote(call: TreeCall): Promise<boolean> {
  const { session, machine } = call;
  if (machine.files.all().some((path) => machine.files.read(path).owner === session)) return true;
  return (await readTopics({ cwd: call.tree.folder })).some(
    ({ tip }) => tip?.trailers?.owner === session && tip.trailers.automatic === undefined,
  );
}

/** Records that a session is over, in every worktree in which it is registered. */
async function sessionEnd(call: TreeCall): Promise<readonly Finding[]> {
  const { session, tree } = call;
  const all = await listSessions({ cwd: tree.workTree }, call.budget.left());
  const own = all.filter(({ record }) => record.session === session && record.ended === null);
  const isNoteDue = expectEndNotes(call, all);
  // We record the end before slow work: clients allow a second or two, and an unrecorded end would count as a death.
  const repository = await openRepository(call.tree.folder);
  const ended = { at: call.now, reason: call.event.reason ?? 'other' };
  for (const { worktreeId, record, oid } of own)
    await putRecord(repository, worktreeId, { ...record, ended }, oid);
  if (isLoneSession(tree.gitDir, session)) removeLoneSession(tree.gitDir);
  forgetCalls(call);
  appendSessionEvents(tree.commonDir, session, [{ t: 'ended', at: call.now }]);
  removeBeat(tree.commonDir, session);
  // Without this, everything that changes until the session comes back would count as its own.
  await endLoneWork(call);
  if (isNoteDue) await noteEnd(call, await readSessions(call, all));
  return [];
}

/** How many bytes we read at the end of the client's session file. */
const TAIL_BYTES = 65_536;
/**
 * Asks a session for a note while its context still has room for one: when the context is `handoff.contextNudge` percent
 * full and the session has worked since its last note. Asks at most once between two notes, and never a sub-agent.
 * `isStop`: a turn ends; asks at most once a session, and the turn continues. Otherwise, the user sends a prompt.
 */
async function askForNote(call: TreeCall, isStop: boolean): Promise<readonly Finding[]> {
  const { event, session, tree } = call;
  const percent = event.agent === undefined ? fullness(call) : undefined;
  if (percent === undefined) return [];
  const { asked } = readJournal(tree.commonDir, session);
  if (isStop && asked?.atStop === true) return [];
  const topics = await readTopics({ cwd: tree.folder });
  const own = topics.filter(({ tip }) => isWrittenBy(tip, call)).sort(byAge)[0];
  const note = own?.tip?.oid ?? 'none';
  if (asked?.note === note) return [];
  if ((await hasWorkToNote(call)) !== true) return [];
  appendSessionEvents(tree.commonDir, session, [{ t: 'asked', note, atStop: isStop, at: call.now }]);
  const name = own === undefined ? await freeTopic(call, topics) : typedTopic(own.branch, own.topic);
  const outline = '## Goal\n## Current State\n(done, how tested; what failed and why)\n## Next Action\nNOTE';
  const text = `git-handoff: context ${percent} % full: write the note now:\ngit handoff write ${name} --file - <<'NOTE'\n${outline}`;
  return [{ kind: 'tell', text }];
}

/** Delivers news with the user's prompt, before any tool call, because the prompt may be about that news. */
async function deliverNewsAtPrompt(call: TreeCall): Promise<readonly Finding[]> {
  const { tree, session, dialect, event } = call;
  const place = ledgerOf(tree, session);
  if (place === undefined || !dialect.contextEvents.has(event.name)) return [];
  await lookForLoss(call, place);
  const lines = await deliverNews(call, place, openLedgers(place, session));
  return lines.length === 0 ? [] : [{ kind: 'tell', text: `git-handoff: ${lines.join('\n')}` }];
}

/** Checks whether the session's uncommitted work is still there: a person may have removed it between two turns. */
async function lookForLoss(call: TreeCall, place: WorkPlace): Promise<void> {
  const { session } = call;
  const ledgers = openLedgers(place, session);
  // We do not record the calls of a lone session, so it may have removed the work itself.
  if (ledgers.self.claims.size === 0 || readStart(place, session) !== undefined) return;
  const known = readLast(place);
  await failOpen(call, 'whether uncommitted work is gone', async () => {
    const status = await readStatus(call, place, { known });
    await keepGoneOutside(call, { place, ledgers }, known, status);
    putLast(place, status);
  });
}

/** Returns how full the context is, in percent; `undefined` when unknown, or when the context has room enough. */
function fullness({ event, session, dialect, settings, machine }: TreeCall): number | undefined {
  const { contextNudge: nudge, contextWindow } = settings;
  const file = event.transcript ?? sessionFile(dialect.client, session, machine.env) ?? '';
  const tail = nudge === 0 ? undefined : readPart(file, -TAIL_BYTES)?.toString();
  const use = tail === undefined ? undefined : contextUse(dialect.client, tail);
  const whole = use?.window ?? contextWindow;
  if (use === undefined || whole === 0) return undefined;
  const percent = Math.min(100, Math.floor((100 * use.used) / whole));
  return percent < nudge ? undefined : percent;
}

function isWrittenBy(tip: TopicState['tip'], { session }: TreeCall): boolean {
  const { owner, automatic, state } = tip?.trailers ?? {};
  return owner === session && automatic === undefined && state === 'open';
}

/** Returns a free topic, so that the printed command works: one named after the branch, or else after the session. */
async function freeTopic({ tree, session }: TreeCall, topics: readonly TopicState[]): Promise<string> {
  const { branch } = await openRepository(tree.folder);
  const topic = parseLongTopic(topicSlug(branch.slice(branch.lastIndexOf('/') + 1)));
  const component = encodeBranch(branch);
  const isTaken = topics.some((one) => one.topic === topic && one.path.component === component);
  return topic === undefined || isTaken ? topicSlug(`work-of-${shortId(session)}`) : topic;
}
