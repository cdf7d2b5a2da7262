import type { Kin } from '../domain/mixed-commit.ts';
import type { StoredSession } from '../sessions/records.ts';
import type { TopicState } from './topic.ts';

/** Sessions that are on record as one conversation, or as one inside the other. */
export function kinOf(sessions: readonly StoredSession[], states: readonly TopicState[]): Kin[] {
  const recorded = sessions.flatMap(({ record: { session, succeeds, parent } }) =>
    [succeeds, parent].flatMap((other): Kin[] => (other === null ? [] : [[session, other]])),
  );
  const written = states.flatMap(({ tip }): Kin[] => {
    const { owner, succeeds } = tip?.trailers ?? {};
    return owner === undefined || succeeds === undefined ? [] : [[owner, succeeds]];
  });
  return [...recorded, ...written];
}
