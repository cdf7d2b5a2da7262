import { lstatSync, renameSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type BypassKey,
  type BypassToken,
  type ConsumedBypass,
  covers,
  fits,
  formatBypass,
  isAbandoned,
  isTokenFresh,
  parseConsumed,
  parseToken,
} from '../domain/bypass.ts';
import type { SessionId } from '../domain/names.ts';
import { entries, isOwnFile, quietly, randomName, readText } from '../host/disk.ts';
import { bypassFolder, ensureFolder, nameHash, share } from '../host/folders.ts';
import { processTable } from '../host/processes.ts';

/**
 * Bypasses on the disk: a token is the file `<common>/handoff/allow/<random>`, a consumed token is the file
 * `<common>/handoff/allow/used/<session>/<hash of the call that it covers>`. rename(2) turns a token into a consumed one, so
 * only one of two processes gets it. We remove empty folders, so that a check without bypasses costs nothing.
 */
const USED = 'used';
/** Stands for a person in place of a session id; no session has this id. */
const PERSON = '-';

const usedFolder = (commonDir: string, session: SessionId | undefined) =>
  join(bypassFolder(commonDir), USED, session ?? PERSON);
const keyFile = (key: BypassKey) =>
  `${key.kind}-${nameHash(key.kind === 'call' ? key.id : `${key.pid} ${key.start}`)}`;

/** Leaves a token for the next refusal, and removes the expired ones. */
export function putToken(commonDir: string, token: BypassToken): void {
  const folder = bypassFolder(commonDir);
  ensureFolder(folder);
  for (const { file } of readTokens(commonDir).filter((one) => !isTokenFresh(one.token, token.at)))
    rmSync(file, { force: true });
  const temporary = join(folder, `.${randomName()}`);
  writeFileSync(temporary, formatBypass(token), { mode: 0o600, flag: 'wx' });
  share(temporary);
  renameSync(temporary, join(folder, randomName()));
}

/** A request for a bypass: who is refused, and which call the bypass would cover. */
interface BypassRequest {
  /** `undefined`: a person. */
  readonly session: SessionId | undefined;
  readonly key: BypassKey;
  /** Whether the refusal is about handoff files. */
  readonly files?: boolean;
  readonly now: number;
}

/** Whether a person allows what is refused: `now` if this consumes a token, `again` if the call consumed one before. */
export function consumeBypass(commonDir: string, request: BypassRequest): 'again' | 'now' | undefined {
  if (isCovered(commonDir, request)) return 'again';
  const { session, key, now, files = false } = request;
  const own = join(usedFolder(commonDir, session), keyFile(key));
  for (const { file, token } of readTokens(commonDir)) {
    if (!isTokenFresh(token, now) || !fits(token, session) || !moved(file, own)) continue;
    writeFileSync(own, formatBypass({ v: 1, key, at: now, files }), { mode: 0o600 });
    share(own);
    return 'now';
  }
  // Another process of the same call may have been first.
  return isCovered(commonDir, request) ? 'again' : undefined;
}

/**
 * Whether a person's `allow --once` lets this session do what our command refuses. If so, the token is consumed. The random
 * key limits the bypass to this one command.
 */
export function isAllowedOnce(commonDir: string, session: SessionId, now: number): boolean {
  const key = { kind: 'git', pid: 0, start: randomName() } as const;
  return consumeBypass(commonDir, { session, key, now }) !== undefined;
}

/** Reads a session's consumed bypasses, without those that were dropped. */
export function readConsumed(commonDir: string, session: SessionId | undefined): ConsumedBypass[] {
  return usedFiles(commonDir, session).flatMap(({ consumed }) => consumed ?? []);
}

/** When a tool call begins, drops the bypasses of earlier calls of the same agent, because those calls are over. */
export function dropAbandonedBypasses(
  commonDir: string,
  session: SessionId,
  next: Extract<BypassKey, { kind: 'call' }>,
  now: number,
): void {
  dropWhere(commonDir, session, (consumed) => isAbandoned(consumed, next, now), now);
}

/** Drops the bypass of a tool call that is over (`undefined`: of every call of the session). */
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

/** How long it may take, after the rename, until the file says what the bypass covers. Milliseconds. */
const TAKING_MS = 2_000;

function isJustTaken(file: string, now: number): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false });
  return found !== undefined && isOwnFile(file) && Math.abs(now - found.ctimeMs) < TAKING_MS;
}

/** Renames a file; false when another process was first. */
function moved(from: string, to: string): boolean {
  const done = quietly(() => {
    ensureFolder(join(to, '..'));
    renameSync(from, to);
    return true;
  });
  return done ?? false;
}

function readTokens(commonDir: string): { file: string; token: BypassToken }[] {
  const folder = bypassFolder(commonDir);
  return entries(folder).flatMap((name) => {
    const file = join(folder, name);
    const token = name.startsWith('.') ? undefined : parseToken(readOwn(file));
    return token === undefined ? [] : [{ file, token }];
  });
}

/** Reads a file that belongs to this user; empty for any other. */
const readOwn = (file: string): string => (isOwnFile(file) ? readText(file) : '');

function usedFiles(commonDir: string, session: SessionId | undefined) {
  const folder = usedFolder(commonDir, session);
  const files = entries(folder).map((name) => join(folder, name));
  return files.map((file) => ({ file, consumed: parseConsumed(readOwn(file)) }));
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
  // Fails if the folder is not empty.
  for (const empty of [usedFolder(commonDir, session), join(folder, USED), folder])
    quietly(() => rmdirSync(empty));
}
