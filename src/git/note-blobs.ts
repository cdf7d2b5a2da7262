import { NOTE_FILE } from '../domain/handoff.ts';
import type { Oid } from '../domain/names.ts';
import { commitNamed, wholeHistory } from './commits.ts';
import { readObjects } from './objects.ts';
import type { InRepository } from './repository.ts';

/** The names of a handoff's notes in its whole history, newest first, without reading them. */
export async function noteBlobs({ cwd }: InRepository, tip: Oid): Promise<Oid[]> {
  const chain = await wholeHistory({ cwd }, tip);
  const requests = chain.map((oid) => ({ name: `${oid}:${NOTE_FILE}`, infoOnly: true }));
  const found = await readObjects({ cwd }, requests);
  return found.flatMap((object) => (object?.type === 'blob' ? [object.oid] : []));
}

/** The names of the notes of some tips, in one process. */
export async function tipNotes({ cwd }: InRepository, tips: readonly Oid[]): Promise<ReadonlyMap<Oid, Oid>> {
  const found = await readObjects(
    { cwd },
    tips.map((oid) => ({ name: `${oid}:${NOTE_FILE}`, infoOnly: true })),
  );
  return new Map(
    found.flatMap((object, at) => (object?.type === 'blob' ? [[tips[at] as Oid, object.oid]] : [])),
  );
}

/** The commit that a name of a foreign file means; `undefined` unless it is an object name (or its beginning) of one. */
export async function abbreviatedCommit({ cwd }: InRepository, name: string): Promise<Oid | undefined> {
  if (!/^[0-9a-f]{7,64}$/.test(name)) return undefined;
  return commitNamed(cwd, name);
}
