import { ago } from '../../domain/age.ts';
import type { AutomaticReason, HandoffCommit } from '../../domain/handoff.ts';
import type { SessionId } from '../../domain/names.ts';
import { noteExcerpt } from '../../domain/note/excerpt.ts';
import type { Staleness } from '../../domain/staleness.ts';
import { MAX_NOTES, type StartupFacts } from '../../domain/startup.ts';
import { loadCommits } from '../../git/commits.ts';
import type { Repository } from '../../git/repository.ts';
import { commitOwner } from '../../notes/person-name.ts';
import type { TopicState } from '../../notes/topic.ts';
import { MAX_AUTOMATIC, byAge } from '../../notes/find-topic.ts';
import { type BranchStaleness, stalenessOf } from '../../notes/staleness.ts';
import { typedTopic } from '../../notes/topic-argument.ts';

/** How many notes of this branch are told with an excerpt of their text. */
const MAX_EXCERPTS = 2;
const AUTOMATIC: Readonly<Record<AutomaticReason, string>> = {
  compaction: 'its context was compacted',
  'session-end': 'it ended without a note',
  death: 'its session died',
};
const STALE: Readonly<Record<NonNullable<Staleness>, string>> = {
  merged: 'its branch is merged',
  'branch-deleted': 'its branch is gone',
  'branch-renamed': 'its branch was renamed',
};

/**
 * Returns the open handoffs to tell, this branch's first, then the newest. The first ones of this branch come with an
 * excerpt of their text. Those for which there is no room are only counted.
 */
export async function startupNotes(
  repository: Repository,
  states: readonly TopicState[],
  judging: Promise<BranchStaleness>,
  reader: { readonly session: SessionId; readonly now: number },
): Promise<Pick<StartupFacts, 'notes' | 'further' | 'automatic'>> {
  const here = repository.branch;
  const all = states.filter(isOpen);
  const written = all.filter(({ tip }) => tip.trailers?.automatic === undefined);
  const isMany = all.length - written.length > MAX_AUTOMATIC;
  const open = isMany ? written : all;
  const first = firstOf(open, here);
  const excerpted = first.slice(0, MAX_EXCERPTS).filter(({ branch }) => branch === here);
  const oids = excerpted.map(({ tip }) => tip.oid);
  const loading = loadCommits({ cwd: repository.cwd }, oids, { notes: true });
  // Awaited below; a failure must not go unhandled until then.
  loading.catch(() => undefined);
  const stale = await judging;
  const notes = first.map((state) => {
    const { branch, topic, tip } = state;
    const staleness = stalenessOf(state, stale);
    const { owner = 'unknown', to, automatic } = tip.trailers ?? {};
    return {
      name: typedTopic(branch, topic),
      own: owner === reader.session,
      owner: commitOwner(tip) ?? 'unknown',
      age: ago(tip.seconds * 1000, reader.now),
      summary: tip.summary,
      remarks: [
        ...(to === undefined ? [] : [`to ${to}`]),
        ...(automatic === undefined ? [] : [`automatic: ${AUTOMATIC[automatic]}`]),
        ...(staleness === null ? [] : [STALE[staleness]]),
      ],
    };
  });
  const excerpts = (await loading).map((commit) =>
    commit?.note === undefined ? [] : noteExcerpt(commit.note.toString('utf8')),
  );
  return {
    notes: notes.map((note, at) => ({ ...note, excerpt: excerpts[at] ?? [] })),
    further: open.length - notes.length,
    automatic: all.length - open.length,
  };
}

type OpenTopic = TopicState & { readonly tip: HandoffCommit };

const isOpen = (state: TopicState): state is OpenTopic => state.tip?.trailers?.state === 'open';

/**
 * Returns the notes to tell: this branch's first, written ones before automatic ones, the newest first. To compare
 * thousands of topics is slow in code that runs once: numbers find the last one to tell, and only those up to it are.
 */
function firstOf(open: readonly OpenTopic[], here: string): OpenTopic[] {
  const ranks = Float64Array.from(open, (state) => rankOf(state, here));
  const last = ranks.toSorted()[MAX_NOTES - 1] ?? Infinity;
  const ranked = open.flatMap((state, at) =>
    (ranks[at] ?? 0) <= last ? [{ state, rank: ranks[at] ?? 0 }] : [],
  );
  ranked.sort((a, b) => a.rank - b.rank || byAge(a.state, b.state));
  return ranked.slice(0, MAX_NOTES).map(({ state }) => state);
}

/** A time later than any commit's date. Seconds. */
const NEVER = 1e12;

function rankOf({ branch, tip }: OpenTopic, here: string): number {
  const place = (branch === here ? 0 : 2) + Number(tip.trailers?.automatic !== undefined);
  return place * NEVER - Math.min(Math.max(tip.seconds, 0), NEVER - 1);
}
