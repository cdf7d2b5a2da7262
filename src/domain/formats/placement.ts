import type { HandoffState } from '../handoff.ts';
import { type BranchName, type Oid, type SessionId, type Topic, parseLongTopic } from '../names.ts';

/** A topic that exists already, or that this import is about to create. */
export interface KnownTopic {
  readonly branch: BranchName;
  readonly topic: Topic;
  /** `undefined`: this import creates the topic. */
  readonly tip: Oid | undefined;
  readonly owner: SessionId;
  readonly state: HandoffState;
  /** Where the tip's note was imported from; `undefined`: somebody wrote it. */
  readonly importedFrom: string | undefined;
  /** The topic's notes, the tip's first. Older ones are read only if the tip's note is not the imported one. */
  readonly notes: readonly Oid[];
}

/** A note that an import has found. */
export interface IncomingNote {
  readonly branch: BranchName;
  readonly topic: Topic;
  readonly note: Oid;
  readonly owner: SessionId;
  readonly state: HandoffState;
  readonly importedFrom: string;
  /** The commit that the file is a copy of, if this program exported it. */
  readonly copyOf?: Oid | undefined;
}

/** What to do with a note, and the topic that it goes to: one that is known, or a new one. */
export interface Placement {
  /**
   * `update`: write the next version · `close`: close the topic in its owner's name, with its note as it is · `no-name`:
   * every name that the note could have is taken.
   */
  readonly kind: 'create' | 'update' | 'close' | 'unchanged' | 'not-owner' | 'no-name';
  readonly target: KnownTopic;
}

/** If a name is taken, how many numbers to try after it. */
const MAX_NUMBER = 50;

/**
 * Decides where an imported note goes. A text that is in its topic's history is not written again. A file that was imported
 * before becomes the next version, if its owner or the caller owns the topic. A note that somebody wrote is never replaced: the
 * import takes the next free name beside it. `related`: every topic that the note could belong to (`candidates`).
 */
export function decidePlacement(
  incoming: IncomingNote,
  related: readonly KnownTopic[],
  caller: SessionId,
): Placement {
  const mine = ({ owner }: KnownTopic) => owner === incoming.owner || owner === caller;
  const same = related.find(({ notes }) => notes.includes(incoming.note));
  if (same !== undefined) {
    const closes =
      incoming.state === 'closed' &&
      same.state === 'open' &&
      same.notes[0] === incoming.note &&
      same.importedFrom === incoming.importedFrom;
    return { kind: closes && mine(same) ? 'close' : 'unchanged', target: same };
  }
  const earlier = related.find(
    ({ importedFrom, tip }) =>
      importedFrom === incoming.importedFrom || (tip !== undefined && tip === incoming.copyOf),
  );
  if (earlier !== undefined) return { kind: mine(earlier) ? 'update' : 'not-owner', target: earlier };
  const taken = new Set(related.filter(({ branch }) => branch === incoming.branch).map(({ topic }) => topic));
  const name = names(incoming.topic).find((one) => !taken.has(one));
  const { branch, topic, owner, state, importedFrom } = incoming;
  const target = { branch, topic: name ?? topic, tip: undefined, owner, state, importedFrom, notes: [] };
  return { kind: name === undefined ? 'no-name' : 'create', target };
}

/**
 * Returns the topics that a note could belong to: those of its branch with its name, or its name and a number. Unless
 * `byNameOnly`, also topics imported from the same file: by now it may hold another branch's note.
 */
export function candidates<T extends Pick<KnownTopic, 'branch' | 'topic' | 'importedFrom'>>(
  incoming: Pick<IncomingNote, 'branch' | 'topic' | 'importedFrom'>,
  known: readonly T[],
  byNameOnly: boolean,
): T[] {
  const family = new Set(names(incoming.topic));
  return known.filter(
    ({ branch, topic, importedFrom }) =>
      (branch === incoming.branch && family.has(topic)) ||
      (!byNameOnly && importedFrom === incoming.importedFrom),
  );
}

function names(topic: Topic): Topic[] {
  return Array.from({ length: MAX_NUMBER }, (_, at) => numberedTopic(topic, at + 1));
}

/**
 * Returns how a commit names the file that its note came from: `<format>:<place>`, one line without blanks. A handover and
 * its archived versions count as one place.
 */
export function sourceName(format: string, place: string): string {
  const one =
    format === 'handover'
      ? place.replace(/(?:(?<=^|\/)\.handover\/(?:archive\/)?)?[^/]*$/, 'handover.md')
      : place;
  const name = encodeURI(one.slice(0, 512).replace(/[\ud800-\udfff]/gu, '\ufffd'));
  return `${format}:${name}`;
}

/** A topic has at most 100 characters, and a dash and a number must fit after it. */
const MAX_NUMBERED = 95;

/** Returns the name to try when a topic's name is taken: `auth-refresh-2`. */
export function numberedTopic(topic: Topic, number: number): Topic {
  if (number < 2) return topic;
  return parseLongTopic(`${topic.slice(0, MAX_NUMBERED).replace(/-$/, '')}-${number}`) ?? topic;
}
