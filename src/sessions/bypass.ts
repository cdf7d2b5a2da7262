import { lstatSync, readFileSync, renameSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BypassKey,
  type BypassToken,
  type ConsumedBypass,
  covers,
  fits,
  formatConsumed,
  formatToken,
  isAbandoned,
  isTokenFresh,
  parseConsumed,
  parseToken,
} from '../domain/bypass.ts';
import type { SessionId } from '../domain/names.ts';
import { entries, isOwnFile } from '../host/disk.ts';
import { bypassFolder, ensureFolder } from '../host/folders.ts';
import { nameHash } from '../host/name-hash.ts';
import { processTable } from '../host/processes.ts';
import { randomName } from '../host/random-name.ts';

/**
 * Bypasses on the disk: a token is `<common>/handoff/allow/<random>`; consumed it is
 * `<common>/handoff/allow/used/<session>/<hash of what it counts for>`. The one becomes the other by rename(2): of
 * two that want the same token only one gets it. Folders that are empty go, so that looking costs nothing.
 */
const USED = 'used';
/** Stands for a person in the place of a session; no session is named like this. */
const PERSON = '-';

const usedFolder = (commonDir: string, session: SessionId | undefined) =>
  join(bypassFolder(commonDir), USED, session ?? PERSON);
const keyFile = (key: BypassKey) =>
  `${key.kind}-${nameHash(key.kind === 'call' ? key.id : `${key.pid} ${key.start}`)}`;

/** Leaves a token for the next refusal, and forgets those that nobody consumed in time. */
export function putToken(commonDir: string, token: BypassToken): void {
  const folder = bypassFolder(commonDir);
  ensureFolder(folder);
  for (const { file } of readTokens(commonDir).filter((one) => !isTokenFresh(one.token, token.at)))
    rmSync(file, { force: true });
  const temporary = join(folder, `.${randomName()}`);
  writeFileSync(temporary, formatToken(token), { mode: 0o600, flag: 'wx' });
  renameSync(temporary, join(folder, randomName()));
}

/** What a check is about: who is refused, and what the bypass would count for. */
interface BypassRequest {
  /** `undefined`: a person. */
  readonly session: SessionId | undefined;
  readonly key: BypassKey;
  /** The refusal is about handoff files. */
  readonly files?: boolean;
  readonly now: number;
}

/**
 * Whether a person has allowed what is refused: `again` by what was consumed for this call before, `now` by a token that this
 * consumes.
 */
export function consumeBypass(commonDir: string, request: BypassRequest): 'again' | 'now' | undefined {
  if (isCovered(commonDir, request)) return 'again';
  const { session, key, now, files = false } = request;
  const usable = readTokens(commonDir)
    .filter(({ token }) => isTokenFresh(token, now) && fits(token, session))
    // One that names the session first, then the oldest.
    .sort(
      (a, b) =>
        Number(a.token.session === null) - Number(b.token.session === null) || a.token.at - b.token.at,
    );
  for (const token of usable) {
    const own = join(usedFolder(commonDir, session), keyFile(key));
    if (!moved(token.file, own)) continue;
    writeFileSync(own, formatConsumed({ v: 1, key, at: now, files }), { mode: 0o600 });
    return 'now';
  }
  // Another process of the same call may have been first.
  return isCovered(commonDir, request) ? 'again' : undefined;
}

/** Whether a person lets a session do once what a verb refuses it. That counts for this one command: no other has the key. */
export function isAllowedOnce(commonDir: string, session: SessionId, now: number): boolean {
  const key = { kind: 'git', pid: 0, start: randomName() } as const;
  return consumeBypass(commonDir, { session, key, now }) !== undefined;
}

/** What was consumed for a session and counts still. */
export function readConsumed(commonDir: string, session: SessionId | undefined): ConsumedBypass[] {
  return usedFiles(commonDir, session).flatMap(({ consumed }) => consumed ?? []);
}

/** A tool call of this session begins: what was consumed for calls of its agent that are over counts no more. */
export function dropAbandonedBypasses(
  commonDir: string,
  session: SessionId,
  next: Extract<BypassKey, { kind: 'call' }>,
  now: number,
): void {
  dropWhere(commonDir, session, (consumed) => isAbandoned(consumed, next, now), now);
}

/** A tool call is over (`undefined`: every call of the session). */
export function endBypass(
  commonDir: string,
  session: SessionId,
  callId: string | undefined,
  now: number,
): void {
  const isOver = ({ key }: ConsumedBypass) =>
    key.kind === 'call' && (callId === undefined || key.id === callId);
  dropWhere(commonDir, session, isOver, now);
}

function isCovered(commonDir: string, { session, key, now }: BypassRequest): boolean {
  if (readConsumed(commonDir, session).some((consumed) => covers(consumed, key, now))) return true;
  return isJustTaken(join(usedFolder(commonDir, session), keyFile(key)), now);
}

/** Between its rename and the next line a token stands where it is not yet written what it counts for. */
const TAKING_MS = 2_000;

function isJustTaken(file: string, now: number): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false });
  return found !== undefined && isOwnFile(file) && Math.abs(now - found.ctimeMs) < TAKING_MS;
}

/** rename(2); false when somebody else was first. */
function moved(from: string, to: string): boolean {
  try {
    ensureFolder(join(to, '..'));
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

function readTokens(commonDir: string): { file: string; token: BypassToken }[] {
  const folder = bypassFolder(commonDir);
  return entries(folder).flatMap((name) => {
    const file = join(folder, name);
    const token = name.startsWith('.') ? undefined : parseToken(readOwn(file));
    return token === undefined ? [] : [{ file, token }];
  });
}

/** Nobody else of this machine can have put the file there. */
function readOwn(file: string): string {
  try {
    return isOwnFile(file) ? readFileSync(file, 'utf8') : '';
  } catch {
    return '';
  }
}

function usedFiles(
  commonDir: string,
  session: SessionId | undefined,
): { file: string; consumed: ConsumedBypass | undefined }[] {
  const folder = usedFolder(commonDir, session);
  return entries(folder).map((name) => {
    const file = join(folder, name);
    return { file, consumed: parseConsumed(readOwn(file)) };
  });
}

function dropWhere(
  commonDir: string,
  session: SessionId,
  isOver: (consumed: ConsumedBypass) => boolean,
  now: number,
): void {
  const table = processTable();
  const isGone = ({ key }: ConsumedBypass) => key.kind === 'git' && table.runningSince(key.pid) !== key.start;
  for (const { file, consumed } of usedFiles(commonDir, session)) {
    const drop = consumed === undefined ? !isJustTaken(file, now) : isGone(consumed) || isOver(consumed);
    if (drop) rmSync(file, { force: true });
  }
  const folder = bypassFolder(commonDir);
  for (const empty of [usedFolder(commonDir, session), join(folder, USED), folder]) removeEmpty(empty);
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Something is in it still.
  }
}
