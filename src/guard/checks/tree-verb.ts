import type { OpenClaim } from '../../domain/ledger/claims.ts';
import type { Wish, DirtyPath } from '../../domain/ledger/tree-status.ts';
import { isWhollyMine, strong } from '../../domain/ledger/ownership.ts';
import type { Ledgers } from '../../changes/windows.ts';
import { agentOfOwner, ownerName } from '../../domain/names.ts';
import { escapeLine, listed, shellWord } from '../../domain/messages.ts';
import { type GitVerbCall, UNKNOWN } from '../../shell/effects.ts';
import { gitOptions } from '../../shell/git-options.ts';
import { hasOption, optionValue } from '../../shell/options.ts';
import type { TreeReach } from '../../shell/tree-verbs.ts';
import type { TreeCall, Finding } from '../call.ts';
import type { CommandFacts } from '../facts.ts';
import { seenBefore } from './by-ledger.ts';
import { commandRefusal, foreignClaims } from './contention.ts';
import { reachedPaths, reachesHere } from './reach.ts';
import { typedAt, type Typed } from './typed.ts';

/** Refuses a branch switch, a stash, a reset … that would carry away or destroy another live session's uncommitted work. */
export async function treeVerb(call: TreeCall, facts: CommandFacts): Promise<readonly Finding[]> {
  const seen = await seenBefore(call, facts);
  if (seen === undefined) return [];
  const { place, status, ledgers } = seen;
  const { all, self, others } = ledgers;
  const found: Finding[] = [];
  for (const reach of reachesHere(call, facts.effects, seen)) {
    if (staysHere(reach, status.head.ref)) continue;
    const isReached = reachedPaths(reach, place.top);
    found.push(...agentsWork(call, reach, ledgers, (path) => isReached(status.dirty.get(path))));
    const candidates = others
      .flatMap(({ claims }) => [...claims.keys()])
      .filter((path) => isReached(status.dirty.get(path)));
    if (candidates.length === 0) continue;
    const paths = [...new Set(candidates)];
    const known = await foreignClaims(call, facts, seen, paths);
    found.push(...known.settle);
    const hit = strong(known.claims);
    if (hit.length === 0) continue;
    const mine = [...self.claims.keys()].filter((path) => {
      const dirty = status.dirty.get(path);
      return isMeant(reach, dirty) && isReached(dirty) && isWhollyMine(dirty, all, known.groups);
    });
    const inConflict = (await facts.git.unmerged(place.top)).length > 0;
    const merged = reach.verb === 'autostash' ? mergedName(reach.call) : 'HEAD';
    const canMerge = merged === 'HEAD' || (await facts.git.isRelated(place.top, merged));
    const typed = typedAt(call);
    const own = { mine, inConflict, canMerge };
    const refusal = commandRefusal(call, seen, known, {
      wish: wishOf(reach),
      does: `\`${escapeLine(typedName(reach.call))}\` ${reach.unsure ? 'could' : 'would'} ${deed(reach)}`,
      instead: isOfIndex(reach) ? unstaged(hit, typed) : instead(reach, own, typed),
    });
    return [...found, refusal];
  }
  return found;
}

/** Tells a session which uncommitted work of its running sub-agents the command would hit. The command is allowed. */
function agentsWork(
  { dialect }: TreeCall,
  reach: TreeReach,
  { all, self, others }: Ledgers,
  isReached: (path: string) => boolean,
): readonly Finding[] {
  return all.flatMap((ledger): Finding[] => {
    const isOfAgent = ledger !== self && agentOfOwner(ledger.session) !== undefined;
    const paths = [...ledger.claims.keys()].filter(isReached);
    if (!isOfAgent || others.includes(ledger) || paths.length === 0) return [];
    const who = `${ownerName(ledger.session, dialect)}, a running sub-agent of this session`;
    const text = `git-handoff: \`${escapeLine(typedName(reach.call))}\` may ${deed(reach)} uncommitted work of ${who}: ${listed(paths.map(escapeLine))}.`;
    return [{ kind: 'tell', text }];
  });
}

/** Whether a call switches to the branch that is already checked out, which changes nothing. */
function staysHere({ verb, does, call }: TreeReach, ref: string): boolean {
  const names = call.words.filter((word) => !/^(?:-q|--quiet|--(?:no-)?progress)$/.test(word ?? ''));
  return (
    verb === 'switch' && does === 'carry' && names.length === 1 && ref === `refs/heads/${names[0] ?? ''}`
  );
}

/** Whether the command acts on this file: `git clean` removes only untracked files, `git reset` resets only tracked ones. */
function isMeant({ verb }: TreeReach, dirty: DirtyPath | undefined): dirty is DirtyPath {
  if (dirty === undefined) return false;
  const isUntracked = dirty.head === null && dirty.index === null;
  return verb === 'stash' || (verb === 'clean') === isUntracked;
}

/** The facts that decide which command to suggest. */
interface OwnPart {
  readonly mine: readonly string[];
  /** Whether files are in conflict, so that git cannot stash. */
  readonly inConflict: boolean;
  /** Whether a merge could replace the rebase or pull: HEAD and the other commit have a common ancestor. */
  readonly canMerge: boolean;
}

const typedName = ({ by, verb }: GitVerbCall) => by ?? `git ${verb}`;

const isOfIndex = ({ verb, stagedOnly }: TreeReach) => verb !== 'stash' && stagedOnly;

/** Suggests unstaging the claimed paths: the command leaves unstaged changes alone. */
function unstaged(claims: readonly OpenClaim[], { git, paths }: Typed): string {
  const names = [...new Set(claims.map(({ path }) => path))];
  return `Unstage it first, and git will keep it: ${git} reset -q${paths(names)}`;
}

function deed({ verb, does }: TreeReach): string {
  if (verb === 'switch') return does === 'destroy' ? 'throw away' : 'carry to another branch';
  if (verb === 'stash') return 'stash away';
  if (verb === 'snapshot') return 'commit';
  if (verb === 'autostash') return 'stash, and may not bring back,';
  return verb === 'clean' || verb === 'rm' ? 'delete' : 'overwrite';
}

function wishOf({ verb, does }: TreeReach): Wish {
  if (verb === 'stash' || verb === 'autostash') return 'stash';
  if (verb === 'snapshot') return 'commit';
  if (verb === 'apply') return 'edit';
  return verb === 'switch' && does === 'carry' ? 'switch' : 'discard';
}

/** Suggests a safe command for the same purpose. */
function instead({ verb, call, unsure }: TreeReach, own: OwnPart, typed: Typed): string {
  const { mine, inConflict, canMerge } = own;
  const { git } = typed;
  const wait = `wait until these files are committed. To see who made each change: ${git} handoff status`;
  if (unsure) return `Name paths, and only your own. To see who made each change: ${git} handoff status`;
  if (verb === 'switch')
    return `Work on the other branch in a worktree of your own: ${git} worktree add ${worktreeWords(call, typed)}`;
  if (inConflict && /^(?:autostash|snapshot|stash)$/.test(verb))
    return `git cannot do this while files are in conflict; see: ${git} status`;
  if (verb === 'autostash')
    return canMerge
      ? mergeInstead(call, git)
      : `git cannot merge instead, because there is no common ancestor: ${wait}`;
  // `--abort` and `--skip`: the session could undo its own changes, but that would not end the rebase.
  if (call.verb === 'rebase') return `git resets the whole worktree for that: ${wait}`;
  if (verb === 'snapshot') return `Commit only your own changes: ${git} handoff commit -m '<message>'`;
  if (mine.length === 0 || verb === 'rm')
    return `No narrower form of the command is open to this session; see: ${git} handoff status`;
  if (verb === 'apply')
    return `Name what the patch may change: ${pipe(call)}${git} apply${optionsOf(call)} ${included(mine)}`;
  if (verb === 'stash')
    return `Stash only your own changes: ${git} stash push --include-untracked${typed.paths(mine)}`;
  if (verb === 'clean') return `Remove only your own files: ${typed.remove(mine, 'rm')}`;
  return `Undo only your own changes: ${git} restore --source=HEAD --staged --worktree${typed.paths(mine)}`;
}

/** The words of a `git apply`, as they were typed. */
const optionsOf = ({ words }: GitVerbCall) =>
  words.map((word) => ` ${simple(word ?? '<patch file>')}`).join('');
/** Stands for the command that pipes the patch into `git apply`; empty if the patch is in a file. */
const pipe = ({ words }: GitVerbCall) => (words.every((word) => word?.startsWith('-')) ? '… | ' : '');
const included = (mine: readonly string[]) => mine.map((path) => simple(`--include=${path}`)).join(' ');
const simple = (word: string) => (/^[\w./=-]+$/.test(word) ? word : shellWord(word));

/**
 * Suggests a merge instead of a rebase or pull. To rebase, git first stashes all uncommitted changes. A merge stashes
 * nothing, and refuses to run if it would have to change a file with uncommitted changes.
 */
function mergeInstead(call: GitVerbCall, git: string): string {
  const operands = mergeOperands(call);
  const isPull = call.verb === 'pull';
  const names = (isPull ? operands : operands.slice(0, 1)).map((word) => ` ${shellWord(word)}`).join('');
  const merge = isPull ? 'pull --no-rebase' : 'merge';
  return `Merge instead, which leaves uncommitted changes alone: ${git} ${merge} --no-autostash --no-edit${names}`;
}

/** The commit that {@link mergeInstead} merges. For a pull it is HEAD, because nobody knows yet what will be fetched. */
const mergedName = (call: GitVerbCall): string =>
  call.verb === 'pull' ? 'HEAD' : (mergeOperands(call)[0] ?? '@{upstream}');

function mergeOperands(call: GitVerbCall): readonly string[] {
  const { operands } = gitOptions(call);
  return operands.includes(UNKNOWN) ? [] : operands;
}

/** Returns the words after `git worktree add` for the branch of a refused switch; a new branch keeps its start point. */
function worktreeWords(call: GitVerbCall, { beside }: Typed): string {
  const { verb, words, by } = call;
  const apart = `--detach ${beside('apart')}`;
  if (by !== undefined) return `${apart}, then run there: ${escapeLine(by)}`;
  if (words.some((word) => word === undefined || word === '') || !/^(?:switch|checkout)$/.test(verb))
    return apart;
  const options = gitOptions(call);
  const [start] = options.operands;
  const from = start === undefined ? '' : ` ${shellWord(start)}`;
  const made = optionValue(options, 'b', 'c', 'create');
  const branch = made ?? optionValue(options, 'B', 'C', 'force-create');
  if (branch !== undefined)
    return `-${made === undefined ? 'B' : 'b'} ${shellWord(branch)} ${beside(branch)}${from}`;
  const isBranch = start !== undefined && start !== '-' && !hasOption(options, 'd', 'detach', 'orphan');
  return isBranch ? `${beside(start)}${from}` : `${apart}${from}`;
}
