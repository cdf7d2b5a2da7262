import { topicsOverlap } from '../../domain/names.ts';
import type { SessionId } from '../../domain/names.ts';
import { related, succeededBy } from '../../domain/session.ts';
import type { SiblingFact } from '../../domain/verification/facts.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { personName } from '../../notes/person-name.ts';
import type { TopicState } from '../../notes/topic.ts';
import { typedTopic } from '../../notes/topic-argument.ts';

/** Sessions at work now that are not the reader's own conversation, its parents or its children. */
export function foreignLive(
  reader: SessionId | undefined,
  sessions: readonly JudgedSession[],
): ReadonlySet<SessionId> {
  const records = sessions.map(({ record }) => record);
  const own = reader === undefined ? [] : [reader, ...succeededBy(reader, records)];
  const isOwn = (id: SessionId) => own.some((one) => one === id || related(one, id, records));
  const live = sessions.filter(({ liveness }) => liveness === 'live').map(({ record }) => record.session);
  return new Set(live.filter((id) => !isOwn(id)));
}

/** The other open notes of the branch, as they stand to the chosen one. */
export function siblingFacts(chosen: TopicState, beside: readonly TopicState[]): SiblingFact[] {
  return beside.flatMap((one): SiblingFact[] => {
    const { tip, topic, branch } = one;
    if (topic === chosen.topic || tip?.trailers?.state !== 'open') return [];
    return [
      {
        name: typedTopic(branch, topic),
        owner: tip.trailers.owner,
        client: tip.trailers.client,
        personName: personName(tip),
        newer: tip.seconds > (chosen.tip?.seconds ?? 0),
        overlaps: topicsOverlap(topic, chosen.topic),
        automatic: tip.trailers.automatic !== undefined,
      },
    ];
  });
}
