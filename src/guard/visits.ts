import { appendEvents, readLedger, readLedgers, readJournal } from '../sessions/journal.ts';
import { readBeginners } from '../changes/operations.ts';
import { ledgerOf, type PlacedPath, placePath, readWindows } from '../changes/windows.ts';
import { parseSettings } from '../domain/settings.ts';
import { plainConfig } from '../git/config.ts';
import { type FoundRepository, discoverRepository } from '../git/discover.ts';
import { unfinishedOperation } from '../git/operations.ts';
import { repositoryFolder, journalFile } from '../host/folders.ts';
import { appendLog } from '../host/log.ts';
import { listSessions, removeRecords } from '../sessions/records.ts';
import {
  failOpen,
  type SessionCall,
  type TreeCall,
  isInTree,
  ownerOf,
  workPlaceOf,
  windowId,
  knownRepositories,
} from './call.ts';
import { forgetCalls } from './effects/tidy.ts';
import { register } from './events/registration.ts';
import { noteAgent, noteCall, noteModel } from './presence.ts';
import { type SessionId, sessionOfOwner } from '../domain/names.ts';
import { exists } from '../host/disk.ts';

/** Returns the call as it concerns a worktree, with its settings; `undefined` where git-handoff is not switched on. */
async function callAt(call: SessionCall, found: FoundRepository): Promise<TreeCall | undefined> {
  const tree = { ...found, folder: found.workTree, visiting: true } as const;
  if (call.tree?.commonDir === found.commonDir) return { ...call, tree };
  const entries = await plainConfig({ cwd: found.workTree, timeoutMs: call.budget.left() });
  const settings = parseSettings(entries);
  if (settings.enabled !== true) return undefined;
  const { event, dialect, session } = call;
  const about = { event: event.name, client: dialect.client, session };
  const log = (kind: string, detail: string) =>
    appendLog(repositoryFolder(found.commonDir), { ...about, kind, detail });
  return { ...call, tree, settings, entries, log };
}

/** Returns the call as it concerns each of these worktrees in which git-handoff is switched on. */
export async function callsAt(call: SessionCall, trees: readonly FoundRepository[]): Promise<TreeCall[]> {
  const calls = await Promise.all(
    trees.map((found) => failOpen(call, `what is done in ${found.workTree}`, () => callAt(call, found))),
  );
  return calls.filter((one) => one !== undefined);
}

/**
 * Puts the session on record in the worktrees that a call touches, before the call is judged there. Returns the call for each
 * of them, and whether the session is new in any. `known`: what `callsAt` has already returned for some of them.
 */
export async function visit(
  call: SessionCall,
  trees: readonly FoundRepository[],
  known: readonly TreeCall[] = [],
): Promise<{ readonly visits: readonly TreeCall[]; readonly isNew: boolean }> {
  const strange = trees.filter(({ gitDir }) => !known.some(({ tree }) => tree.gitDir === gitDir));
  const calls = [...known, ...(await callsAt(call, strange))];
  const visits = calls.filter(({ tree }) => trees.some(({ gitDir }) => gitDir === tree.gitDir));
  // Even if the session cannot be put on record, others' work there is protected.
  const entered = visits.map((there) =>
    failOpen(there, `who is at work in ${there.tree.workTree}`, () => enter(there)),
  );
  return { visits, isNew: (await Promise.all(entered)).includes(true) };
}

/** Returns whether the session is in a worktree for the first time. */
async function enter(call: TreeCall): Promise<boolean> {
  const { tree, session, now } = call;
  const place = workPlaceOf(tree);
  // A visit to the worktree where the session began is recorded, too: later events may name another folder.
  if (readLedger(place, session).lasting.visit?.top !== tree.workTree)
    appendEvents(place, session, [{ t: 'visit', top: tree.workTree, at: now }]);
  noteModel(tree.commonDir, call.event, call.dialect.client, call);
  noteAgent(call);
  return !noteCall(call) && (await register(call)).isNew;
}

/** Returns the worktrees in which the session is on record although its calls are made elsewhere. */
export async function visited(call: SessionCall): Promise<TreeCall[]> {
  const trees = readVisits(call.machine.env, call.session).filter(
    ({ gitDir }) => gitDir !== call.repository?.gitDir,
  );
  return callsAt(call, trees);
}

/** Returns the visited worktrees in which the command of this call ran. */
export async function ranIn(call: SessionCall): Promise<TreeCall[]> {
  const id = windowId(call);
  return (await visited(call)).filter((there) => {
    const ledger = ledgerOf(there.tree, there.session);
    return ledger !== undefined && readWindows(ledger, ownerOf(there)).some((window) => window.id === id);
  });
}

/** Ends a visit if the session has no uncommitted work, running command or git operation to finish there. */
export async function leave(call: TreeCall): Promise<void> {
  const { tree, session, budget, now } = call;
  const ledger = workPlaceOf(tree);
  const own = readLedgers(ledger).filter((one) => sessionOfOwner(one.session) === session);
  if (own.some(({ claims, commands }) => claims.size + commands.size > 0)) return;
  const operation = unfinishedOperation(tree.gitDir);
  if (operation !== undefined && readBeginners(ledger, operation).includes(session)) return;
  const repository = { cwd: tree.workTree };
  const all = await listSessions(repository, budget.left());
  const records = all.filter((one) => one.worktreeId === ledger.worktreeId && one.record.session === session);
  if (!records.every(({ record }) => record.visiting)) return;
  await removeRecords(repository, records);
  appendEvents(ledger, session, [
    { t: 'unregistered', at: now },
    { t: 'visit-end', at: now },
  ]);
  forgetCalls(call);
}

interface TreePaths {
  readonly call: TreeCall;
  readonly placed: readonly PlacedPath[];
}

/**
 * Groups the paths by worktree, leaving out worktrees in which git-handoff is off. The session's own worktree comes first,
 * even if it has none of the paths. The session is put on record in each worktree.
 */
export async function treesOf(call: SessionCall, paths: readonly string[]): Promise<TreePaths[]> {
  const trees = new Map<string, PlacedPath[]>();
  for (const path of paths) {
    const placed = placePath(path, true);
    if (placed === undefined) continue;
    const { gitDir } = placed.found;
    trees.set(gitDir, [...(trees.get(gitDir) ?? []), placed]);
  }
  const own = call.repository?.gitDir;
  const others = [...trees.values()]
    .flatMap(([first]) => first?.found ?? [])
    .filter(({ gitDir }) => gitDir !== own);
  const { visits } = await visit(call, others);
  return [
    ...(isInTree(call) ? [{ call, placed: trees.get(own ?? '') ?? [] }] : []),
    ...visits.map((there) => ({ call: there, placed: trees.get(there.tree.gitDir) ?? [] })),
  ];
}

/**
 * Returns the worktrees that the session visits and that still exist. A session visits a worktree if it works there while its
 * calls name another folder, or none. The session's journal in the visited repository records the visit.
 */
export function readVisits(env: NodeJS.ProcessEnv, session: SessionId): FoundRepository[] {
  return knownRepositories(env)
    .filter((commonDir) => exists(journalFile(commonDir, session)))
    .flatMap((commonDir) => [...readJournal(commonDir, session).trees.values()])
    .flatMap(({ lasting: { visit } }) => (visit === undefined ? [] : (discoverRepository(visit.top) ?? [])));
}
