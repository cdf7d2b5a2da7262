import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Verdict } from '../../agents/dialect.ts';
import { ago } from '../../domain/age.ts';
import { type SessionId, shortId } from '../../domain/names.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { formatOf, objectName } from '../../git/hash.ts';
import { readLedger } from '../../changes/ledger.ts';
import type { OpenWindow } from '../../changes/windows.ts';
import type { Scene } from '../scene.ts';
import type { PlacedPath, WorkPlace } from '../../changes/work-place.ts';

/**
 * Tells a session whose own uncommitted change is not on the disk while another one commits: hooks such as lint-staged's
 * stash the whole tree and bring it back at the end.
 */
export function putAside(
  { now }: Scene,
  session: SessionId,
  place: WorkPlace,
  placed: readonly PlacedPath[],
  commit: OpenWindow,
): Verdict | undefined {
  const { claims } = readLedger(place, session);
  const gone = placed.find(({ path }) => {
    const oid = claims.get(path)?.after?.oid ?? null;
    return oid !== null && contentName(join(place.top, path), oid) !== oid;
  });
  if (gone === undefined) return undefined;
  return {
    kind: 'context',
    text:
      `git-handoff: ${escapeLine(gone.path)} is not as this session left it, and a commit by session ` +
      `${shortId(commit.session)} is in progress (since ${ago(commit.from, now)}): its hooks may have put the tree aside ` +
      'for a while. Wait for its end and look again before you repair anything; what is gone then: git handoff rescue',
  };
}

/** The name that git gives the file's bytes; empty when there is no file. */
function contentName(file: string, like: string): string {
  try {
    return objectName(formatOf(like), 'blob', readFileSync(file));
  } catch {
    return '';
  }
}
