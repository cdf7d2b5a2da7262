import { Failure } from '../../domain/failure.ts';
import { readerName } from '../../domain/reader.ts';
import { openRepository } from '../../git/repository.ts';
import { acknowledge } from '../../notes/acks.ts';
import { readTopic } from '../../notes/topic.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CommandResult } from '../verb.ts';
import { findTopic, requireTip } from '../../notes/find-topic.ts';
import { findReader, readerFacts } from './reader.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import type { HandoffShape } from '../shapes.ts';
import { handoffShape } from '../handoff-shape.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import { openWorkspace } from '../workspace.ts';
import { parseExpectation } from './write.ts';

interface AckOptions {
  readonly topic: string;
  readonly expect: string | undefined;
  readonly session: string | undefined;
}

/** The answer to an acknowledgement: the handoff, its reader, and whether the reader had not acknowledged it before. */
export type AckValue = HandoffShape & { readonly reader: string; readonly changed: boolean };

/**
 * Records that the reader has read a handoff as it is now: until it changes, it is not unread for that reader. To
 * repeat it is no error.
 *
 * @throws Failure `lost-race` when the handoff is not at the expected commit.
 */
export async function ack(options: AckOptions, context: Context): Promise<CommandResult<AckValue>> {
  const repository = await openRepository(context.cwd);
  const [workspace, facts, state] = await Promise.all([
    openWorkspace(context, repository),
    readerFacts(repository, context),
    findTopic(repository, options.topic),
  ]);
  const expect = parseExpectation(options.expect);
  const reader = findReader(facts, context, workspace, options.session);
  const name = readerName(reader);
  if (name === undefined) {
    throw new Failure('usage', 'git does not know your e-mail address, and no session is running this', {
      hint: 'git config user.email you@example.com',
    });
  }
  let tip = requireTip(state);
  const { changed } = await acknowledge(repository, state.path, name, async () => {
    tip = requireTip(await readTopic(repository, state.path));
    if (expect === undefined || expect === tip.oid) return tip.oid;
    const topic = typedTopic(state.branch, state.topic);
    throw new Failure('lost-race', `${topic} is not at the expected commit: it is at ${tip.oid}`, {
      hint: `git handoff show ${topic}`,
    });
  });
  const shape = handoffShape(state, tip, reader, tip.oid);
  const moved = await reportIllegalMoves(repository, [state], context.now);
  return { value: { ...shape, reader: name, changed }, notices: [...workspace.notices, ...moved] };
}
