import { dirname, join, relative } from 'node:path';
import type { Verdict } from '../../agents/dialect.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { strong } from '../../domain/ledger/ownership.ts';
import type { DirtyPath, Snapshot } from '../../domain/ledger/snapshot.ts';
import type { TreeReach } from '../../shell/tree-verbs.ts';
import { type SessionId, shortId } from '../../domain/names.ts';
import type { GitVerbCall, ShellEffects } from '../../shell/effects.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { type FoundRepository, discoverRepository } from '../../git/discover.ts';
import { hasOption, optionValue, parseOptions } from '../../shell/options.ts';
import { UNKNOWN } from '../../shell/unknown.ts';
import { realPath } from '../../host/disk.ts';
import type { Scene } from '../scene.ts';
import { refName } from '../../changes/news.ts';
import { reachAt, reachedPaths } from './reach.ts';
import type { Ledgers, WorkPlace } from '../../changes/work-place.ts';

/** What a refusal is decided by. */
export interface Look {
  readonly found: FoundRepository;
  readonly place: WorkPlace;
  readonly snapshot: Snapshot;
  readonly effects: ShellEffects;
  readonly ledgers: Ledgers;
}

/**
 * Refuses a branch switch, a stash, a reset and their kin that would carry away or destroy what another live session
 * has not committed. Only for those paths: a command that leaves them alone goes on.
 */
export async function refuseTreeVerbs(
  scene: Scene,
  session: SessionId,
  { found, place, snapshot, effects, ledgers: { all, self } }: Look,
): Promise<Verdict | undefined> {
  for (const call of effects.gitCalls) {
    const reach = reachHere(call, scene, place, snapshot);
    if (reach === undefined || staysHere(reach, snapshot.head.ref)) continue;
    if (reach.ignored !== false) {
      const { refuseIgnored } = await import('./ignored-files.ts');
      const refusal = await refuseIgnored(scene, session, found, place, reach);
      if (refusal !== undefined) return refusal;
    }
    const isReached = reachedPaths(reach, place.top);
    const candidates = all
      .filter((ledger) => ledger.session !== session)
      .flatMap(({ claims }) => [...claims.values()])
      .filter(({ path }) => isReached(snapshot.dirty.get(path)));
    if (candidates.length === 0) continue;
    const { foreignClaims } = await import('./foreign-claims.ts');
    const hit = strong(await foreignClaims(scene, found, place, session, candidates, snapshot));
    if (hit.length === 0) continue;
    const mine = [...self.claims.keys()].filter((path) => isMeant(reach, snapshot.dirty.get(path)));
    const owners = hit.map((claim) => claim.session);
    const view = { top: place.top, cwd: realPath(scene.cwd), branch: refName(snapshot.head.ref) };
    return { kind: 'deny', reason: refusal(reach, hit, mine, view), owners };
  }
  return undefined;
}

/** The reach of a call that runs in this worktree. */
function reachHere(
  call: GitVerbCall,
  scene: Scene,
  { gitDir, top }: WorkPlace,
  snapshot: Snapshot,
): TreeReach | undefined {
  const cwd = call.cwd ?? scene.cwd;
  if (discoverRepository(realPath(cwd))?.gitDir !== gitDir) return undefined;
  return reachAt(call, cwd, scene, { top, snapshot });
}

/** A switch to the branch that is checked out already leaves everything as it is. */
function staysHere({ verb, does, call }: TreeReach, ref: string): boolean {
  const names = call.words.filter((word) => !/^(?:-q|--quiet|--(?:no-)?progress)$/.test(word ?? ''));
  return (
    verb === 'switch' && does === 'carry' && names.length === 1 && ref === `refs/heads/${names[0] ?? ''}`
  );
}

/** What the command would have done to the session's own: `git clean` removes no tracked file, `reset` no other. */
function isMeant({ verb }: TreeReach, dirty: DirtyPath | undefined): boolean {
  if (dirty === undefined) return false;
  const isUntracked = dirty.head === null && dirty.index === null;
  return verb === 'stash' || (verb === 'clean') === isUntracked;
}

const MAX_NAMES = 8;

function refusal(
  reach: TreeReach,
  claims: readonly OpenClaim[],
  mine: readonly string[],
  view: View,
): string {
  const sessions = [...new Set(claims.map(({ session }) => shortId(session)))];
  const names = claims.slice(0, MAX_NAMES).map(({ path }) => escapeLine(path));
  const more = claims.length > MAX_NAMES ? ` and ${claims.length - MAX_NAMES} more` : '';
  const owners = `session${sessions.length === 1 ? '' : 's'} ${sessions.join(', ')}`;
  return (
    `\`${escapeLine(typedName(reach.call))}\` would ${deed(reach)} uncommitted work of ${owners}: ` +
    `${names.join(', ')}${more}. Nothing was changed. ${instead(reach, mine, view)}`
  );
}

const typedName = ({ by, verb }: GitVerbCall) => by ?? `git ${verb}`;

function deed({ verb, does }: TreeReach): string {
  if (verb === 'switch') return does === 'destroy' ? 'throw away' : 'take along to another branch';
  if (verb === 'stash') return 'stash away';
  if (verb === 'snapshot') return 'take along into a commit';
  if (verb === 'autostash') return 'put aside, and may not bring back,';
  return verb === 'clean' || verb === 'rm' ? 'delete' : 'overwrite';
}

/** Where a hint will be typed. */
interface View {
  readonly top: string;
  readonly cwd: string;
  readonly branch: string;
}

/** The safe command for the same wish. */
function instead({ verb, call }: TreeReach, mine: readonly string[], view: View): string {
  const own = mine.map((path) => shellWord(relative(view.cwd, join(view.top, path)))).join(' ');
  switch (verb) {
    case 'switch':
      return `Work on the other branch in a tree of your own: git worktree add ${worktreeWords(call, view)}`;
    case 'snapshot':
      return "Commit your own only: git handoff commit -m '<message>'";
    case 'apply':
      return own === ''
        ? `Nothing here is this session's (on ${view.branch}); see: git handoff status`
        : `Name what the patch may change: git apply${optionsOf(call)} ${included(mine)}`;
    case 'stash':
      return own === ''
        ? `This session has nothing to stash here; see: git handoff status`
        : `Stash your own only: git stash push --include-untracked -- ${own}`;
    case 'autostash':
      return `Work in a tree of your own: git worktree add --detach ${treeName('apart', view)}`;
    default:
      return own === ''
        ? `Nothing here is this session's (on ${view.branch}); see: git handoff status`
        : verb === 'clean'
          ? `Remove your own only: rm -- ${own}`
          : `Undo your own only: git restore --source=HEAD --staged --worktree -- ${own}`;
  }
}

/** The options of a `git apply` as typed, and the paths that it may change, from the top of the tree. */
const optionsOf = ({ words }: GitVerbCall) =>
  words.map((word) => ` ${plainWord(word ?? '<patch file>')}`).join('');
const included = (mine: readonly string[]) => mine.map((path) => plainWord(`--include=${path}`)).join(' ');
const plainWord = (word: string) => (/^[\w./=-]+$/.test(word) ? word : shellWord(word));

/** A folder beside the working tree, as it is typed where the session is. */
function treeName(branch: string, { top, cwd }: View): string {
  return shellWord(relative(cwd, join(dirname(top), branch.replaceAll('/', '-'))));
}

/** The words after `git worktree add` that give what the switch asked for; a branch that is made keeps its start. */
function worktreeWords({ verb, words, by }: GitVerbCall, view: View): string {
  if (by !== undefined) return `--detach ${treeName('apart', view)}, and there: ${escapeLine(by)}`;
  const known = words.map((word) => word ?? UNKNOWN);
  if (verb === 'symbolic-ref' && words[1]?.startsWith('refs/heads/') === true) {
    const branch = words[1].slice('refs/heads/'.length);
    return `${treeName(branch, view)} ${shellWord(branch)}`;
  }
  if (known.includes(UNKNOWN) || !/^(?:switch|checkout)$/.test(verb))
    return `--detach ${treeName('apart', view)}`;
  const options = parseOptions(known, {
    short: 'b:B:c:C:',
    long: 'create= force-create= orphan= conflict= detach track force discard-changes',
  });
  const made = optionValue(options, 'b', 'c', 'create');
  const reset = optionValue(options, 'B', 'C', 'force-create', 'orphan');
  const [start] = options.operands;
  const from = start === undefined || start === '' ? '' : ` ${shellWord(start)}`;
  if (made !== undefined) return `-b ${shellWord(made)} ${treeName(made, view)}${from}`;
  if (reset !== undefined) return `-B ${shellWord(reset)} ${treeName(reset, view)}${from}`;
  if (hasOption(options, 'd', 'detach')) return `--detach ${treeName('apart', view)}${from}`;
  if (start === undefined || start === '-') return `--detach ${treeName('apart', view)}`;
  return `${treeName(start, view)} ${shellWord(start)}`;
}
