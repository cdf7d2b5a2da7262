import { recordState, summarise } from '../../../domain/handoff.ts';
import type { BranchName, Oid, Topic } from '../../../domain/names.ts';
import { escapeLine } from '../../../domain/surfacing.ts';
import { handoffPath } from '../../../git/namespace.ts';
import type { Committer, Repository } from '../../../git/repository.ts';
import { type WriteResult, commitHandoff } from '../../../notes/handoffs.ts';
import type { TopicState } from '../../../notes/topic.ts';
import type { Caller } from '../../../sessions/caller.ts';
import { ownerName } from '../../../domain/owner-name.ts';
import { typedTopic } from '../../../notes/topic-argument.ts';
import type { PlannedNote, ImportRefusal } from './plan.ts';

/** What became of a planned note. */
export interface Outcome {
  readonly oid: Oid | undefined;
  readonly refusal: ImportRefusal | undefined;
  /** A ref that had been moved by hand, healed by this write. */
  readonly before: TopicState | undefined;
}

const NOTHING: Outcome = { oid: undefined, refusal: undefined, before: undefined };

export interface Writer {
  readonly repository: Repository;
  readonly caller: Caller;
  readonly author: Committer;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Writes the notes of a plan one after another, each from exactly the tip that the plan saw. */
export async function applyPlan(plan: readonly PlannedNote[], writer: Writer): Promise<Outcome[]> {
  const written = new Map<string, Oid>();
  const outcomes: Outcome[] = [];
  for (const planned of plan) {
    const outcome = await applyOne(planned, written, writer);
    outcomes.push(outcome);
  }
  return outcomes;
}

async function applyOne(planned: PlannedNote, written: Map<string, Oid>, writer: Writer): Promise<Outcome> {
  const { placement, refusal } = planned;
  if (refusal !== undefined || placement.kind === 'no-name' || placement.kind === 'not-owner')
    return { ...NOTHING, refusal };
  if (placement.kind === 'unchanged') return { ...NOTHING, oid: placement.known.tip };
  const creates = placement.kind === 'create';
  const branch = creates ? planned.draft.branch : (placement.known.branch as BranchName);
  const topic = creates ? placement.topic : placement.known.topic;
  const key = `${branch}/${topic}`;
  const expect = written.get(key) ?? (creates ? undefined : placement.known.tip) ?? null;
  const result = await commit(planned, { branch, topic }, expect, writer);
  if (result.kind === 'written') {
    written.set(key, result.commit.oid);
    return { oid: result.commit.oid, refusal: undefined, before: result.before };
  }
  return { ...NOTHING, refusal: refusedBy(result, key) };
}

function commit(
  { draft, incoming, placement, as, secretAllowed }: PlannedNote,
  place: { branch: BranchName; topic: Topic },
  expect: Oid | null,
  { repository, caller, author, now }: Writer,
): Promise<WriteResult> {
  const keeps = placement.kind === 'close';
  return commitHandoff(
    repository,
    handoffPath(place.branch, place.topic),
    { me: as, succeeded: [], take: false, expect },
    {
      note: keeps ? undefined : draft.note,
      summary: keeps ? undefined : summarise(draft.text, escapeLine),
      state: draft.state,
      base: draft.base,
      client: as === caller.id ? caller.client : undefined,
      from: draft.from,
      to: draft.to,
      importedFrom: incoming.importedFrom,
      secretAllowed,
      // What the repository was like when the note was written is not known, and not made up.
      recorded: recordState({ ...place, head: draft.base }),
      author,
      seconds: Math.floor(now / 1000),
    },
  );
}

function refusedBy(
  result: Exclude<WriteResult, { kind: 'written' }>,
  key: string,
): ImportRefusal | undefined {
  const name = typedTopic(key.slice(0, key.lastIndexOf('/')), key.slice(key.lastIndexOf('/') + 1));
  switch (result.kind) {
    case 'unchanged':
      return undefined;
    case 'not-owner':
      return {
        code: 'not-owner',
        why: `${name} belongs to ${ownerName(result.owner, result)}`,
        hint: `git handoff take ${name}`,
      };
    case 'read-only':
      return {
        code: 'integrity',
        why: `${name} was written in a format this version does not know`,
        hint: `git handoff show ${name}`,
      };
    default:
      return { code: 'lost-race', why: `${name} was moved meanwhile`, hint: 'git handoff import --dry-run' };
  }
}
