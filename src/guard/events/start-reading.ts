import { utf8 } from '../../git/binary-text.ts';
import { type Branches, parseBranches } from '../../git/branches.ts';
import { FILES, LIVE } from '../../git/namespace.ts';
import { type Ref, listRefs, parseListed, parseRefNames, splitListed } from '../../git/refs.ts';
import { type Budget, beforeAnswer } from '../../host/io.ts';
import { readToEnd } from '../../host/pipe.ts';
import { type TopicState, readTopics, topicsFrom } from '../../notes/topic.ts';
import type { Listed, Scene } from '../scene.ts';

/** What a session is told at its start, read before it is on record: nothing of it depends on that. */
export interface StartReading {
  /** The sessions on record and the copies of files, with their content. */
  readonly records: readonly Ref[];
  readonly topics: Promise<TopicState[]>;
  /** `undefined`: they were not listed. */
  readonly branches: Branches | undefined;
}

/** Takes what the launcher has listed while Node started; where that is not all, git is asked once more. */
export async function beginReading({ cwd, listed, budget }: Scene): Promise<StartReading> {
  const early = await readEarly(listed, budget);
  const topics = early === undefined ? readTopics({ cwd }) : topicsFrom({ cwd }, early.handoffs, early.kept);
  // Awaited later, if at all.
  topics.catch(() => undefined);
  const options = { content: true, timeoutMs: budget.left() };
  const records = early?.records ?? (await listRefs({ cwd }, [LIVE, FILES], options));
  return { records, topics, branches: early?.branches };
}

/** `undefined` where a list that must be whole is not. */
async function readEarly(listed: Listed | undefined, budget: Budget) {
  const local = parseListed(listed?.records ?? '');
  const kept = splitListed(local?.rest ?? '');
  if (local === undefined || kept === undefined || listed?.pipe === undefined) return undefined;
  const open = parseListed(
    (await readToEnd(listed.pipe, budget.part(beforeAnswer(budget))).catch(() => undefined))?.toString(
      'latin1',
    ) ?? '',
  );
  if (open === undefined) return undefined;
  const branches = splitListed(open.rest);
  return {
    records: local.refs,
    kept: parseRefNames(utf8(kept.lines)),
    handoffs: open.refs,
    branches: branches === undefined ? undefined : parseBranches(utf8(branches.lines)),
  };
}
