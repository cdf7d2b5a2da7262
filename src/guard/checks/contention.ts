import type { Verdict } from '../../agents/dialect.ts';
import { ago } from '../../domain/age.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { strong } from '../../domain/ledger/ownership.ts';
import { type SessionId, shortId } from '../../domain/names.ts';
import type { PathEffect } from '../../shell/effects.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { BY_LEDGER } from './by-ledger.ts';
import { appendEntries } from '../../changes/ledger.ts';
import type { Scene } from '../scene.ts';
import { type Typed, listed, typedIn } from './typed.ts';
import { type Ledgers, type WorkPlace, openLedgers } from '../../changes/work-place.ts';

/** A path that a tool call is about to change. */
export interface Touch {
  readonly path: string;
  /** Everything below it, too. */
  readonly whole: boolean;
  /** What stands there would be thrown away. */
  readonly discards?: boolean;
}

/** Whether a command throws away what stands at a path, so that nobody is told how to be handed it. */
export function discards({ kind, by }: PathEffect): boolean {
  return kind === 'remove' || /^git (?:checkout|clean|reset|restore|rm|stash)\b/.test(by);
}

/** Decides a change of paths that other sessions may have claimed. No git process where nobody has. */
export async function contention(
  scene: Scene,
  found: FoundRepository,
  place: WorkPlace,
  session: SessionId,
  touches: readonly Touch[],
  ledgers: Ledgers = openLedgers(place, session),
): Promise<Verdict | undefined> {
  if (scene.settings.contention === 'off' || touches.length === 0) return undefined;
  const candidates = pathsOfOthers(ledgers, touches);
  if (candidates.length === 0) return siblings(scene, place, ledgers, touches);
  // git is loaded only where somebody has a claim.
  const { foreignClaims } = await import('./foreign-claims.ts');
  const { claims, isByLedger } = await foreignClaims(scene, found, place, ledgers, candidates);
  const [claim] = strong(claims);
  if (claim === undefined) {
    const [maybe] = claims;
    return maybe === undefined
      ? undefined
      : { kind: 'context', text: `git-handoff: ${maybeText(maybe, scene.now)}` };
  }
  const isRefused = scene.settings.contention === 'deny';
  const hit = strong(claims);
  const removes = touches.some(
    (touch) => touch.discards === true && hit.some(({ path }) => isTouched(path, touch)),
  );
  const outcome = `${isRefused ? ' Nothing was changed.' : ''}${isByLedger ? ` ${BY_LEDGER}` : ''}`.trimEnd();
  const text = contentionText(hit, scene, typedIn(scene, place), { outcome, removes });
  const owners = [...new Set(hit.map(({ session: owner }) => owner))];
  return isRefused
    ? { kind: 'deny', reason: text, owners }
    : { kind: 'context', text: `git-handoff: ${text}` };
}

/**
 * Sub-agents share their session's id: one that changes what another of them has not committed is told, once, and goes
 * on.
 */
function siblings(
  { event, now }: Scene,
  place: WorkPlace,
  { self }: Ledgers,
  touches: readonly Touch[],
): Verdict | undefined {
  const { agent } = event;
  if (agent === undefined) return undefined;
  const claim = touches
    .flatMap(({ path }) => self.claims.get(path) ?? [])
    .find((one) => one.agent !== undefined && one.agent !== agent);
  const id = `agent:${claim?.path ?? ''}:${claim?.agent ?? ''}:${agent}`;
  if (claim === undefined || self.told.has(id)) return undefined;
  appendEntries(place, self.session, [{ t: 'told', ids: [id], at: now }]);
  const other = escapeLine((claim.agent ?? '').slice(0, 40));
  return {
    kind: 'context',
    text: `git-handoff: ${escapeLine(claim.path)} was changed ${ago(claim.at, now)} by another sub-agent of this session (${other}) and is not committed. Read it before you change it.`,
  };
}

function pathsOfOthers({ all, self }: Ledgers, touches: readonly Touch[]): string[] {
  const touched = (path: string) => touches.some((touch) => isTouched(path, touch));
  const claimed = all
    .filter(({ session }) => session !== self.session)
    .flatMap(({ claims }) => [...claims.keys()].filter(touched));
  return [...new Set(claimed)];
}

function isTouched(path: string, touch: Touch): boolean {
  if (path === touch.path) return true;
  return touch.whole && (touch.path === '' || path.startsWith(`${touch.path}/`));
}

/** Whose it is, and what to do; never how to be handed what the command would then destroy. */
function contentionText(
  claims: readonly OpenClaim[],
  { now }: Scene,
  { git, plainPaths }: Typed,
  { outcome, removes }: { outcome: string; removes: boolean },
): string {
  const groups = new Map<string, OpenClaim[]>();
  for (const claim of claims) {
    const like = `${claim.session} ${claim.evidence === 'since-start'}`;
    groups.set(like, [...(groups.get(like) ?? []), claim]);
  }
  const paths = [...new Set(claims.map(({ path }) => path))];
  const whose = [...groups.values()].map((some) => whoChanged(some, now)).join(' ');
  const it = paths.length === 1 ? 'it is' : 'they are';
  const way = removes
    ? `Leave ${paths.length === 1 ? 'it' : 'them'} out until ${it} committed; whose each change is: ${git} handoff status`
    : `Work on something else until ${it} committed, or be handed ${paths.length === 1 ? 'that change' : 'those changes'}: ${git} handoff take${plainPaths(paths)}`;
  return `${whose}${outcome} ${way}`;
}

/** "src/a.ts: session aaaaaaaa changed it 3 minutes ago and has not committed it.", as sure as the evidence is. */
function whoChanged(claims: readonly OpenClaim[], now: number): string {
  const [{ session, evidence, at }] = claims as readonly [OpenClaim];
  const who = `session ${shortId(session)}`;
  const it = claims.length === 1 ? 'it' : 'them';
  const what = listed(claims.map(({ path }) => escapeLine(path)));
  return evidence === 'since-start'
    ? `${what}: changed since ${who} began, by it or by hand, and not committed.`
    : `${what}: ${who} changed ${it} ${ago(at, now)} and has not committed ${it}.`;
}

function maybeText(claim: OpenClaim, now: number): string {
  return `${escapeLine(claim.path)} was changed while a command of session ${shortId(claim.session)} ran (${ago(claim.at, now)}), by it or by another; see: git handoff status`;
}
