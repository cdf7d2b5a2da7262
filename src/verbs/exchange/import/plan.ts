import { basename, dirname, join } from 'node:path';
import {
  type IncomingNote,
  type KnownTopic,
  type Placement,
  candidates,
  decidePlacement,
  sourceName,
} from '../../../domain/formats/placement.ts';
import type { FailureCode } from '../../../domain/failure.ts';
import type { Oid, SessionId } from '../../../domain/names.ts';
import { ObjectBatch } from '../../../git/object-batch.ts';
import { noteNames, wholeHistory } from '../../../git/commits.ts';
import type { Repository } from '../../../git/repository.ts';
import type { TopicState } from '../../../notes/topic.ts';
import type { Caller } from '../../../sessions/caller.ts';
import { ownerName } from '../../../domain/owner-name.ts';
import { typedTopic } from '../../../notes/topic-argument.ts';
import type { Draft } from './draft.ts';

/** Why a note is not written although there is one. */
export interface ImportRefusal {
  readonly code: FailureCode;
  readonly why: string;
  readonly hint: string;
}

/** What is going to happen with one note. */
export interface PlannedNote {
  readonly draft: Draft;
  readonly incoming: IncomingNote;
  readonly placement: Placement;
  /** In whose name it is written. */
  readonly as: SessionId;
  readonly refusal: ImportRefusal | undefined;
  /** The scanner's rules that were let pass in it. */
  readonly secretAllowed: string | undefined;
}

/** What the secret scan says of a draft. */
export interface ScannedDraft {
  readonly refusal: ImportRefusal | undefined;
  readonly allowed: string | undefined;
}

interface PlanFacts {
  readonly repository: Repository;
  readonly caller: Caller;
  readonly states: readonly TopicState[];
  /** Sessions at work. */
  readonly live: ReadonlySet<string>;
  readonly format: 'sha1' | 'sha256';
  /** Branch or topic were typed: what was imported to another place does not count. */
  readonly explicit: boolean;
  /** Looks for secrets in a note that is going to be written. */
  readonly scan: (draft: Draft) => Promise<ScannedDraft>;
}

/** The names of a handoff's notes in its whole history, newest first. */
async function notesOf({ cwd }: Repository, tip: Oid): Promise<Oid[]> {
  return [...(await noteNames({ cwd }, await wholeHistory({ cwd }, tip))).values()];
}

/** Decides for each note where it goes, as if those before it were written already. */
export async function planNotes(drafts: readonly Draft[], facts: PlanFacts): Promise<PlannedNote[]> {
  const { repository, states, caller, explicit } = facts;
  const known = states.map((state) => ({ ...state, importedFrom: state.tip?.trailers?.importedFrom }));
  const tips = await noteNames(
    repository,
    states.flatMap(({ tip }) => (tip === undefined ? [] : [tip.oid])),
  );
  const histories = new Map<Oid, Promise<Oid[]>>();
  const history = (tip: Oid) => {
    const reading = histories.get(tip) ?? notesOf(repository, tip);
    histories.set(tip, reading);
    return reading;
  };
  const made: KnownTopic[] = [];
  const plan: PlannedNote[] = [];
  for (const draft of settleStates(drafts)) {
    const incoming = incomingNote(draft, facts);
    const alone = explicit || draft.file.format === 'handover';
    const standing = candidates(incoming, known, alone)
      .filter((state) => !made.some((one) => one.branch === state.branch && one.topic === state.topic))
      .map(async (state) => {
        const { tip } = state;
        // The common case, that the tip has this very note, costs no look at its history.
        const isTip = tip !== undefined && tips.get(tip.oid) === incoming.note;
        return knownTopic(state, tip === undefined ? [] : isTip ? [incoming.note] : await history(tip.oid));
      });
    const related = [...candidates(incoming, made, alone), ...(await Promise.all(standing))];
    const placement = decidePlacement(incoming, inOrder(related), caller.id);
    const judged = judge(incoming, placement, facts);
    const writes = judged.refusal === undefined && ['create', 'update'].includes(placement.kind);
    const scanned = writes ? await facts.scan(draft) : undefined;
    const planned = {
      draft,
      incoming,
      placement,
      as: judged.as,
      refusal: judged.refusal ?? scanned?.refusal,
      secretAllowed: scanned?.allowed,
    };
    plan.push(planned);
    if (planned.refusal === undefined) remember(made, planned, related);
  }
  return plan;
}

/** The numbered names of a topic after itself, so that the first free one is found in order. */
const inOrder = (topics: readonly KnownTopic[]) =>
  [...topics].sort((a, b) => a.topic.length - b.topic.length || (a.topic < b.topic ? -1 : 1));

/** One thread of handovers is open as long as its newest is: what was put away are older versions of it. */
function settleStates(drafts: readonly Draft[]): Draft[] {
  const threads = new Set(
    drafts.filter(({ file, state }) => file.format === 'handover' && state === 'open').map(threadOf),
  );
  return drafts.map((draft) =>
    draft.file.format === 'handover' && threads.has(threadOf(draft)) ? { ...draft, state: 'open' } : draft,
  );
}

const threadOf = ({ branch, topic }: Draft) => `${branch}/${topic}`;

function incomingNote(draft: Draft, { caller, format }: PlanFacts): IncomingNote {
  const { branch, topic, owner, state, note, copyOf, file } = draft;
  const oid = new ObjectBatch(format).blob(note);
  const importedFrom = sourceName(
    file.format,
    file.format === 'handover' ? handoverPlace(file.place) : file.place,
  );
  return { branch, topic, note: oid, owner: owner ?? caller.id, state, importedFrom, copyOf };
}

/** A handover and what was put away of it are one place. */
function handoverPlace(place: string): string {
  const parent = dirname(place).replace(/(?:^|\/)\.handover(?:\/archive)?$/, '');
  return parent === '' || parent === '.' ? 'handover.md' : join(parent, 'handover.md');
}

function knownTopic({ branch, topic, tip }: TopicState, notes: readonly Oid[]): KnownTopic {
  const trailers = tip?.trailers;
  return {
    branch,
    topic,
    tip: tip?.oid,
    // What cannot be read is nobody's to replace; its name is taken.
    owner: trailers?.owner ?? ('' as SessionId),
    state: trailers?.state ?? 'open',
    importedFrom: trailers?.importedFrom,
    notes,
  };
}

function judge(
  incoming: IncomingNote,
  placement: Placement,
  { caller, live }: PlanFacts,
): Pick<PlannedNote, 'as' | 'refusal'> {
  if (placement.kind === 'no-name') {
    const why = `too many topics are called ${incoming.topic}`;
    return { as: incoming.owner, refusal: { code: 'usage', why, hint: 'git handoff import -h' } };
  }
  const as = placement.kind === 'create' ? incoming.owner : placement.known.owner;
  if (placement.kind === 'unchanged') return { as, refusal: undefined };
  if (placement.kind === 'not-owner') {
    const name = typedTopic(placement.known.branch, placement.known.topic);
    const why = `${name} belongs to ${ownerName(as)}`;
    return { as, refusal: { code: 'not-owner', why, hint: `git handoff take ${name}` } };
  }
  if (as === caller.id || !live.has(as)) return { as, refusal: undefined };
  const why = `${ownerName(as)} is at work: it can import its own notes, and anybody can once it has ended`;
  return { as, refusal: { code: 'not-owner', why, hint: 'git handoff sessions' } };
}

/** What stands after this step, for those behind it. */
function remember(
  made: KnownTopic[],
  { incoming, placement, as }: PlannedNote,
  related: readonly KnownTopic[],
): void {
  if (placement.kind !== 'create' && placement.kind !== 'update' && placement.kind !== 'close') return;
  const before = placement.kind === 'create' ? undefined : placement.known;
  const { branch, note, importedFrom, state } = incoming;
  const next: KnownTopic = {
    branch: before?.branch ?? branch,
    topic: placement.kind === 'create' ? placement.topic : placement.known.topic,
    tip: before?.tip,
    owner: as,
    state,
    importedFrom,
    notes: [note, ...(related.find((one) => one === before)?.notes ?? ([] as Oid[]))],
  };
  const at = made.findIndex((one) => one.branch === next.branch && one.topic === next.topic);
  if (at < 0) made.push(next);
  else made[at] = next;
}

/** The order in which notes are written: by format; open ones first; the oldest first. */
export function inWritingOrder(drafts: readonly Draft[]): Draft[] {
  const formats = ['guard', 'handover', 'structured', 'markdown'];
  const rank = ({ file }: Draft) => formats.indexOf(file.format);
  return [...drafts].sort((a, b) => rank(a) - rank(b) || withinFormat(a, b));
}

function withinFormat(a: Draft, b: Draft): number {
  const byName = a.file.path < b.file.path ? -1 : 1;
  switch (a.file.format) {
    case 'structured':
      return 0;
    case 'handover': {
      // Archived ones are called by their time; the copy in .handover is no newer than handover.md.
      const last = (draft: Draft) =>
        draft.file.archived ? 0 : basename(draft.file.path) === 'handover.md' ? 2 : 1;
      return last(a) - last(b) || byName;
    }
    default:
      return (
        Number(a.state === 'closed') - Number(b.state === 'closed') ||
        a.file.mtimeMs - b.file.mtimeMs ||
        byName
      );
  }
}
