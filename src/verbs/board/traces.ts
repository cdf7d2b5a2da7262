import { jsonFields } from '../../domain/json-fields.ts';
import { escapeLine, escapeText } from '../../domain/surfacing.ts';
import { parseSessionId } from '../../domain/names.ts';
import { signedCommits } from '../../git/board-history.ts';
import { decodeBranch } from '../../git/namespace.ts';
import type { InRepository } from '../../git/repository.ts';
import type { RefusedText } from '../../notes/lost.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import type { Lanes } from './lanes.ts';
import type { BoardCommit, BoardRefusal } from '../../ui/board/shape.ts';

/** Commits of the branches that are looked at for trailers, newest first. */
export const LOOK_COMMITS = 5000;
/** Refusals that a page shows. */
export const MAX_REFUSALS = 2000;
/** Of one refusal. Characters. */
const MAX_DETAIL = 2000;

/** The commits that sessions made, as their trailers tell. */
export async function boardCommits(
  repository: InRepository,
  lanes: Lanes,
): Promise<{ commits: BoardCommit[]; complete: boolean }> {
  const { commits, looked } = await signedCommits(repository, LOOK_COMMITS);
  const shapes = commits.map(({ oid, seconds, subject, sessions, branch }): BoardCommit => {
    const at = seconds * 1000;
    const ids = [...new Set(sessions.flatMap((id) => parseSessionId(id) ?? []))];
    const by = ids.map((id) => lanes.trace(id, { at, branch }));
    const named = branch === undefined ? {} : { branch: escapeLine(branch) };
    return { oid, at, by, subject: escapeLine(subject), ...named };
  });
  return { commits: shapes, complete: looked < LOOK_COMMITS };
}

/**
 * The refusals that a log tells of, and the texts that were refused, newest first. Lines that are none of ours are
 * passed over.
 */
export function boardRefusals(
  log: string,
  lanes: Lanes,
  texts: readonly RefusedText[] = [],
): { refusals: BoardRefusal[]; complete: boolean } {
  const lines = [...log.split('\n').flatMap((line) => parseLine(line) ?? []), ...texts.map(refusedWrite)];
  const newest = lines.sort((a, b) => b.at - a.at).slice(0, MAX_REFUSALS);
  const refusals = newest.map(({ at, session, client, event, detail }): BoardRefusal => {
    const id = parseSessionId(session);
    return {
      at,
      ...(id === undefined ? {} : { by: lanes.trace(id, { at, client }) }),
      event: escapeLine(event.slice(0, 80)),
      detail: escapeText(detail.slice(0, MAX_DETAIL)),
    };
  });
  return { refusals, complete: lines.length <= MAX_REFUSALS };
}

interface Refused {
  readonly at: number;
  readonly session: string | undefined;
  readonly client: string | undefined;
  readonly event: string;
  readonly detail: string;
}

/** A write of a note: its text was kept, the guard had no part in it. */
function refusedWrite({ path, number, details }: RefusedText): Refused {
  const { at, session, reason } = details;
  const name = typedTopic(decodeBranch(path.component) ?? path.component, path.topic);
  const why = reason === 'not-owner' ? 'another session owned it' : reason;
  const detail = `${name} was not written: ${why}. The text is kept: git handoff show ${name} --lost=${number}`;
  return { at, session: session ?? undefined, client: undefined, event: 'git handoff write', detail };
}

function parseLine(line: string): Refused | undefined {
  if (!line.includes('"deny"')) return undefined;
  const { ts, session, client, event, kind, detail } = jsonFields(line);
  const at = typeof ts === 'string' ? Date.parse(ts) : NaN;
  if (kind !== 'deny' || Number.isNaN(at)) return undefined;
  const text = (field: unknown) => (typeof field === 'string' ? field : undefined);
  return {
    at,
    session: text(session),
    client: text(client)?.slice(0, 40),
    event: text(event) ?? '',
    detail: text(detail) ?? '',
  };
}
