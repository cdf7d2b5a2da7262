import { askerOf, belongingOf } from '../../../changes/dirty-work.ts';
import type { SessionId } from '../../../domain/names.ts';
import type { JudgedSession } from '../../../sessions/records.ts';
import type { OverlapShape } from '../../shapes.ts';
import { sideOf } from './compare.ts';
import type { Line } from './lines.ts';

/** The paths that several live sessions have changed in one working tree, by who they are. */
export function sharedPaths(line: Line, sessions: readonly JudgedSession[]): OverlapShape[] {
  const work = line.sessions.length < 2 ? undefined : line.work();
  if (work === undefined) return [];
  const asker = askerOf(undefined, sessions);
  const meetings = new Map<string, { sides: OverlapShape['sides']; paths: string[] }>();
  for (const dirty of work.snapshot.dirty.values()) {
    const { state, claims } = belongingOf(work, dirty, asker);
    const [one, ...others] = claims.map(({ session }) => session);
    if (state !== 'contended' || one === undefined) continue;
    for (const other of others) {
      const key = `${one} ${other}`;
      const known = meetings.get(key);
      const sides = [sideOfSession(line, one), sideOfSession(line, other)] as const;
      if (known === undefined) meetings.set(key, { sides, paths: [dirty.path] });
      else known.paths.push(dirty.path);
    }
  }
  return [...meetings.values()].map(({ sides, paths }) => ({
    sides,
    paths: paths.map((path) => ({ path, kind: 'same-tree' as const, deletedBy: null })),
    unknown: null,
  }));
}

const sideOfSession = (line: Line, session: SessionId) =>
  sideOf({ ...line, sessions: line.sessions.filter(({ record }) => record.session === session) });
