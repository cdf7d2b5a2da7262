import { encodeBranch, FILES, KEPT, LIVE } from '../../git/namespace.ts';
import { utf8 } from '../../git/binary-text.ts';
import { type Branches, parseBranches } from '../../git/branches.ts';
import { startReading } from '../../git/objects.ts';
import { type Ref, listRefs, parseListed, splitListed } from '../../git/refs.ts';
import type { Repository } from '../../git/repository.ts';
import type { StartedGit } from '../../git/run.ts';
import { EarlyPipe } from '../../host/early-pipe.ts';
import { type Budget, beforeAnswer } from '../../host/io.ts';
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
  /** The process that will read notes of this branch, where some seem to be open. To be called when the session is on record. */
  readonly startNotes: (repository: Repository) => StartedGit | undefined;
}

/**
 * Takes what the launcher has listed while Node started; where that is not all, git is asked once more. Only the sessions
 * are waited for: the rest is for the text.
 */
export async function beginReading({ cwd, listed, budget }: TreeCall): Promise<StartReading> {
  const pipe = listed?.pipe === undefined ? undefined : new EarlyPipe(listed.pipe);
  pipe?.take();
  const local = parseListed(listed?.records ?? '');
  const kept = splitListed(local?.rest ?? '');
  const open = kept === undefined ? Promise.resolve(undefined) : readOpen(pipe, budget);
  const topics = open.then((early) =>
    early === undefined || kept === undefined
      ? readTopics({ cwd })
      : topicsFromLists({ cwd }, early.handoffs, utf8(kept.lines)),
  );
  // Awaited later, if at all.
  topics.catch(() => undefined);
  const options = { content: true, timeoutMs: beforeAnswer(budget) };
  const records = kept === undefined ? undefined : local?.refs;
  return {
    records: records ?? (await listRefs({ cwd }, [LIVE, FILES], options)),
    topics,
    branches: open.then((early) => early?.branches),
    startNotes(repository) {
      pipe?.take();
      const mine = ` ${KEPT}${encodeBranch(repository.branch)}/`;
      const isAny = kept?.lines.includes(mine) === true && pipe?.holds(OPEN) === true;
      const started = isAny ? startReading({ cwd: repository.cwd }) : undefined;
      // git goes on while a process is started.
      pipe?.take();
      return started;
    },
  };
}

/** How the commit of an open handoff says so. */
const OPEN = 'Handoff-State: open';

/** The handoffs and the branches; `undefined` where a list that must be whole is not. */
async function readOpen(pipe: EarlyPipe | undefined, budget: Budget) {
  const bytes = await pipe?.whole(budget.part(beforeAnswer(budget))).catch(() => undefined);
  const open = parseListed(bytes?.toString('latin1') ?? '');
  if (open === undefined) return undefined;
  const branches = splitListed(open.rest);
  return {
    handoffs: open.refs,
    branches: branches === undefined ? undefined : parseBranches(utf8(branches.lines)),
  };
}
