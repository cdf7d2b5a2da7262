import { timestamp } from '../domain/age.ts';
import type { HandoffCommit, HandoffTrailers } from '../domain/handoff.ts';
import type { Oid, SessionId } from '../domain/names.ts';
import { type Reader, isUnread } from '../domain/reader.ts';
import { parseAllowed } from '../domain/secrets/verdict.ts';
import { parseWorkSize } from '../domain/work-size.ts';
import { personName } from '../notes/person-name.ts';
import type { TopicState } from '../notes/topic.ts';
import type { HandoffShape, NoteShape } from './shapes.ts';

/** A reader, and what it has acknowledged of the handoff that is shown. */
type ReaderView = Reader & { readonly acknowledged?: Oid | undefined };

/** A handoff commit as `--json` shows it; a commit whose trailers cannot be read shows owner "unknown". */
export function handoffShape(
  place: Pick<TopicState, 'branch' | 'topic'> & { ref: string },
  commit: HandoffCommit,
  reader: SessionId | ReaderView | undefined,
): HandoffShape {
  const { trailers } = commit;
  const view = typeof reader === 'object' ? reader : { session: reader, operator: undefined };
  return {
    branch: place.branch,
    topic: place.topic,
    ref: place.ref,
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
    unread: isUnread(commit, view, view.acknowledged),
  };
}

function workShape({ work, workSize }: Partial<HandoffTrailers> = {}): HandoffShape['work'] {
  if (work === undefined) return null;
  const { paths = null, bytes = null } = parseWorkSize(workSize) ?? {};
  return { oid: work, paths, bytes };
}

/** A note's bytes for JSON. */
export function noteShape(note: Uint8Array): NoteShape {
  try {
    return { note: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(note) };
  } catch {
    return { noteBase64: Buffer.from(note).toString('base64') };
  }
}
