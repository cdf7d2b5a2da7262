import { join } from 'node:path';
import type { Verdict } from '../../agents/dialect.ts';
import { ago } from '../../domain/age.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { strong } from '../../domain/ledger/ownership.ts';
import { type SessionId, shortId } from '../../domain/names.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { BY_LEDGER } from './by-ledger.ts';
import { appendEntries } from '../../changes/ledger.ts';
import type { Scene } from '../scene.ts';
import { type Ledgers, type WorkPlace, openLedgers } from '../../changes/work-place.ts';

/** A path that a tool call is about to change. `whole`: everything below it, too. */
export interface Touch {
  readonly path: string;
  readonly whole: boolean;
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
  const outcome = `${isRefused ? 'Nothing was changed. ' : ''}${isByLedger ? BY_LEDGER : ''}`;
  const text = contentionText(claim, place.top, scene, outcome);
  return isRefused
    ? { kind: 'deny', reason: text, owners: [claim.session] }
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
  const touched = (path: string) =>
    touches.some((touch) => touch.path === path || (touch.whole && path.startsWith(`${touch.path}/`)));
  const claimed = all
    .filter(({ session }) => session !== self.session)
    .flatMap(({ claims }) => [...claims.keys()].filter(touched));
  return [...new Set(claimed)];
}

function contentionText(claim: OpenClaim, top: string, { now, cwd }: Scene, outcome: string): string {
  const path = escapeLine(claim.path);
  const typed = shellWord(cwd === top ? claim.path : join(top, claim.path));
  return (
    `${path}: ${whoChanged(claim, now)} and has not committed it. ${outcome}` +
    `Work on something else until it is committed, or be handed that change: git handoff take -- ${typed}`
  );
}

/** "session aaaaaaaa changed it 3 minutes ago", as sure as the evidence is. */
function whoChanged({ session, evidence, at }: OpenClaim, now: number): string {
  const who = `session ${shortId(session)}`;
  return evidence === 'since-start'
    ? `changed since ${who} began, by it or by hand,`
    : `${who} changed it ${ago(at, now)}`;
}

function maybeText(claim: OpenClaim, now: number): string {
  return `${escapeLine(claim.path)} was changed while a command of session ${shortId(claim.session)} ran (${ago(claim.at, now)}), by it or by another; see: git handoff status`;
}
