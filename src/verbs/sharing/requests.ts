import { ago, timestamp } from '../../domain/age.ts';
import type { SessionLedger } from '../../domain/ledger/claims.ts';
import { openRequests, wishText } from '../../domain/ledger/requests.ts';
import { listed } from '../../domain/surfacing.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import type { RequestShape } from '../shapes.ts';

/**
 * What sessions that are at work want of each other in one worktree.
 *
 * @param worktree its top
 * @param isChanged whether a session still has an uncommitted change at a path
 */
export function requestShapes(
  ledgers: readonly SessionLedger[],
  sessions: readonly JudgedSession[],
  worktree: string,
  isChanged: (session: string, path: string) => boolean,
): RequestShape[] {
  const isLive = (id: string) =>
    sessions.some(({ record, liveness }) => record.session === id && liveness === 'live');
  return openRequests(ledgers)
    .filter(({ from, to, owner, path }) => isLive(from) && isLive(to) && isChanged(owner, path))
    .map(({ from, to, wish, path, at, handedAt }) => {
      const times = { askedAt: timestamp(at), handedAt: handedAt === undefined ? null : timestamp(handedAt) };
      return { from, to, wish, path, worktree, ...times };
    });
}

/**
 * A line for each two sessions and wish. What was handed over need not have been read.
 *
 * @param named a session as the list names it
 * @param typed a path as it is typed where the list is shown
 */
export function requestLines(
  requests: readonly RequestShape[],
  named: (session: string) => string,
  typed: (request: RequestShape) => string,
  now: number,
): string {
  const groups = new Map<string, RequestShape[]>();
  for (const request of requests) {
    const { from, to, wish, handedAt } = request;
    const like = `${from} ${to} ${wish} ${handedAt ?? ''}`;
    groups.set(like, [...(groups.get(like) ?? []), request]);
  }
  return [...groups.values()]
    .map((group) => {
      const [{ from, to, wish, askedAt, handedAt }] = group as [RequestShape];
      const asked = `asked ${ago(Date.parse(askedAt), now)}`;
      const handed =
        handedAt === null
          ? `waits for the next call of ${named(to)}`
          : `handed to ${named(to)} ${ago(Date.parse(handedAt), now)}`;
      return `${wishText(named(from), wish, listed(group.map(typed)))} (${asked}, ${handed})\n`;
    })
    .join('');
}
