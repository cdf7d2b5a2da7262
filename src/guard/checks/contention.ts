import { ago } from '../../domain/age.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { appendEntries } from '../../changes/ledger.ts';
import type { Ledgers } from '../../changes/work-place.ts';
import type { TreeCall } from '../call.ts';
import type { FileFacts, OpenLedger, TreeFacts } from '../facts.ts';
import type { Finding } from '../findings.ts';
import { type Touch, isTouched } from './touch.ts';
import { contended } from './contended.ts';

/** Nobody changes what another live session has changed and not committed. */
export function contention(call: TreeCall, facts: FileFacts): Promise<readonly Finding[]> {
  return contentionOn(
    call,
    facts,
    facts.placed.map(({ path }) => ({ path, whole: false })),
  );
}

/** Decides a change of paths that other sessions may have claimed. No git process where nobody has. */
export async function contentionOn(
  call: TreeCall,
  facts: TreeFacts,
  touches: readonly Touch[],
): Promise<readonly Finding[]> {
  const ledger = facts.ledger();
  if (ledger === undefined || touches.length === 0) return [];
  const candidates = pathsOfOthers(ledger.ledgers, touches);
  if (candidates.length === 0) return siblings(call, ledger, touches);
  // git is loaded only where somebody has a claim.
  return contended(call, facts, ledger, touches, candidates);
}

/**
 * Sub-agents share their session's id. One that changes what another has not committed gets one notice, and goes on.
 */
function siblings(
  { event, now }: TreeCall,
  { place, ledgers: { self } }: OpenLedger,
  touches: readonly Touch[],
): readonly Finding[] {
  const { agent } = event;
  if (agent === undefined) return [];
  const claim = touches
    .flatMap(({ path }) => self.claims.get(path) ?? [])
    .find((one) => one.agent !== undefined && one.agent !== agent);
  const id = `agent:${claim?.path ?? ''}:${claim?.agent ?? ''}:${agent}`;
  if (claim === undefined || self.told.has(id)) return [];
  const other = escapeLine((claim.agent ?? '').slice(0, 40));
  const text = `git-handoff: ${escapeLine(claim.path)} was changed ${ago(claim.at, now)} by another sub-agent of this session (${other}) and is not committed. Read it before you change it.`;
  const remember = async () => {
    appendEntries(place, self.session, [{ t: 'told', ids: [id], at: now }]);
    return [];
  };
  return [
    { kind: 'tell', text },
    { kind: 'do', when: 'allowed', run: remember },
  ];
}

function pathsOfOthers({ all, self }: Ledgers, touches: readonly Touch[]): string[] {
  const touched = (path: string) => touches.some((touch) => isTouched(path, touch));
  const claimed = all
    .filter(({ session }) => session !== self.session)
    .flatMap(({ claims }) => [...claims.keys()].filter(touched));
  return [...new Set(claimed)];
}
