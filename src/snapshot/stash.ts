import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Oid, type SessionId, parseOid, parseSessionId } from '../domain/names.ts';
import type { RescueLimits } from '../domain/settings.ts';
import { type StashEntry, listStash } from '../git/stash.ts';
import { readText } from '../host/disk.ts';
import { ensureFolder, repositoryFolder } from '../host/folders.ts';
import { type Rescue, type RescuePlace, keepRescues, listRescues } from './rescues.ts';

/** The stash as it is now. */
export interface SeenStash {
  readonly entries: readonly StashEntry[];
  /** Those that nobody had seen before. */
  readonly fresh: readonly StashEntry[];
  readonly rescues: readonly Rescue[];
}

/** Looks at the stash, and at what of it has been kept. */
export async function readStash(cwd: string, timeoutMs?: number): Promise<SeenStash> {
  const [entries, rescues] = await Promise.all([listStash(cwd, timeoutMs), listRescues(cwd, { timeoutMs })]);
  const pinned = new Set(rescues.filter(({ kind }) => kind === 'stash').map(({ oid }) => oid));
  return { entries, fresh: entries.filter(({ oid }) => !pinned.has(oid)), rescues };
}

/**
 * Keeps every entry that is new by a ref of its own: one that is dropped later is still there.
 *
 * @param now milliseconds since the epoch
 */
export async function keepStash(
  place: RescuePlace,
  { entries, fresh, rescues }: SeenStash,
  limits: RescueLimits,
  now: number,
): Promise<void> {
  // The oldest first: numbers grow with time.
  const oids = fresh
    .slice(0, MAX_NEW)
    .map(({ oid }) => oid)
    .reverse();
  const held = new Set(entries.map(({ oid }) => oid));
  if (oids.length > 0) await keepRescues(place, 'stash', oids, { known: rescues, limits, now, held });
}

/** Looks at the stash and keeps what is new. */
export async function pinStash(
  place: RescuePlace,
  limits: RescueLimits,
  now: number,
  timeoutMs?: number,
): Promise<SeenStash> {
  const seen = await readStash(place.cwd, timeoutMs);
  await keepStash(place, seen, limits, now);
  return seen;
}

/** More entries than this are pinned by and by. */
const MAX_NEW = 200;

/** `<common>/handoff/stashes`: which session made which entry of the stash, a line each. */
const fileOf = (commonDir: string) => join(repositoryFolder(commonDir), 'stashes');

/** Older lines are forgotten beyond this number. */
const MAX_LINES = 500;

/** Notes that a session made these entries. */
export function noteStashOwner(commonDir: string, session: SessionId, oids: readonly Oid[]): void {
  if (oids.length === 0) return;
  const lines = oids.map((oid) => `${oid} ${session}\n`);
  const known = readText(fileOf(commonDir))
    .split('\n')
    .filter((line) => line !== '');
  ensureFolder(repositoryFolder(commonDir));
  if (known.length < MAX_LINES) {
    appendFileSync(fileOf(commonDir), lines.join(''), { mode: 0o600 });
    return;
  }
  const last = known.slice(-MAX_LINES / 2).map((line) => `${line}\n`);
  writeFileSync(fileOf(commonDir), [...last, ...lines].join(''), { mode: 0o600 });
}

/** Who made an entry, as far as it is known. */
export function readStashOwners(commonDir: string): ReadonlyMap<Oid, SessionId> {
  const owners = new Map<Oid, SessionId>();
  for (const line of readText(fileOf(commonDir)).split('\n')) {
    const [name = '', id = ''] = line.split(' ');
    const [oid, session] = [parseOid(name), parseSessionId(id)];
    if (oid !== undefined && session !== undefined) owners.set(oid, session);
  }
  return owners;
}

/** What was there before a session's command that makes an entry, until the command is over. */
const pendingFile = (commonDir: string, session: SessionId) =>
  join(repositoryFolder(commonDir), 'stashing', session);

/** A session is about to make an entry: the ones that are there already are not its own. */
export function expectStash(commonDir: string, session: SessionId, oids: readonly Oid[]): void {
  const file = pendingFile(commonDir, session);
  ensureFolder(dirname(file));
  writeFileSync(file, `${oids.join('\n')}\n`, { mode: 0o600 });
}

/** What was there before the session's command; `undefined`: it was to make none. Forgotten with this. */
export function takeExpected(commonDir: string, session: SessionId): ReadonlySet<string> | undefined {
  const file = pendingFile(commonDir, session);
  const text = readText(file);
  if (text === '') return undefined;
  rmSync(file, { force: true });
  return new Set(text.split('\n').filter((line) => line !== ''));
}

/** Whether a command of the session that may make an entry of the stash is under way. */
export function isStashing(commonDir: string, session: SessionId): boolean {
  return readText(pendingFile(commonDir, session)) !== '';
}
