import type { Verdict } from '../../agents/dialect.ts';
import { ago } from '../../domain/age.ts';
import type { SessionId } from '../../domain/names.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import type { FoundRepository } from '../../git/discover.ts';
import { appendEntries } from '../../changes/ledger.ts';
import type { Scene } from '../scene.ts';
import { type Touch, isTouched } from './touch.ts';
import { type Ledgers, type WorkPlace, openLedgers } from '../../changes/work-place.ts';

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
  const { contended } = await import('./contended.ts');
  return contended(scene, found, place, { ledgers, touches, candidates });
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
