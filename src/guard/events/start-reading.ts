import { constants, openSync, readSync } from 'node:fs';
import { type BinaryText, utf8 } from '../../git/binary-text.ts';
import { type Branches, parseBranches } from '../../git/branches.ts';
import { FILES, LIVE } from '../../git/namespace.ts';
import { type Ref, listRefs, parseListed, parseRefNames, splitListed } from '../../git/refs.ts';
import type { Budget } from '../../host/io.ts';
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
  const early = readEarly(listed, budget);
  const topics = early === undefined ? readTopics({ cwd }) : topicsFrom({ cwd }, early.handoffs, early.kept);
  // Awaited later, if at all.
  topics.catch(() => undefined);
  const options = { content: true, timeoutMs: budget.left() };
  const records = early?.records ?? (await listRefs({ cwd }, [LIVE, FILES], options));
  return { records, topics, branches: early?.branches };
}

/** `undefined` where a list that must be whole is not. */
function readEarly(listed: Listed | undefined, budget: Budget) {
  const local = parseListed(listed?.records ?? '');
  const kept = splitListed(local?.rest ?? '');
  if (local === undefined || kept === undefined || listed?.pipe === undefined) return undefined;
  const open = parseListed(readToEnd(listed.pipe, budget));
  if (open === undefined) return undefined;
  const branches = splitListed(open.rest);
  return {
    records: local.refs,
    kept: parseRefNames(utf8(kept.lines)),
    handoffs: open.refs,
    branches: branches === undefined ? undefined : parseBranches(utf8(branches.lines)),
  };
}

/** What has to be left of the deadline to ask git, should the pipe not end. Milliseconds. */
const RESERVE_MS = 150;
const PIPE_BYTES = 65_536;

/**
 * Reads a pipe that git is writing to, without a stream (which takes longer to load than to read). Opened anew it does
 * not block, so that the wait has an end; nothing when it comes first.
 */
function readToEnd(descriptor: number, budget: Budget): BinaryText {
  const chunks: Buffer[] = [];
  try {
    const pipe = openSync(`/proc/self/fd/${descriptor}`, constants.O_RDONLY | constants.O_NONBLOCK);
    const clock = new Int32Array(new SharedArrayBuffer(4));
    while (budget.left() > RESERVE_MS) {
      const chunk = Buffer.allocUnsafeSlow(PIPE_BYTES);
      const length = readSome(pipe, chunk);
      if (length === 0) return Buffer.concat(chunks).toString('latin1');
      if (length === undefined) Atomics.wait(clock, 0, 0, 1);
      else chunks.push(chunk.subarray(0, length));
    }
  } catch {
    // Then git is asked.
  }
  return '';
}

/** How much came; `undefined`: nothing yet. */
function readSome(pipe: number, chunk: Buffer): number | undefined {
  try {
    return readSync(pipe, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}
