import type { StagedPath } from '../domain/ledger/mixing.ts';
import type { Sides } from '../domain/ledger/ownership.ts';
import { markerOwner } from '../domain/marker.ts';
import { type SessionId, parseSessionId } from '../domain/names.ts';
import { readObjects } from '../git/objects.ts';

/** A staged handoff file of the predecessor, and the session that its first line names. */
interface StagedMarker {
  readonly path: string;
  readonly owner: SessionId;
}

const HANDOFF_FILE = /(?:^|\/)handoff-[^/]*\.md$/;

/**
 * The staged handoff files that this session may not commit: another live session's, and all but its own when they
 * are of several. One process when there are such files, none else.
 */
export async function foreignMarkers(
  cwd: string,
  staged: readonly StagedPath[],
  sides: Sides,
  timeoutMs: number,
): Promise<StagedMarker[]> {
  const files = staged.flatMap(({ path, index }) => {
    const oid = index?.mode.startsWith('100') === true ? index.oid : null;
    return oid !== null && HANDOFF_FILE.test(path) ? [{ path, oid }] : [];
  });
  const objects = await readObjects(
    { cwd, timeoutMs },
    files.map(({ oid }) => ({ name: oid })),
  );
  const markers = files.flatMap(({ path }, n): StagedMarker[] => {
    const owner = parseSessionId(markerOwner(objects[n]?.content.toString('utf8') ?? ''));
    return owner === undefined ? [] : [{ path, owner }];
  });
  const others = markers.filter(({ owner }) => !sides.own.has(owner));
  const isOneSession =
    new Set(others.map(({ owner }) => owner)).size === 1 && others.length === markers.length;
  return isOneSession ? others.filter(({ owner }) => sides.foreign.has(owner)) : others;
}
