import { readerName } from '../../domain/note-owner.ts';
import { looksDone } from '../../domain/staleness.ts';
import type { RemoteSummary } from '../../domain/tracking/relation.ts';
import { ACKS, KEPT, PRUNED, REMOTE } from '../../git/namespace.ts';
import { listBookkeeping } from '../../git/migrate-ref-lists.ts';
import { openRepository } from '../../git/repository.ts';
import { ackOf, acksFrom } from '../../notes/whose-note.ts';
import { type TopicState, readTopicsBeside } from '../../notes/topic.ts';
import { compareWithRemotes, type LocalTip } from '../../notes/delete-notes.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CommandResult } from '../verb.ts';
import { byAge, rankIn, typedTopic } from '../../notes/topic-argument.ts';
import { NOBODY, findReader, namedOperator, readerFacts } from './reader.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import type { ListedShape } from '../shapes.ts';
import { handoffShape } from '../handoff-shape.ts';
import { judgeBranches, stalenessOf } from '../../notes/staleness.ts';
import { openWorkspace } from '../workspace.ts';

interface ListOptions {
  readonly all: boolean;
  readonly state: 'open' | 'closed' | undefined;
  /** Whether to list only what the reader has neither written nor acknowledged. */
  readonly unread: boolean;
  /** If set, only notes that are addressed to this operator are listed. */
  readonly to: string | undefined;
  /** Whether to spend a process on finding out who the reader is, to show what is unread or addressed to them. */
  readonly reading: boolean;
  readonly session: string | undefined;
}

export interface ListValue {
  /** The branch whose handoffs come first. */
  readonly branch: string;
  readonly items: readonly ListedShape[];
  /** A command to close each note whose work looks done. `list` itself closes nothing. */
  readonly looksDone: readonly string[];
  /** What a sync of all handoffs would move, for each remote that was asked before. */
  readonly remotes: readonly RemoteSummary[];
}

/** The time limit for judging the branches; if it runs out, the list says nothing about them. Milliseconds. */
const STALENESS_MS = 2000;

/** Lists handoffs: this branch's first, then the others', newest first. */
export async function list(options: ListOptions, context: Context): Promise<CommandResult<ListValue>> {
  const { cwd, budget } = context;
  const repository = await openRepository(cwd);
  const local = listBookkeeping({ cwd }, [KEPT, ACKS, REMOTE, PRUNED]);
  const reading = readTopicsBeside({ cwd }, '', local);
  const [workspace, states, facts, stale, remotes] = await Promise.all([
    openWorkspace(context, repository),
    reading,
    options.reading ? readerFacts(repository, context) : NOBODY,
    judgeBranches(repository, reading, budget.part(STALENESS_MS)),
    Promise.all([local, reading]).then(([refs, topics]) =>
      compareWithRemotes({ cwd }, refs, tipsOf(topics), budget),
    ),
  ]);
  const acks = acksFrom(await local);
  const reader = findReader(facts, context, workspace, options.session);
  const name = readerName(reader) ?? '';
  const to =
    options.to === undefined ? undefined : namedOperator(options.to, reader, 'git handoff list --all');
  const here = repository.branch;
  const wanted = options.state ?? (options.all ? undefined : 'open');
  const items = states
    .sort((a, b) => rankIn(a, here) - rankIn(b, here) || byAge(a, b))
    .flatMap((state) =>
      state.tip === undefined
        ? []
        : [
            // Extends the object: to copy it for each handoff would take a tenth of the time of a long list.
            Object.assign(handoffShape(state, state.tip, reader, ackOf(acks, state.path, name)), {
              automatic: state.tip.trailers?.automatic ?? null,
              staleness: stalenessOf(state, stale),
              remotes: remotes.of(state.path),
            }),
          ],
    )
    .filter((item) => wanted === undefined || item.state === wanted)
    .filter((item) => !options.unread || item.unread)
    .filter((item) => to === undefined || item.to === to);
  return {
    value: { branch: here, items, looksDone: closeCommands(items, reader.session), remotes: remotes.summary },
    notices: [...workspace.notices, ...(await reportIllegalMoves(repository, states, context.now))],
  };
}

function tipsOf(topics: readonly TopicState[]): LocalTip[] {
  return topics.map(({ path, tip, publicOid }) => ({ path, oid: tip?.oid ?? publicOid }));
}

/** Returns the commands to close notes. A session may close only its own notes; a person needs `--take` for others' notes. */
function closeCommands(items: readonly ListedShape[], reader: string | undefined): string[] {
  return items
    .filter(({ staleness, owner }) => looksDone(staleness) && (reader === undefined || owner === reader))
    .map(
      ({ branch, topic, owner }) =>
        `git handoff close ${typedTopic(branch, topic)}${owner === reader ? '' : ' --take'}`,
    );
}
