import { escapeLine, shellWord, timestamp } from '../domain/messages.ts';
import type { HandoffCommit, HandoffTrailers } from '../domain/handoff.ts';
import { type Oid, type SessionId, isPerson, shortId, ownerName as nameOfOwner } from '../domain/names.ts';
import { type Reader, isUnread } from '../domain/note-owner.ts';
import { parseAllowed } from '../domain/secrets.ts';
import { parseWorkSize } from '../domain/snapshot.ts';
import { handoffRef } from '../git/namespace.ts';
import { decodeNote } from '../notes/front-matter/prepare.ts';
import { personName } from '../notes/person-name.ts';
import type { TopicState } from '../notes/topic.ts';
import type { HandoffShape, NoteShape, NamedSessionShape } from './shapes.ts';
import type { JudgedSession } from '../sessions/records.ts';
import type { RemoteSummary } from '../domain/tracking/relation.ts';

/**
 * Returns a handoff commit as `--json` shows it, with the owner "unknown" if its trailers cannot be read.
 *
 * @param acknowledged the version that the reader has acknowledged
 */
export function handoffShape(
  place: Pick<TopicState, 'branch' | 'topic' | 'path'>,
  commit: HandoffCommit,
  reader: SessionId | Reader | undefined,
  acknowledged?: Oid,
): HandoffShape {
  const { trailers } = commit;
  const view = typeof reader === 'object' ? reader : { session: reader, operator: undefined };
  return {
    branch: place.branch,
    topic: place.topic,
    ref: handoffRef(place.path),
    oid: commit.oid,
    parent: commit.parents[0] ?? null,
    state: trailers?.state ?? 'open',
    owner: trailers?.owner ?? 'unknown',
    ownerName: personName(commit) ?? null,
    agent: trailers?.agent ?? null,
    client: trailers?.client ?? null,
    summary: commit.summary,
    base: trailers?.base ?? null,
    createdAt: timestamp(commit.seconds * 1000),
    takenFrom: trailers?.takenFrom ?? trailers?.succeeds ?? null,
    secretAllowed: parseAllowed(trailers?.secretAllowed),
    to: trailers?.to ?? null,
    from: trailers?.from ?? null,
    work: workShape(trailers),
    unread: isUnread(commit, view, acknowledged),
  };
}

function workShape({ work, workSize }: Partial<HandoffTrailers> = {}): HandoffShape['work'] {
  if (work === undefined) return null;
  const { paths = null, bytes = null } = parseWorkSize(workSize) ?? {};
  return { oid: work, paths, bytes };
}

/** Returns a note's bytes for JSON. */
export function noteShape(note: Uint8Array): NoteShape {
  const text = decodeNote(note);
  return text === undefined ? { noteBase64: Buffer.from(note).toString('base64') } : { note: text };
}

/** Returns a map from a note's owner to the owner's client: messages name both. */
export function clientsOfOwner(tip: HandoffCommit | undefined): ReadonlyMap<string, string> {
  const { owner, client } = tip?.trailers ?? {};
  return new Map(owner === undefined || client === undefined ? [] : [[owner, client]]);
}

/** Returns an owner as lists show it: a person's name, or a session's client and short id. */
export function ownerText({
  owner,
  ownerName,
  client,
}: Pick<HandoffShape, 'owner' | 'ownerName' | 'client'>): string {
  if (client === null && !isPerson(owner)) return escapeLine(shortId(owner));
  return nameOfOwner(owner, { client, name: ownerName });
}

/** Returns a session on record as answers name it. */
export function namedSession({ record, liveness }: JudgedSession): NamedSessionShape {
  return { session: record.session, client: record.client, liveness };
}

/** Prints a line for each remote that is out of sync. Only a person sees the command: an agent would run it. */
export function remoteLines(remotes: readonly RemoteSummary[], isAtTerminal: boolean): string {
  return remotes
    .map(({ remote, toPush, toFetch, diverged }) => {
      const counts = [
        [toPush, 'not pushed to'],
        [toFetch, 'to fetch from'],
        [diverged, 'diverged from'],
      ] as const;
      const parts = counts.flatMap(([count, what]) =>
        count === 0 ? [] : [`${count} ${what} ${escapeLine(remote)}`],
      );
      const command = isAtTerminal ? `: git handoff sync ${shellWord(remote)}` : '';
      return parts.length === 0 ? '' : `Handoffs: ${parts.join(', ')}${command}\n`;
    })
    .join('');
}
