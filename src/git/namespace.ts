import {
  foldedName,
  type BranchName,
  type Oid,
  type RefName,
  type SessionId,
  type Topic,
  parseBranchName,
  parseOid,
  parseSessionId,
  parseTopic,
} from '../domain/names.ts';
import { hash } from './hash.ts';

/**
 * The names of all our refs (docs/stored-state.md lists them). A branch is ONE ref component, so that notes of `feature`
 * and `feature/x` can exist side by side although git cannot hold `refs/a` and `refs/a/b` at once.
 */

export const HANDOFFS = 'refs/handoffs/';
/** Refs for what each remote showed when it was last asked; only `sync` moves them. */
export const REMOTE = 'refs/handoffs-remote/';
/** This clone's own memory: nothing under it ever leaves the machine. */
export const LOCAL = 'refs/handoffs-local/';
export const KEPT = `${LOCAL}kept/`;
/** A list that a development version kept instead of refs under `KEPT` (migrate-ref-lists.ts). */
export const KEPT_LIST = `${LOCAL}kept-list` as RefName;
export const LOST = `${LOCAL}lost/`;
export const LIVE = `${LOCAL}live/`;
export const FILES = `${LOCAL}files/`;
export const ACKS = `${LOCAL}acks/`;
/** Lists that a development version kept instead of tracking refs, one for each remote (migrate-ref-lists.ts). */
export const SHOWN = `${LOCAL}shown/`;
/** Handoffs that were deleted here on purpose and that a remote may still have. */
export const PRUNED = `${LOCAL}pruned/`;
export const RESCUE = `${LOCAL}rescue/`;
/** Uncommitted work that this clone keeps for its notes. */
export const WORK = `${LOCAL}work/`;
/** Uncommitted work that this clone sent to a remote, and must delete there once the handoff is closed or gone. */
export const SENT = `${LOCAL}sent/`;
/** Work that was unpacked here, and the HEAD that it was unpacked on. */
export const UNPACKED = `${LOCAL}unpacked/`;

/** Whether a ref belongs to this machine alone and never leaves it. */
export const isBookkeeping = (ref: string): boolean => ref.startsWith(LOCAL) || ref.startsWith(REMOTE);

/** Whether a ref is under these prefixes or ours only if case and invisible characters do not count (macOS, Windows). */
export function looksLikeOurs(ref: string, prefixes: readonly string[]): boolean {
  const folded = foldedName(`${ref}/`);
  return [...prefixes, LOCAL, REMOTE].some(
    (prefix) => folded.startsWith(foldedName(prefix)) && !`${ref}/`.startsWith(prefix),
  );
}

/** git's own ref for the newest entry of the stash. */
export const STASH = 'refs/stash';

const MAX_COMPONENT_BYTES = 200;
const CUT_BYTES = 150;
/** Ends the readable part of a shortened component: our encoding never writes `-` after a `%`. */
const CUT_MARK = '%-';

/** The ref component for a remote. A name with a slash is one component, too: so `a` and `a/b` can both have tracking refs. */
export const encodeRemote = (remote: string): string => remote.replaceAll('%', '%25').replaceAll('/', '%2F');

/** The remote of a ref component. */
export const decodeRemote = (component: string): string =>
  component.replaceAll('%2F', '/').replaceAll('%25', '%');

/** The prefix of a remote's tracking refs, with the slash at the end. */
export const remotePrefix = (remote: string): string => `${REMOTE}${encodeRemote(remote)}/`;

/** The ref component for a branch. A long name is cut and gets a hash; `state.json` holds the whole name. */
export function encodeBranch(branch: BranchName): string {
  const encoded = encodeRemote(branch);
  if (Buffer.byteLength(encoded) <= MAX_COMPONENT_BYTES) return encoded;
  let cut = '';
  for (const character of encoded) {
    if (Buffer.byteLength(cut + character) > CUT_BYTES) break;
    cut += character;
  }
  return `${cut}${CUT_MARK}${shortHash(branch)}`;
}

/** The branch of a ref component; `undefined` when the component was cut (see `state.json`) or is not spelled as ours are. */
export function decodeBranch(component: string): BranchName | undefined {
  if (!decoded.has(component)) decoded.set(component, decode(component));
  return decoded.get(component);
}

/** A cache, because thousands of refs share a few branches. */
const decoded = new Map<string, BranchName | undefined>();

function decode(component: string): BranchName | undefined {
  if (component.includes(CUT_MARK) || /%(?!25|2F)/.test(component)) return undefined;
  return parseBranchName(decodeRemote(component));
}

const shortHash = (text: string) => hash('sha256', text).slice(0, 12);

/** A handoff's place: the ref component of its branch, and its topic. */
export interface HandoffPath {
  readonly component: string;
  readonly topic: Topic;
}

/** The place of a handoff by branch and topic. */
export const handoffPath = (branch: BranchName, topic: Topic): HandoffPath => ({
  component: encodeBranch(branch),
  topic,
});

/** The name of a handoff's refs after their prefixes: `<branch>/<topic>`. */
export const placeName = ({ component, topic }: HandoffPath): string => `${component}/${topic}`;

/** A handoff's ref under a prefix (at a remote, `handoff.remotePrefix`), or a ref that lies below it. */
export const refBelow = (
  prefix: string,
  path: HandoffPath,
  ...below: readonly (string | number)[]
): RefName => [`${prefix}${placeName(path)}`, ...below].join('/') as RefName;

/** The public ref of a handoff. */
export const handoffRef = (path: HandoffPath): RefName => refBelow(HANDOFFS, path);

/** The last tip of a handoff that was written or accepted here. */
export const keptRef = (path: HandoffPath): RefName => refBelow(KEPT, path);

/** What `remote` last showed of a handoff. */
export const trackingRef = (remote: string, path: HandoffPath): RefName =>
  refBelow(remotePrefix(remote), path);

/** The ref that marks a handoff as deleted here on purpose. Its blob contains the name of the handoff's last commit. */
export const prunedRef = (path: HandoffPath): RefName => refBelow(PRUNED, path);

/** The prefix of a handoff's refused and replaced texts. */
export const lostPrefix = (path: HandoffPath): string => `${refBelow(LOST, path)}/`;

/** One refused or replaced text of a handoff. */
export const lostRef = (path: HandoffPath, number: number): RefName => refBelow(LOST, path, number);

/** The number at the end of a lost text's ref. */
export const lostNumber = (ref: RefName): number => Number(ref.slice(ref.lastIndexOf('/') + 1));

/** What a reader (an operator or a session) has acknowledged of a handoff. */
export const ackRef = (path: HandoffPath, reader: string): RefName => refBelow(ACKS, path, reader);

/** A session's record in a worktree. */
export const liveRef = (worktreeId: string, session: SessionId): RefName =>
  `${LIVE}${worktreeId}/${session}` as RefName;

/** The ref of a predecessor tool's handoff file as it was last seen. */
export const filesRef = (path: string): RefName => `${FILES}${shortHash(path)}` as RefName;

/** Reads `<prefix><component>/<topic>`; `undefined` for a ref that is not ours, or is badly named. */
export function parsePath(ref: string, prefix: string): HandoffPath | undefined {
  const slash = ref.indexOf('/', prefix.length);
  if (slash <= prefix.length || !ref.startsWith(prefix)) return undefined;
  const topic = parseTopic(ref.slice(slash + 1));
  return topic === undefined ? undefined : { component: ref.slice(prefix.length, slash), topic };
}

/** Reads a tracking ref: a handoff's place at a remote; `undefined` for any other ref, or a badly named one. */
export function parseTrackingRef(ref: string): (HandoffPath & { readonly remote: string }) | undefined {
  if (!ref.startsWith(REMOTE)) return undefined;
  const slash = ref.indexOf('/', REMOTE.length);
  const component = ref.slice(REMOTE.length, Math.max(slash, REMOTE.length));
  const path = component === '' ? undefined : parsePath(ref, `${REMOTE}${component}/`);
  return path && { ...path, remote: decodeRemote(component) };
}

/** Reads a record's ref; `undefined` for any other. */
export function parseLiveRef(ref: string): { worktreeId: string; session: SessionId } | undefined {
  const [worktreeId, sessionText, ...rest] = ref.slice(LIVE.length).split('/');
  const session = parseSessionId(sessionText);
  if (!ref.startsWith(LIVE) || worktreeId === undefined || session === undefined || rest.length > 0)
    return undefined;
  return { worktreeId, session };
}

/** The prefix of a topic's work: one ref for each work commit, named after it. */
export const workPrefix = (path: HandoffPath): string => `${refBelow(WORK, path)}/`;

/** The ref of a work commit. It is created and deleted, never moved. */
export const workRef = (path: HandoffPath, oid: Oid): RefName => refBelow(WORK, path, oid);

/** The ref that records that a remote has a work commit. */
export const sentRef = (remote: string, path: HandoffPath, oid: Oid): RefName =>
  refBelow(`${SENT}${encodeRemote(remote)}/`, path, oid);

/** The ref that records that a work commit was unpacked in this clone. */
export const unpackedRef = (path: HandoffPath, oid: Oid): RefName => refBelow(UNPACKED, path, oid);

/** A work commit and the topic it belongs to. */
export interface WorkPath extends HandoffPath {
  readonly oid: Oid;
}

/** Reads `<prefix><component>/<topic>/<oid>`; `undefined` for any other name. */
export function parseWorkRef(ref: string, prefix: string): WorkPath | undefined {
  const slash = ref.lastIndexOf('/');
  const path = parsePath(ref.slice(0, Math.max(slash, 0)), prefix);
  const oid = parseOid(ref.slice(slash + 1));
  return path === undefined || oid === undefined ? undefined : { ...path, oid };
}

/** The prefix of work at a remote, from the prefix of its notes: `refs/handoffs/` becomes `refs/handoffs-work/`. */
export const remoteWorkPrefix = (remotePrefix: string): string => `${remotePrefix.replace(/\/$/, '')}-work/`;

/** A work commit's ref under a remote's `remoteWorkPrefix`. */
export const remoteWorkRef = (prefix: string, path: HandoffPath, oid: Oid): RefName =>
  refBelow(remoteWorkPrefix(prefix), path, oid);

interface RescuePath {
  readonly worktreeId: string;
  readonly number: number;
}

/** The ref of what a rescue has kept. */
export const rescueRef = ({ worktreeId, number }: RescuePath): RefName =>
  `${RESCUE}${worktreeId}/${number}` as RefName;

/** Reads a rescue's ref; `undefined` for any other. */
export function parseRescueRef(ref: string): RescuePath | undefined {
  const match = /^([0-9a-f]{16})\/([1-9]\d{0,8})$/.exec(ref.slice(RESCUE.length));
  if (!ref.startsWith(RESCUE) || match === null) return undefined;
  return { worktreeId: match[1] ?? '', number: Number(match[2]) };
}
