import type { OpenClaim } from '../../domain/ledger/claims.ts';
import type { TreeStatus } from '../../domain/ledger/tree-status.ts';
import { type SessionId, type WithClients, peerNames } from '../../domain/names.ts';
import { escapeLine, listed } from '../../domain/messages.ts';
import { readTreeStatus } from '../../git/worktrees.ts';
import { appendEvents, readLedgers } from '../../sessions/journal.ts';
import { takeSnapshot } from '../../snapshot/take.ts';
import { beforeAnswer } from '../../host/io.ts';
import { type TreeCall, type Effect, type Finding, workPlaceOf } from '../call.ts';
import type { OpenLedger } from '../facts.ts';
import { claimOwners } from '../../domain/ledger/vanished.ts';
import { lookTimeoutMs, type WorkPlace } from '../../changes/windows.ts';
import { type Ran, type Vanished, saveVanished } from '../../snapshot/vanished.ts';

/** Saves what ended sessions left uncommitted (`left`) before another session writes over it; says so once for each file. */
export function keepLeft(
  call: TreeCall,
  { place, ledgers: { self } }: OpenLedger,
  left: readonly OpenClaim[],
  status: TreeStatus,
  records: WithClients,
): readonly Effect[] {
  const idOf = ({ session, path }: OpenClaim) => `left:${session}:${path}`;
  const claims = left.filter((claim) => status.dirty.has(claim.path) && !self.notified.has(idOf(claim)));
  if (claims.length === 0) return [];
  const owners = new Map(claims.map(({ path, session }) => [path, session]));
  const dirty = new Map([...status.dirty].filter(([path]) => owners.has(path)));
  const cause = { kind: 'before', command: call.event.toolName ?? 'a change' } as const;
  const run = async (): Promise<readonly Finding[]> => {
    const saving = saveStatus(call, place, { ...status, dirty }, cause, owners);
    const saved = await saving.catch((error: unknown) => {
      call.log('open', `uncommitted work of an ended session was not kept: ${String(error)}`);
      return 'failed';
    });
    if (saved === undefined) return [];
    appendEvents(place, self.session, [{ t: 'notified', ids: claims.map(idOf), at: call.now }]);
    const sessions = claims.map(({ session }) => session);
    const what = `${listed([...owners.keys()].map(escapeLine))}: uncommitted work of ${peerNames(sessions, records)}`;
    const how =
      typeof saved === 'string' || saved.skipped.length > 0
        ? 'It could not be saved.'
        : `It was saved before your change: git handoff rescue show ${saved.number}`;
    return [{ kind: 'tell', text: `git-handoff: ${what}, no longer at work here. ${how}` }];
  };
  return [{ kind: 'do', when: 'allowed', run }];
}

/** Makes a rescue of the changes that a status shows, with their owners. By default the ledgers name the owners. */
export async function saveStatus(
  { session, settings, now, budget }: TreeCall,
  place: WorkPlace,
  status: TreeStatus | Promise<TreeStatus>,
  cause: { readonly kind: 'before' | 'stop'; readonly command: string },
  owners = claimOwners(readLedgers(place)),
): ReturnType<typeof takeSnapshot> {
  const occasion = {
    reason: { ...cause, session, at: now },
    ownerOf: (path: string) => owners.get(path) ?? null,
  };
  const limits = { limits: settings.rescue, now, budget: budget.part(beforeAnswer(budget)) };
  return takeSnapshot({ ...place, cwd: place.top }, status, occasion, limits);
}

/**
 * Saves what is uncommitted at the end of a turn, even for a lone session. So if a person, a client's undo or a script discards
 * work later, at most the work of one turn is lost. Tells nobody. Returns how many paths differ from HEAD.
 */
export async function keepTurn(call: TreeCall): Promise<number> {
  const { tree, now, budget, log } = call;
  const place = workPlaceOf(tree);
  const looking = readTreeStatus(place.top, { now, timeoutMs: budget.left(), namesOnly: true });
  const saving = saveStatus(call, place, looking, { kind: 'stop', command: '' });
  const [status, saved] = await Promise.allSettled([looking, saving]);
  // There is no working tree, or git did not answer.
  if (status.status === 'rejected') return 0;
  if (saved.status === 'rejected')
    log('open', `uncommitted work was not kept at the end of a turn: ${String(saved.reason)}`);
  return status.value.dirty.size;
}

/** Saves uncommitted work that the last status shows and that is gone now. If that fails, only the log says so. */
export async function keepVanished(
  call: TreeCall,
  place: WorkPlace,
  before: TreeStatus,
  after: TreeStatus,
  owners: ReadonlyMap<string, SessionId>,
  ran?: Ran,
): Promise<Vanished | undefined> {
  const limits = call.settings.rescue;
  const budget = call.budget.part(lookTimeoutMs(call));
  try {
    return await saveVanished(place, { before, after, owners, ran, limits, now: call.now, budget });
  } catch (error) {
    call.log('open', `work that has disappeared was not saved: ${String(error)}`);
    return undefined;
  }
}
