import type { Verdict } from '../../agents/dialect.ts';
import { ago } from '../../domain/age.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { strong } from '../../domain/ledger/ownership.ts';
import { shortId } from '../../domain/names.ts';
import { escapeLine, listed } from '../../domain/surfacing.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { BY_LEDGER } from './by-ledger.ts';
import { type Touch, isTouched } from './touch.ts';
import { foreignClaims } from './foreign-claims.ts';
import type { Scene } from '../scene.ts';
import { type Typed, typedIn } from './typed.ts';
import type { Ledgers, WorkPlace } from '../../changes/work-place.ts';

/** Decides a change of paths that other sessions have claimed, by a fresh look: `candidates`. */
export async function contended(
  scene: Scene,
  found: FoundRepository,
  place: WorkPlace,
  {
    ledgers,
    touches,
    candidates,
  }: { ledgers: Ledgers; touches: readonly Touch[]; candidates: readonly string[] },
): Promise<Verdict | undefined> {
  const { claims, isByLedger } = await foreignClaims(scene, found, place, ledgers, candidates);
  const hit = strong(claims);
  if (hit.length === 0) {
    const [maybe] = claims;
    return maybe === undefined
      ? undefined
      : { kind: 'context', text: `git-handoff: ${maybeText(maybe, scene.now)}` };
  }
  const isRefused = scene.settings.contention === 'deny';
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
