import { relative } from 'node:path';
import { ago, escapeLine } from '../../domain/messages.ts';
import { type RefusedUse, decideStash, stashUse } from '../../shell/git-verbs.ts';
import type { DirtyPath, TreeStatus } from '../../domain/ledger/tree-status.ts';
import { peerName } from '../../domain/names.ts';
import type { ShellEffects } from '../../shell/effects.ts';
import type { StashEntry } from '../../git/stash.ts';
import { exists, realPath } from '../../host/disk.ts';
import { expectStash, readStashOwners, type SeenStash, keepStash } from '../../snapshot/stash.ts';
import { reachAt, reachedPaths, callsInRepository } from './reach.ts';
import { type Typed, typedAt } from './typed.ts';
import { workPlaceOf, type TreeCall, type Effect, type Finding, refusedFor } from '../call.ts';
import type { CommandFacts } from '../facts.ts';

/**
 * Refuses a git-stash(1) command that would apply or remove an entry that this session did not make: all worktrees share one
 * list, and its newest entry may be anybody's. Before an allowed command, we make a ref for every entry, so that none is lost.
 */
export async function stash(call: TreeCall, facts: CommandFacts): Promise<readonly Finding[]> {
  const { tree, now } = call;
  const gitCalls = callsInRepository(call, facts.effects).filter(
    (gitCall) => stashUse(gitCall) !== undefined,
  );
  const uses = gitCalls.flatMap((gitCall) => stashUse(gitCall) ?? []);
  if (uses.length === 0) return [];
  const seen = await facts.git.stash(tree.workTree);
  const isPushed = uses.some(({ action }) => action === 'push');
  const keep = keepEntries(call, seen, isPushed);
  if (seen.entries.length === 0 || uses.every(({ action }) => action === 'push')) return [keep];
  const people = await facts.people();
  const { own, live: peers } = people;
  const owners = readStashOwners(tree.commonDir);
  const list = seen.entries.map(({ oid }) => ({ oid, owner: owners.get(oid) }));
  const live = new Set([...own, ...peers.map(({ record }) => record.session)]);
  const pushes =
    isPushed && stashesSomething(call, { ...facts.effects, gitCalls }, await facts.looks.dirty());
  const refused = decideStash(uses, list, { own, live }, pushes);
  if (refused === undefined) return [keep];
  const mine = list.findIndex(({ owner }) => owner !== undefined && own.has(owner));
  const owner = refused.entries[0]?.owner;
  const whose =
    owner === undefined ? 'which this session did not make' : `which ${peerName(owner, people)} made`;
  const text = refusal(refused, seen.entries, seen.entries[mine], { whose, now, typed: typedAt(call) });
  const makers = refused.entries.flatMap((entry) => entry.owner ?? []);
  return [refusedFor(text, makers), keep];
}

/** Makes a ref for every entry. If the command adds an entry, records the session as the entry's maker. */
function keepEntries({ tree, session, settings, now }: TreeCall, seen: SeenStash, isPushed: boolean): Effect {
  const run = async () => {
    await keepStash({ ...workPlaceOf(tree), cwd: tree.workTree }, seen, settings.rescue, now);
    if (isPushed) {
      const oids = seen.entries.map(({ oid }) => oid);
      expectStash(tree.commonDir, session, oids, now);
    }
    return [];
  };
  return { kind: 'do', when: 'allowed', run };
}

/**
 * Whether the command has something to stash, be it files that the command itself writes before it stashes. If there is
 * nothing, git makes no entry, and a `pop` that follows would take another session's.
 */
function stashesSomething(
  call: TreeCall,
  { gitCalls, paths }: ShellEffects,
  status: TreeStatus | undefined,
): boolean {
  if (status === undefined) return true;
  const top = realPath(call.tree.workTree);
  const written = paths.flatMap(({ path, kind, follows }): DirtyPath[] => {
    const real = realPath(path, follows);
    if (kind !== 'write' || !real.startsWith(`${top}/`)) return [];
    // An existing file that the status does not list is tracked.
    const state = exists(real) ? { mode: '100644', oid: null } : null;
    return [{ path: relative(top, real), head: state, index: state, disk: state, stamp: '' }];
  });
  const dirty = [...written, ...status.dirty.values()];
  return gitCalls.some((gitCall) => {
    const reach = reachAt(gitCall, gitCall.cwd ?? call.cwd, call);
    if (reach?.verb !== 'stash') return false;
    const isReached = reachedPaths(reach, top);
    return dirty.some((entry) => isReached(entry));
  });
}

function refusal(
  { use, entries: [first, ...more] }: RefusedUse,
  entries: readonly StashEntry[],
  mine: StashEntry | undefined,
  { whose, now, typed }: { whose: string; now: number; typed: Typed },
): string {
  const entry = entries.find(({ oid }) => oid === first?.oid);
  const place = use.action === 'clear' ? 'an entry' : `stash@{${entry?.index ?? 0}}`;
  const made = entry === undefined ? '' : ` ${ago(entry.at, now)} ("${escapeLine(entry.subject)}")`;
  const others = more.length > 0 ? `, and ${more.length} more` : '';
  const deed =
    use.action === 'apply' || use.action === 'branch'
      ? 'apply'
      : use.action === 'pop'
        ? 'apply and remove'
        : 'remove';
  return (
    `\`git stash ${use.action}\` would ${deed} ${place}, ${whose}${made}${others}; all worktrees share one stash. ` +
    `Nothing was changed. ${instead(use.action, mine, first?.oid, typed)}`
  );
}

function instead(
  action: string,
  own: StashEntry | undefined,
  meant: string | undefined,
  { git }: Typed,
): string {
  if (action === 'clear') return `Remove only your own entries, one by one. To list them: ${git} stash list`;
  if (own !== undefined) {
    return action === 'drop'
      ? `To remove your own newest entry: ${git} stash drop stash@{${own.index}}`
      : `To apply your own newest entry: ${git} stash apply ${own.oid}`;
  }
  return action === 'drop' || meant === undefined
    ? `This session has no entry of its own. To list all: ${git} stash list`
    : `This session has no entry of its own. To apply the refused entry anyway, without removing it: ${git} stash apply ${meant}`;
}
