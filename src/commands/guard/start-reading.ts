import { Socket } from 'node:net';
import type { BinaryText } from '../../git/binary-text.ts';
import { FILES, LIVE } from '../../git/namespace.ts';
import { type Ref, listRefs, parseListed } from '../../git/refs.ts';
import { type TopicState, readTopics, topicsFrom } from '../../store/topic.ts';
import type { Scene } from './scene.ts';

/** What a session is told at its start, read before it is on record: nothing of it depends on that. */
export interface StartReading {
  /** The sessions on record and the copies of files, with their content. */
  readonly records: readonly Ref[];
  readonly topics: Promise<TopicState[]>;
}

/** Takes what the launcher has listed while Node started; where that is not all, git is asked once more. */
export async function beginReading({ cwd, listed, remaining }: Scene): Promise<StartReading> {
  const topics = readListed(cwd, listed?.handoffs);
  // Awaited later, if at all.
  topics.catch(() => undefined);
  const records = parseListed(listed?.records ?? '')?.refs;
  const options = { content: true, timeoutMs: remaining() };
  return { records: records ?? (await listRefs({ cwd }, [LIVE, FILES], options)), topics };
}

async function readListed(cwd: string, pipe: number | undefined): Promise<TopicState[]> {
  const listed = pipe === undefined ? undefined : parseListed(await readPipe(pipe));
  return listed === undefined ? readTopics({ cwd }) : topicsFrom({ cwd }, listed.refs, listed.names);
}

/** To its end; nothing when it cannot be read. It is not waited for longer than the process lives. */
function readPipe(descriptor: number): Promise<BinaryText> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    try {
      const pipe = new Socket({ fd: descriptor, readable: true, writable: false });
      pipe.on('data', (chunk: Buffer) => chunks.push(chunk));
      pipe.on('end', () => resolve(Buffer.concat(chunks).toString('latin1')));
      pipe.on('error', () => resolve(''));
    } catch {
      resolve('');
    }
  });
}
