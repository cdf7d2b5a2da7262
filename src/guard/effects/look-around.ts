import { lookTimeoutMs } from '../../changes/windows.ts';
import { aliasesFrom } from '../../domain/settings.ts';
import { readHead } from '../../git/discover.ts';
import { branchOf } from '../../domain/names.ts';
import { HANDOFFS, KEPT, RESCUE, STASH } from '../../git/namespace.ts';
import { listRefs, type Ref } from '../../git/refs.ts';
import { openRepository } from '../../git/repository.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import { listCopies, settleCopies } from '../../notes/guarded-files.ts';
import { readTopics } from '../../notes/topic.ts';
import { entriesBeforeCommand, noteStashOwner, pinStash, readStashOwners } from '../../snapshot/stash.ts';
import { type TreeCall, workPlaceOf } from '../call.ts';

/** Reports changes of guarded files and of public refs that bypassed git-handoff. Each change is reported once. */
export async function lookAround(call: TreeCall, command: string): Promise<string[]> {
  const [cwd, timeoutMs] = [call.tree.folder, call.budget.left()];
  const copies = await listCopies({ cwd }, timeoutMs);
  const changed = await settleCopies(cwd, copies, call.session, timeoutMs);
  return [...changed, ...(await movedRefs(call, command))];
}

/** Lists the refs once; reads topics only if a public ref differs from its kept copy. */
async function movedRefs(call: TreeCall, command: string): Promise<string[]> {
  const refs = await listRefs({ cwd: call.tree.folder }, [HANDOFFS, KEPT, STASH, RESCUE], {
    content: false,
    timeoutMs: call.budget.left(),
  });
  await newStash(call, command, refs);
  const below = (prefix: string) =>
    new Map(
      refs.flatMap(({ name, oid }) => (name.startsWith(prefix) ? [[name.slice(prefix.length), oid]] : [])),
    );
  const [open, kept] = [below(HANDOFFS), below(KEPT)];
  if (open.size === kept.size && [...open].every(([place, oid]) => kept.get(place) === oid)) return [];
  const repository = await openRepository(call.tree.folder);
  return reportIllegalMoves(repository, await readTopics(repository), call.now);
}

/** Reads the stash if none of our refs keeps its newest entry yet, or if the session's command stashes. */
async function newStash(call: TreeCall, command: string, refs: readonly Ref[]): Promise<void> {
  const tip = refs.find(({ name }) => name === STASH)?.oid;
  const isKnown = tip === undefined || refs.some(({ name, oid }) => name !== STASH && oid === tip);
  if (isKnown && entriesBeforeCommand(call.tree.commonDir, call.session) === undefined) return;
  await seeStash(call, command).catch((error: unknown) => {
    call.log('open', `the stash was not read: ${String(error)}`);
  });
}

/** Makes a ref for each new stash entry, and records the session as the maker of those that its command has made. */
async function seeStash(call: TreeCall, command: string): Promise<void> {
  const { session, tree, settings, now } = call;
  const place = workPlaceOf(tree);
  const { entries } = await pinStash({ ...place, cwd: place.top }, settings.rescue, now, lookTimeoutMs(call));
  // This call may end while another call of the session stashes.
  if (!namesStash(call, command)) return;
  const before = entriesBeforeCommand(tree.commonDir, session);
  if (before === undefined) return;
  const owners = readStashOwners(tree.commonDir);
  const branch = readHead(tree.gitDir);
  const made = entries
    .filter(({ oid, subject }) => !before.includes(oid) && !owners.has(oid) && isOfBranch(subject, branch))
    .map(({ oid }) => oid);
  noteStashOwner(tree.commonDir, session, made, now);
}

/** Whether an entry was made on this branch (`WIP on main: …`, `On main: …`), and so not meanwhile in another worktree. */
function isOfBranch(subject: string, ref: string | undefined): boolean {
  const name = /^(?:WIP on|On) ([^:]*):/.exec(subject)?.[1];
  if (name === undefined || ref === undefined) return true;
  return name === (ref === 'HEAD' ? '(no branch)' : branchOf(ref));
}

/** Whether the command contains the word "stash", or a git alias for it. */
export function namesStash({ entries }: TreeCall, command: string): boolean {
  const isNamed = (text: string) => /\bstash\b/.test(text);
  const aliases = [...aliasesFrom(entries)];
  return isNamed(command) || aliases.some(([name, value]) => isNamed(value) && command.includes(name));
}
