import { appendEvents } from '../../sessions/journal.ts';
import { type Ledgers, lookTimeoutMs } from '../../changes/windows.ts';
import { ago, escapeLine, listed } from '../../domain/messages.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { type SessionGroups, atWorkBeside, strong, claimsOn } from '../../domain/ledger/ownership.ts';
import { type SessionId, ownerName, peerName, peerNames, sessionOfOwner } from '../../domain/names.ts';
import { idleText } from '../../sessions/records.ts';
import { type TreeCall, type Finding, type Effect, type Refusal, refusedFor } from '../call.ts';
import { keepLeft } from '../effects/keep-work.ts';
import type { FileFacts, OpenLedger, TreeFacts } from '../facts.ts';
import { BY_LEDGER, type Seen, alive, isChanged } from './by-ledger.ts';
import { type Touch, isTouched } from './touch.ts';
import { type Typed, typedAt } from './typed.ts';
import { withRevived } from '../../domain/ledger/claim-events.ts';
import type { TreeStatus, Wish } from '../../domain/ledger/tree-status.ts';
import { settledClaims } from '../../changes/settle-claims.ts';

/** Judges a change of paths that others may have changed. Starts no git process if no other session claims the paths. */
export async function contention(call: TreeCall, facts: FileFacts): Promise<readonly Finding[]> {
  const ledger = facts.ledger();
  const touches = facts.touches();
  if (ledger === undefined || touches.length === 0) return [];
  const candidates = pathsOfOthers(ledger.ledgers, touches);
  if (candidates.length === 0) return siblings(call, ledger, touches);
  return contended(call, facts, ledger, touches, candidates);
}

/**
 * Warns an agent, once, before it changes what another agent of its session has not committed. The main agent hears only of
 * running sub-agents' changes. Where sub-agents are not owners, each hears of all other sub-agents' changes.
 */
function siblings(
  { event, session, dialect, now }: TreeCall,
  { place, ledgers: { all, self, others } }: OpenLedger,
  touches: readonly Touch[],
): readonly Finding[] {
  const { agent = '' } = event;
  // A sub-agent that owns its changes does not hear of an ended sub-agent's: those belong to the session now.
  const isPart = agent !== '' && self.session === session;
  const claim = all
    .filter((ledger) => sessionOfOwner(ledger.session) === session && !others.includes(ledger))
    .flatMap(({ claims }) => touches.flatMap(({ path }) => claims.get(path) ?? []))
    .find((one) => one.agent !== undefined && one.agent !== agent && (isPart || one.session !== session));
  const id = `agent:${claim?.path ?? ''}:${claim?.agent ?? ''}:${agent}`;
  if (claim === undefined || self.notified.has(id)) return [];
  const other =
    claim.session === session
      ? `another sub-agent of this session (${escapeLine((claim.agent ?? '').slice(0, 40))})`
      : `${ownerName(claim.session, dialect)}, a running sub-agent of this session,`;
  const text = `git-handoff: ${escapeLine(claim.path)} was changed ${ago(claim.at, now)} by ${other} and is not committed. Read it before you change it.`;
  const remember = async () => {
    appendEvents(place, self.session, [{ t: 'notified', ids: [id], at: now }]);
    return [];
  };
  return [
    { kind: 'tell', text },
    { kind: 'do', when: 'allowed', run: remember },
  ];
}

function pathsOfOthers({ others }: Ledgers, touches: readonly Touch[]): string[] {
  const touched = (path: string) => touches.some((touch) => isTouched(path, touch));
  const claimed = others.flatMap(({ claims }) => [...claims.keys()].filter(touched));
  return [...new Set(claimed)];
}

/** Judges, by a fresh status, a change of paths that other sessions have claimed (`candidates`). */
async function contended(
  call: TreeCall,
  facts: TreeFacts,
  ledger: OpenLedger,
  touches: readonly Touch[],
  candidates: readonly string[],
): Promise<readonly Finding[]> {
  const known = await foreignClaims(call, facts, ledger, candidates);
  const { claims, groups, settle } = known;
  const hit = strong(claims);
  if (hit.length === 0) {
    const [maybe] = claims;
    if (maybe === undefined) return [...settle, ...(await leftWork(call, ledger, touches, known))];
    return [...settle, { kind: 'tell', text: `git-handoff: ${maybeText(maybe, groups, call.now)}` }];
  }
  const isRefused = call.settings.contention === 'deny';
  const removes = hit.some(({ path }) => touches.some((touch) => touch.removes && isTouched(path, touch)));
  const refusal = refusalFor(call, ledger, known, removes ? 'discard' : 'edit', (why) => {
    const how = { groups, taken: ledger.ledgers.self.taken, isRefused, removes };
    const outcome = isRefused ? `${why}Nothing was changed. ` : why;
    return `${whose(hit, how, call.now)} ${outcome}${instead(hit, typedAt(call), how)}`;
  });
  return [...settle, isRefused ? refusal : { kind: 'tell', text: `git-handoff: ${refusal.text}` }];
}

/**
 * Makes the refusal that protects others' claimed work, and the request to its owners. `textWith` has to include the text that
 * it gets: whether the owners are idle, and whether only ledgers were read.
 */
function refusalFor(
  call: TreeCall,
  { place, ledgers: { self } }: OpenLedger,
  { claims, groups, isByLedger }: ForeignClaims,
  wish: Wish,
  textWith: (why: string) => string,
): Refusal {
  const hit = strong(claims);
  const owners = whoClaims(hit);
  const idle = idleText(place.commonDir, owners, groups, call.now);
  const text = textWith(`${idle}${isByLedger ? BY_LEDGER : ''}`);
  return refusedFor(text, owners, { place, from: self.session, wish, claims: hit });
}

/** What a command would do to others' work. */
export interface Deed {
  readonly wish: Wish;
  /** The beginning of the refusal: which command would do what. */
  readonly does: string;
  readonly instead: string;
}

/** Makes the refusal of a command that would hit others' claimed work. */
export function commandRefusal(
  call: TreeCall,
  open: OpenLedger,
  known: ForeignClaims,
  { wish, does, instead }: Deed,
): Refusal {
  const hit = strong(known.claims);
  const names = listed([...new Set(hit.map(({ path }) => escapeLine(path)))]);
  const owners = peerNames(whoClaims(hit), known.groups);
  const text = (why: string) =>
    `${does} uncommitted work of ${owners}: ${names}. ${why}Nothing was changed. ${instead}`;
  return refusalFor(call, open, known, wish, text);
}

const whoClaims = (claims: readonly OpenClaim[]): SessionId[] => [
  ...new Set(claims.map(({ session }) => session)),
];

/** Saves what ended sessions left in files that the call writes. (For files that a command throws away, see `save-first`.) */
async function leftWork(
  call: TreeCall,
  ledger: OpenLedger,
  touches: readonly Touch[],
  { left, status, groups }: ForeignClaims,
): Promise<readonly Effect[]> {
  const written = touches.filter(({ removes }) => !removes);
  const lost = strong(left).filter(({ path }) => written.some((touch) => isTouched(path, touch)));
  if (status === undefined || lost.length === 0) return [];
  return keepLeft(call, ledger, lost, status, groups);
}

interface Known {
  readonly groups: SessionGroups;
  /** The paths that were taken from the refused session, with the session that took each. */
  readonly taken: ReadonlyMap<string, SessionId>;
  readonly isRefused: boolean;
  /** Whether the call would destroy one of the files. */
  readonly removes: boolean;
}

/** Says who changed the paths: one sentence for each session and each kind of evidence. */
function whose(claims: readonly OpenClaim[], known: Known, now: number): string {
  const groups = new Map<string, OpenClaim[]>();
  for (const claim of claims) {
    const like = `${claim.session} ${howItCame(claim, known)}`;
    groups.set(like, [...(groups.get(like) ?? []), claim]);
  }
  return [...groups.values()].map((some) => whoChanged(some, known, now)).join(' ');
}

/** Says what to do, but never how to take over files that the command would then destroy. */
function instead(
  claims: readonly OpenClaim[],
  { git, plainPaths }: Typed,
  { groups, removes, isRefused }: Known,
): string {
  const paths = [...new Set(claims.map(({ path }) => path))];
  const [it, isIt, change] =
    paths.length === 1 ? ['it', 'it is', 'that change'] : ['them', 'they are', 'those changes'];
  if (removes)
    return `Leave ${it} alone until ${isIt} committed. To see who made each change: ${git} handoff status`;
  const owners = whoClaims(claims);
  if (atWorkBeside(owners, groups).length > 0) {
    const notified = isRefused ? `${peerNames(owners, groups)} will be told. ` : '';
    return `${notified}Work on something else, and try again later. If you cannot go on without it, ask the user.`;
  }
  return `Work on something else until ${isIt} committed. If the user wants you to take over ${change}: ${git} handoff take${plainPaths(paths)}`;
}

/** Tells how a path came to be the session's, as far as the evidence shows. */
function howItCame({ session, path, evidence }: OpenClaim, { taken }: Known) {
  if (taken.get(path) === session) return 'took';
  return evidence === 'since-start' ? 'maybe' : 'changed';
}

/** "src/a.ts: claude aaaaaaaa changed it 3 minutes ago and has not committed it." */
function whoChanged(claims: readonly OpenClaim[], known: Known, now: number): string {
  const [claim] = claims as readonly [OpenClaim];
  const who = peerName(claim.session, known.groups);
  const it = claims.length === 1 ? 'it' : 'them';
  const what = listed(claims.map(({ path }) => escapeLine(path)));
  switch (howItCame(claim, known)) {
    case 'took':
      return `${what}: ${who} took ${it} over from you, and has not committed ${it}.`;
    case 'maybe':
      return `${what}: ${who} or the user changed ${it} and has not committed ${it}.`;
    case 'changed':
      return `${what}: ${who} changed ${it} ${ago(claim.at, now)} and has not committed ${it}.`;
  }
}

function maybeText(claim: OpenClaim, groups: SessionGroups, now: number): string {
  return `${escapeLine(claim.path)} was changed ${ago(claim.at, now)}, while a command of ${peerName(claim.session, groups)} ran: that session or another one changed it. See: git handoff status`;
}

/** The open claims of other live sessions. Touches (see `PathClaims`) are left out. */
interface ForeignClaims {
  readonly claims: readonly OpenClaim[];
  /** Claims, confirmed by the status, of sessions that are no longer live; empty without a status. */
  readonly left: readonly OpenClaim[];
  readonly status: TreeStatus | undefined;
  readonly groups: SessionGroups;
  /** Whether git did not answer in time, so that the ledgers alone decided. */
  readonly isByLedger: boolean;
  /** What the status shows about all claims, to be written to the ledgers even if the call is refused. */
  readonly settle: readonly Effect[];
}

/**
 * Returns other live sessions' claims on paths. The claims come from a status (by default a fresh one) and the live refs; if
 * git does not answer in time, from the ledgers.
 */
export async function foreignClaims(
  call: TreeCall,
  facts: TreeFacts,
  open: OpenLedger & Partial<Seen>,
  paths: readonly string[],
): Promise<ForeignClaims> {
  const { place, ledgers } = open;
  if (open.isByLedger === true) return claimsByLedger(call, open, paths);
  const look = async () => open.status ?? facts.git.look(place.top, paths);
  const looked = await Promise.all([facts.people(), look()]).catch((error: unknown) => {
    call.log('open', `decided by recorded changes alone: ${String(error)}`);
    return undefined;
  });
  if (looked === undefined) return claimsByLedger(call, open, paths);
  const [groups, status] = looked;
  // The status covers only these paths: it says nothing about claims on other paths.
  const asked = new Set(paths);
  const only = <T>(claims: ReadonlyMap<string, T>) =>
    new Map([...claims].filter(([path]) => asked.has(path)));
  const known = ledgers.all.map((one) => ({ ...one, claims: only(one.claims), ended: only(one.ended) }));
  const settled = await settledClaims(place, known, status, { timeoutMs: lookTimeoutMs(call) });
  const ended = [...settled].flatMap(([owner, entries]) =>
    entries.flatMap((entry) => (entry.t === 'end' ? [`${owner} ${entry.path}`] : [])),
  );
  const shown = withRevived(known, (path) => status.dirty.get(path));
  const found = paths.map((path) => claimsOn(path, shown, groups, status.dirty.get(path)?.head));
  const isOpen = ({ session, path }: OpenClaim) => !ended.includes(`${session} ${path}`);
  const claims = found.flatMap(({ foreign }) => foreign).filter(isOpen);
  const left = found.flatMap((one) => one.left).filter(isOpen);
  const run = async () => {
    for (const [owner, entries] of settled) appendEvents(place, owner, entries);
    return [];
  };
  return { claims, left, status, groups, isByLedger: false, settle: [{ kind: 'do', when: 'judged', run }] };
}

/** Does the same as `foreignClaims` without git: a claim counts while the file's bytes differ from what HEAD had. */
function claimsByLedger(
  call: TreeCall,
  { place, ledgers: { all, self, others } }: OpenLedger,
  paths: readonly string[],
): ForeignClaims {
  const own = new Set([self.session, call.session]);
  const groups = { own, foreign: alive(call, others) };
  const bases = all.flatMap(({ claims }) => paths.flatMap((path) => claims.get(path) ?? []));
  const claims = paths.flatMap((path) => {
    const base = bases.find((claim) => claim.path === path)?.base ?? null;
    return isChanged(place.top, { path, base }) ? claimsOn(path, all, groups, base).foreign : [];
  });
  return { claims, left: [], status: undefined, groups, isByLedger: true, settle: [] };
}
