import { looksDone } from '../domain/staleness.ts';
import { handoffRef } from '../git/namespace.ts';
import { openRepository } from '../git/repository.ts';
import { readTopics } from '../store/topic.ts';
import { type CommandResult, type Context, findSession } from './context.ts';
import { byAge } from './find-topic.ts';
import { reportIllegalMoves } from './report-illegal.ts';
import { type ListedShape, handoffShape } from './shapes.ts';
import { judgeBranches, stalenessOf } from './staleness.ts';
import { typedTopic } from './topic-argument.ts';
import { openWorkspace } from './workspace.ts';

export interface ListOptions {
  /** Closed ones too. */
  readonly all: boolean;
  readonly state: 'open' | 'closed' | undefined;
  readonly session: string | undefined;
}

export interface ListValue {
  /** The branch whose handoffs come first. */
  readonly branch: string;
  readonly items: readonly ListedShape[];
  /** A command for each note whose work looks done; nothing is closed unasked. */
  readonly looksDone: readonly string[];
}

/** Longer than any repository needs that can be listed; then nothing is said of branches. Milliseconds. */
const STALENESS_MS = 2000;

/** Lists handoffs: this branch's first, then the others', newest first. */
export async function list(options: ListOptions, context: Context): Promise<CommandResult<ListValue>> {
  const { cwd } = context;
  const repository = await openRepository(cwd);
  const reading = readTopics({ cwd });
  const [{ sessions, notices }, states, stale] = await Promise.all([
    openWorkspace(context, repository),
    reading,
    judgeBranches(repository, reading, { timeoutMs: STALENESS_MS }),
  ]);
  const reader = findSession(context, sessions, options.session)?.id;
  const here = repository.branch;
  const wanted = options.state ?? (options.all ? undefined : 'open');
  const items = states
    .sort((a, b) => Number(b.branch === here) - Number(a.branch === here) || byAge(a, b))
    .flatMap((state) =>
      state.tip === undefined
        ? []
        : [
            {
              ...handoffShape({ ...state, ref: handoffRef(state.path) }, state.tip, reader),
              staleness: stalenessOf(state, stale),
            },
          ],
    )
    .filter((item) => wanted === undefined || item.state === wanted);
  return {
    value: { branch: here, items, looksDone: closeCommands(items, reader) },
    notices: [...notices, ...(await reportIllegalMoves(repository, states, context.now))],
    exitCode: items.length === 0 ? 1 : 0,
  };
}

/** What another session owns is closed with a take. */
function closeCommands(items: readonly ListedShape[], reader: string | undefined): string[] {
  return items
    .filter(({ staleness }) => looksDone(staleness))
    .map(
      ({ branch, topic, owner }) =>
        `git handoff close ${typedTopic(branch, topic)}${owner === reader ? '' : ' --take'}`,
    );
}
