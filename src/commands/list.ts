import { readerName } from '../domain/reader.ts';
import { handoffRef } from '../git/namespace.ts';
import { openRepository } from '../git/repository.ts';
import { ackOf, readAcks } from '../store/acks.ts';
import { readTopics } from '../store/topic.ts';
import type { CommandResult, Context } from './context.ts';
import { byAge } from './find-topic.ts';
import { findReader, namedOperator, readerFacts } from './reader.ts';
import { reportIllegalMoves } from './report-illegal.ts';
import { type HandoffShape, handoffShape } from './shapes.ts';
import { openWorkspace } from './workspace.ts';

export interface ListOptions {
  /** Closed ones too. */
  readonly all: boolean;
  readonly state: 'open' | 'closed' | undefined;
  /** Only what the reader has neither written nor acknowledged. */
  readonly unread: boolean;
  /** Only what is addressed to this operator. */
  readonly to: string | undefined;
  readonly session: string | undefined;
}

export interface ListValue {
  /** The branch whose handoffs come first. */
  readonly branch: string;
  readonly items: readonly HandoffShape[];
}

/** Lists handoffs: this branch's first, then the others', newest first. */
export async function list(options: ListOptions, context: Context): Promise<CommandResult<ListValue>> {
  const { cwd } = context;
  const repository = await openRepository(cwd);
  const [workspace, states, acks, facts] = await Promise.all([
    openWorkspace(context, repository),
    readTopics({ cwd }),
    readAcks({ cwd }),
    readerFacts(repository, context),
  ]);
  const reader = findReader(facts, context, workspace, options.session);
  const name = readerName(reader) ?? '';
  const to =
    options.to === undefined ? undefined : namedOperator(options.to, reader, 'git handoff list --all');
  const here = repository.branch;
  const wanted = options.state ?? (options.all ? undefined : 'open');
  const items = states
    .sort((a, b) => Number(b.branch === here) - Number(a.branch === here) || byAge(a, b))
    .flatMap((state) =>
      state.tip === undefined
        ? []
        : [
            handoffShape({ ...state, ref: handoffRef(state.path) }, state.tip, {
              ...reader,
              acknowledged: ackOf(acks, state.path, name),
            }),
          ],
    )
    .filter((item) => wanted === undefined || item.state === wanted)
    .filter((item) => !options.unread || item.unread)
    .filter((item) => to === undefined || item.to === to);
  return {
    value: { branch: here, items },
    notices: [...workspace.notices, ...(await reportIllegalMoves(repository, states, context.now))],
    exitCode: items.length === 0 ? 1 : 0,
  };
}
