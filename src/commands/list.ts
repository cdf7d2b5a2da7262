import { handoffRef } from '../git/namespace.ts';
import { readTopics } from '../store/topic.ts';
import { type CommandResult, type Context, findSession } from './context.ts';
import { byAge } from './find-topic.ts';
import { reportIllegalMoves } from './report-illegal.ts';
import { type HandoffShape, handoffShape } from './shapes.ts';
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
  readonly items: readonly HandoffShape[];
}

/** Lists handoffs: this branch's first, then the others', newest first. */
export async function list(options: ListOptions, context: Context): Promise<CommandResult<ListValue>> {
  const { cwd } = context;
  const [{ repository, sessions, notices }, states] = await Promise.all([
    openWorkspace(context),
    readTopics({ cwd }),
  ]);
  const reader = findSession(context, sessions, options.session)?.id;
  const here = repository.branch;
  const wanted = options.state ?? (options.all ? undefined : 'open');
  const items = states
    .sort((a, b) => Number(b.branch === here) - Number(a.branch === here) || byAge(a, b))
    .flatMap((state) =>
      state.tip === undefined
        ? []
        : [handoffShape({ ...state, ref: handoffRef(state.path) }, state.tip, reader)],
    )
    .filter((item) => wanted === undefined || item.state === wanted);
  return {
    value: { branch: here, items },
    notices: [...notices, ...(await reportIllegalMoves(repository, states, context.now))],
    exitCode: items.length === 0 ? 1 : 0,
  };
}
