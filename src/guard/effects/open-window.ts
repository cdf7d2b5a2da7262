import { appendEvents } from '../../sessions/journal.ts';
import { movedHead, deliverNews } from './news.ts';
import {
  dropAbandoned,
  isCommittingBeside,
  openLedgers,
  openWindow,
  putLast,
  TOGETHER_MS,
  type WorkPlace,
} from '../../changes/windows.ts';
import { AGENT_VARIABLE, agentOfOwner } from '../../domain/names.ts';
import { type TreeStatus, sameDirty } from '../../domain/ledger/tree-status.ts';
import { mergedTree } from '../../git/operations.ts';
import { realPath } from '../../host/disk.ts';
import { type TreeCall, type Effect, type Finding, ownerOf, windowId } from '../call.ts';
import { staysThere } from '../checks/typed.ts';
import type { CommandFacts, LedgerLook, OpenLedger } from '../facts.ts';
import { keepGoneOutside } from './hit-work.ts';

/** Before a command: records the working tree, to see later what the command changed, and delivers other sessions' news. */
export function window(call: TreeCall, facts: CommandFacts): readonly Effect[] {
  const { forLedger } = facts.looks;
  const ledger = facts.ledger();
  if (ledger === undefined || forLedger === undefined) return [];
  return [{ kind: 'do', when: 'allowed', run: () => open(call, facts, ledger, forLedger) }];
}

async function open(
  call: TreeCall,
  { effects, touches }: CommandFacts,
  { place, ledgers }: OpenLedger,
  { known, status: look }: LedgerLook,
): Promise<readonly Finding[]> {
  const { now } = call;
  const owner = ownerOf(call);
  const agent = call.event.agent ?? '';
  const about = {
    named: touches().map(({ path }) => path),
    agent,
    commits: [...effects.gitCalls, ...effects.handoffCalls].some(({ verb }) => verb === 'commit'),
    ...(staysThere(call) ? { shell: realPath(call.cwd) } : {}),
  };
  const status = await look();
  if (status === undefined) {
    call.notChecked(UNLOOKED);
    // The session can still claim the paths that the command names.
    const last = { ...about, looked: false };
    if (known !== undefined) openWindow(place, owner, windowId(call), { ...known, at: now }, last);
    return [];
  }
  const isNews = await keepGoneOutside(call, { place, ledgers }, known, status);
  if (known === undefined || !sameDirty(known, status)) putLast(place, status);
  dropAbandoned(place, owner, agent, now);
  if (ledgers.self.announced.size > 0) {
    appendEvents(place, owner, [{ t: 'answered', agent, at: now - TOGETHER_MS }]);
  }
  const merged = mergedTree(place.gitDir) ?? '';
  openWindow(place, owner, windowId(call), status, { ...about, merged });
  const told = call.dialect.contextEvents.has(call.event.name)
    ? await news(call, { place, ledgers: isNews ? openLedgers(place, owner) : ledgers }, status)
    : [];
  return about.commits ? [...told, ...naming(call, place)] : told;
}

/**
 * If another agent of the session is also making a commit, adds this agent's name before the command: otherwise the git hooks
 * could not tell which agent commits.
 */
function naming(call: TreeCall, { commonDir }: WorkPlace): readonly Finding[] {
  const { event, session, machine, dialect } = call;
  const { tool, toolName } = event;
  if (tool?.kind !== 'shell' || toolName === 'PowerShell' || !dialect.canRewrite(machine.env)) return [];
  if (!isCommittingBeside(commonDir, session, ownerOf(call))) return [];
  const agent = agentOfOwner(ownerOf(call)) ?? '';
  return [{ kind: 'rewrite', content: `export ${AGENT_VARIABLE}=${agent}; ${tool.command}` }];
}

/** What a notice names as unchecked if `git status` takes too long. */
const UNLOOKED = 'what this command changes here, because git status did not finish in time';

async function news(
  call: TreeCall,
  { place, ledgers }: OpenLedger,
  { head }: TreeStatus,
): Promise<readonly Finding[]> {
  const moved = await movedHead(call, { place, ledgers }, head);
  const lines = await deliverNews(call, place, ledgers, moved);
  return lines.length === 0 ? [] : [{ kind: 'tell', text: `git-handoff: ${lines.join('\n')}` }];
}
