import { FILES, LIVE } from '../../git/namespace.ts';
import { utf8 } from '../../git/binary-text.ts';
import { type Branches, parseBranches } from '../../git/branches.ts';
import { answeredReading } from '../../git/objects.ts';
import { type Ref, listRefs, parseListed, splitListed } from '../../git/refs.ts';
import type { StartedGit } from '../../git/run.ts';
import { type Budget, beforeAnswer, type Feed } from '../../host/io.ts';
import { topicsFromLists } from './listed-topics.ts';
import { type TopicState, readTopics } from '../../notes/topic.ts';
import type { TreeCall } from '../call.ts';

/** What a session is told at its start, read before it is on record: nothing of it depends on that. */
export interface StartReading {
  /** The sessions on record and the copies of files, with their content. */
  readonly records: readonly Ref[];
  readonly topics: Promise<TopicState[]>;
  /** `undefined`: they were not listed. */
  readonly branches: Promise<Branches | undefined>;
  /** The notes that are probably told first, read by the launcher; `undefined` if it read none. */
  readonly notes: Promise<StartedGit | undefined>;
}

/**
 * Takes what the launcher has listed while Node started; where that is not all, git is asked once more. Only the sessions
 * are waited for: the rest is for the text.
 */
export async function beginReading({ cwd, listed, budget }: TreeCall): Promise<StartReading> {
  const time = budget.part(beforeAnswer(budget));
  const more = listed?.more;
  const records = await more?.take(time, END, refsOf);
  more?.gather();
  const open =
    records === undefined ? Promise.resolve(undefined) : readOpen(more, time).catch(() => undefined);
  const topics = open.then((early) =>
    early === undefined ? readTopics({ cwd }) : topicsFromLists({ cwd }, early.handoffs, early.kept),
  );
  // Awaited later, if at all.
  topics.catch(() => undefined);
  const options = { content: true, timeoutMs: beforeAnswer(budget) };
  return {
    records: records ?? (await listRefs({ cwd }, [LIVE, FILES], options)),
    topics,
    branches: open.then((early) => early?.branches),
    notes: open.then(async (early) => {
      const answered = early && (await more?.rest(time).catch(() => undefined));
      return answered && answeredReading({ cwd }, answered);
    }),
  };
}

/** The last line of a list. */
const END = '.\n';

/** A list of refs with their content, as soon as it is whole. */
function refsOf(bytes: Buffer) {
  const found = parseListed(bytes.toString('latin1'));
  return found && { value: found.refs, length: bytes.length - found.rest.length };
}

/** A list of lines. What comes behind it may be long: no more is decoded. */
function linesOf(bytes: Buffer) {
  const text = bytes.toString('latin1', 0, bytes.indexOf(`\n${END}`) + 1 + END.length);
  const found = splitListed(text);
  return found && { value: utf8(found.lines), length: text.length - found.rest.length };
}

/** The branches, what was kept and the handoffs; `undefined` where a list is not whole. */
async function readOpen(more: Feed | undefined, budget: Budget) {
  const branches = await more?.take(budget, END, linesOf);
  const kept = await more?.take(budget, END, linesOf);
  const handoffs = await more?.take(budget, END, refsOf);
  if (branches === undefined || kept === undefined || handoffs === undefined) return undefined;
  return { branches: parseBranches(branches), kept, handoffs };
}
