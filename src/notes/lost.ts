import { NOTE_FILE } from '../domain/handoff.ts';
import { jsonFields } from '../domain/journal/events.ts';
import type { Oid, RefName, SessionId } from '../domain/names.ts';
import { type LoadedCommit, loadCommits } from '../git/commits.ts';
import { type HandoffPath, LOST, lostNumber, lostPrefix, lostRef, parsePath } from '../git/namespace.ts';
import { ObjectBatch, readObjects } from '../git/objects.ts';
import { listRefNames, listRefs, type RefValue, updateRefs } from '../git/refs.ts';
import { type Repository, objectFormat } from '../git/repository.ts';
import { Failure } from '../domain/messages.ts';

const DETAILS_FILE = 'lost.json';
const MAX_TRIES = 100;
/** Attempts at a lock; git waits a second in each. */
const MAX_LOCKED = 3;

/** Why a text is kept although it did not become the tip. */
interface LostDetails {
  /**
   * `refused`: the text of a refused write · `illegal-move`: the text at a ref that was moved by hand · `diverged`: a remote's
   * history had diverged from ours; the ref points at our last commit and so keeps all our versions.
   */
  readonly kind: 'refused' | 'illegal-move' | 'diverged';
  readonly session: SessionId | null;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly reason: string;
  /** The effective tip at that moment. */
  readonly tip: Oid | null;
  /** Only for `illegal-move`: the value that was found, `null` when the ref was gone. */
  readonly bad?: Oid | null;
}

interface LostText {
  readonly ref: RefName;
  readonly number: number;
  readonly details: LostDetails;
}

/** Keeps a text under `refs/handoffs-local/lost/…/<n>`, so that gc cannot take it. */
export async function saveLost(
  repository: Repository,
  path: HandoffPath,
  note: Uint8Array,
  details: LostDetails,
): Promise<LostText> {
  const taken = await listRefs(repository, [lostPrefix(path)]);
  const batch = new ObjectBatch(await objectFormat(repository, taken[0]?.oid, details.tip ?? undefined));
  const tree = batch.tree([
    { name: NOTE_FILE, oid: batch.blob(note) },
    { name: DETAILS_FILE, oid: batch.blob(Buffer.from(`${JSON.stringify(details)}\n`)) },
  ]);
  await batch.store({ cwd: repository.cwd });
  let number = nextNumber(taken);
  for (let tries = 0, locked = 0; tries < MAX_TRIES && locked < MAX_LOCKED; tries++, number++) {
    const ref = lostRef(path, number);
    const result = await updateRefs(repository, [{ ref, next: tree, old: undefined }]);
    if (result.kind === 'done') {
      await batch.storeAgainIfCollected(repository);
      return { ref, number, details };
    }
    if (result.kind === 'objects-gone') await batch.store({ cwd: repository.cwd });
    if (result.kind === 'locked') locked++;
  }
  throw new Failure('environment', 'the text could not be kept under a ref', { hint: 'git handoff doctor' });
}

const nextNumber = (taken: readonly RefValue[]) =>
  1 + Math.max(0, ...taken.map(({ name }) => lostNumber(name)));

/** The ref for the next lost text of a topic. */
export async function nextLostRef(repository: Repository, path: HandoffPath): Promise<RefName> {
  return lostRef(path, nextNumber(await listRefNames(repository, [lostPrefix(path)])));
}

/** The kept texts of a topic, oldest first. */
export async function listLost(repository: Repository, path: HandoffPath): Promise<LostText[]> {
  const refs = await listRefs(repository, [lostPrefix(path)]);
  const objects = await readObjects(
    { cwd: repository.cwd },
    refs.map((ref) => ({ name: `${ref.oid}:${DETAILS_FILE}` })),
  );
  const lines = refs.filter(({ type }) => type === 'commit').map(({ oid }) => oid);
  const commits = lines.length === 0 ? [] : await loadCommits({ cwd: repository.cwd }, lines);
  return refs
    .map((ref, index) => {
      const commit = commits[lines.indexOf(ref.oid)];
      const details = commit === undefined ? parseDetails(objects[index]?.content) : detailsOf(commit);
      return { ref: ref.name, number: lostNumber(ref.name), details };
    })
    .sort((a, b) => a.number - b.number);
}

/** The details of a history that diverged, from its last commit. */
const detailsOf = ({ trailers, seconds }: LoadedCommit): LostDetails => ({
  kind: 'diverged',
  session: trailers?.owner ?? null,
  at: seconds * 1000,
  reason: 'the history on a remote had diverged',
  tip: null,
});

export interface RefusedText extends Omit<LostText, 'ref'> {
  readonly path: HandoffPath;
}

/** Lists the texts of all refused writes, of all topics, in no order. */
export async function listRefused(repository: Repository): Promise<RefusedText[]> {
  const refs = await listRefNames(repository, [LOST]);
  const names = refs.map(({ oid }) => ({ name: `${oid}:${DETAILS_FILE}` }));
  const objects = await readObjects({ cwd: repository.cwd }, names);
  return refs.flatMap(({ name }, index) => {
    const path = parsePath(name.slice(0, name.lastIndexOf('/')), LOST);
    const details = parseDetails(objects[index]?.content);
    if (path === undefined || details.kind !== 'refused' || details.at === 0) return [];
    return [{ path, number: lostNumber(name), details }];
  });
}

/** The bytes of one kept text; `undefined` when no text has that number. */
export async function readLost(
  repository: Repository,
  path: HandoffPath,
  number: number,
): Promise<Buffer | undefined> {
  const [object] = await readObjects({ cwd: repository.cwd }, [
    { name: `${lostRef(path, number)}:${NOTE_FILE}` },
  ]);
  return object?.type === 'blob' ? object.content : undefined;
}

function parseDetails(content: Buffer | undefined): LostDetails {
  const fallback: LostDetails = { kind: 'refused', session: null, at: 0, reason: 'unknown', tip: null };
  return { ...fallback, ...(jsonFields(content?.toString('utf8') ?? '') as Partial<LostDetails>) };
}
