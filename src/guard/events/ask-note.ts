import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { contextUse, sessionFile } from '../../agents/context-use.ts';
import { parseContextSettings } from '../../domain/context-settings.ts';
import { parseTopic } from '../../domain/names.ts';
import { topicSlug } from '../../domain/note/topic-slug.ts';
import { encodeBranch } from '../../git/namespace.ts';
import { openRepository } from '../../git/repository.ts';
import { readText } from '../../host/disk.ts';
import { readTail } from '../../host/file-tail.ts';
import { ensureFolder, repositoryFolder } from '../../host/folders.ts';
import { byAge } from '../../notes/find-topic.ts';
import { type TopicState, readTopics } from '../../notes/topic.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import type { TreeCall } from '../call.ts';
import type { Finding } from '../findings.ts';
import { hasUntoldWork } from './automatic.ts';

/** How much is read of the end of the client's session file. */
const TAIL_BYTES = 65_536;
/** Recorded beside the session's note at the time: it was asked at the end of a turn. */
const AT_STOP = 'stop';

/**
 * Asks a session for a note with a user's prompt, while there is room for it: when its context is `handoff.contextNudge` percent
 * full and it has worked since its last note. At most once between two notes; never a sub-agent.
 */
export async function askForNote(call: TreeCall): Promise<readonly Finding[]> {
  return ask(call, false);
}

/** Asks at the end of a turn, which this continues: at most once in a session. */
export async function askAtStop(call: TreeCall): Promise<readonly Finding[]> {
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
