import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Oid, type SessionId, parseOid, parseSessionId } from '../domain/names.ts';
import { ensureFolder, repositoryFolder } from '../host/folders.ts';
import { readText } from './ledger.ts';

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
