import type { LedgerEntry } from '../../domain/ledger/claims.ts';
import { type Request, openRequests } from '../../domain/ledger/requests.ts';
import { appendEntries } from '../../changes/ledger.ts';
import { type MovedHead, newsFor } from '../../changes/news.ts';
import { type Ledgers, type WorkPlace, openLedgers } from '../../changes/work-place.ts';
import type { TreeCall } from '../call.ts';
import type { OpenLedger } from '../facts.ts';
import { handOver } from './requests.ts';

/**
 * What the others have to tell the session at this call, each once. What only it is told waits for its main agent: a
 * sub-agent would keep it to itself.
 *
 * @param moved what became of HEAD
 */
export async function hear(
  call: TreeCall,
  place: WorkPlace,
  ledgers: Ledgers,
  moved?: MovedHead,
): Promise<readonly string[]> {
  const isMain = call.event.agent === undefined;
  const { lines, told } = newsFor(ledgers, { moved, isMain }, call.now);
  const asked = isMain ? newRequests(ledgers) : [];
  const handed = asked.length === 0 ? NONE : await deliver(call, { place, ledgers }, asked);
  appendEntries(place, call.session, [...told, ...handed.told]);
  return [...lines, ...handed.lines];
}

/** Requests that the session has not heard yet, for its start text. */
export async function hearRequests(call: TreeCall, place: WorkPlace): Promise<readonly string[]> {
  const ledgers = openLedgers(place, call.session);
  const asked = newRequests(ledgers);
  if (asked.length === 0) return [];
  const { lines, told } = await deliver(call, { place, ledgers }, asked);
  appendEntries(place, call.session, told);
  return lines;
}

const NONE = { lines: [], told: [] };

/** What the session is asked for, and has not heard. */
function newRequests({ all, self }: Ledgers): Request[] {
  if (!all.some(({ requests }) => requests.length > 0)) return [];
  return openRequests(all).filter(({ to, handedAt }) => to === self.session && handedAt === undefined);
}

async function deliver(
  call: TreeCall,
  open: OpenLedger,
  asked: readonly Request[],
): Promise<{ readonly lines: readonly string[]; readonly told: readonly LedgerEntry[] }> {
  try {
    return await handOver(call, open, asked);
  } catch (error) {
    call.log('open', `requests wait for the next call: ${String(error)}`);
    return NONE;
  }
}
