import { resolve } from 'node:path';
import type { Verdict } from '../../../agents/dialect.ts';
import type { OpenClaim } from '../../../domain/ledger/claims.ts';
import { strong } from '../../../domain/ledger/ownership.ts';
import type { DirtyPath, Snapshot } from '../../../domain/ledger/snapshot.ts';
import { type TreeReach, treeReach } from '../../../domain/ledger/tree-verbs.ts';
import { type SessionId, shortId } from '../../../domain/names.ts';
import type { GitVerbCall, ShellEffects } from '../../../domain/shell/effects.ts';
import { escapeLine, shellWord } from '../../../domain/surfacing.ts';
import { type FoundRepository, discoverRepository } from '../../../git/discover.ts';
import { exists, readBeginning, realPath } from '../../../host/disk.ts';
import type { Scene } from '../scene.ts';
import { refName } from './news.ts';
import type { Ledgers, WorkPlace } from './work-place.ts';

interface Look {
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
    const reach = reachHere(call, scene, place);
    if (reach === undefined || staysHere(reach, snapshot.head.ref)) continue;
    if (reach.ignored !== false) {
      const { refuseIgnored } = await import('./ignored-files.ts');
      const refusal = await refuseIgnored(scene, session, found, place, reach);
      if (refusal !== undefined) return refusal;
    }
    const candidates = all
      .filter((ledger) => ledger.session !== session)
      .flatMap(({ claims }) => [...claims.values()])
      .filter(({ path }) => isReached(reach, snapshot.dirty.get(path), place));
    if (candidates.length === 0) continue;
    const { foreignClaims } = await import('./foreign-claims.ts');
    const hit = strong(await foreignClaims(scene, found, place, session, candidates, snapshot));
    if (hit.length === 0) continue;
    const mine = [...self.claims.keys()].filter((path) => isMeant(reach, snapshot.dirty.get(path)));
    const owners = hit.map((claim) => claim.session);
    return { kind: 'deny', reason: refusal(reach, hit, mine, snapshot), owners };
  }
  return undefined;
}

/** The reach of a call that runs in this worktree. */
function reachHere(call: GitVerbCall, scene: Scene, place: WorkPlace): TreeReach | undefined {
  const cwd = call.cwd ?? scene.cwd;
  if (discoverRepository(realPath(cwd))?.gitDir !== place.gitDir) return undefined;
  return reachAt(call, cwd, scene);
}

/** How far a call reaches that runs in a folder. */
export function reachAt(call: GitVerbCall, cwd: string, { autoStash }: Scene): TreeReach | undefined {
  return treeReach(
    { ...call, cwd },
    {
      isPath: (word) => word !== '' && word !== '-' && exists(resolve(cwd, word)),
      names: (file, nul) => namesIn(resolve(cwd, file), nul),
      text: (file) => wholeText(resolve(cwd, file)),
      autoStash,
    },
  );
}

/** A longer list or patch is taken for one that cannot be read. Bytes. */
const MAX_TEXT = 1 << 20;

function wholeText(file: string): string | undefined {
  const text = readBeginning(file, MAX_TEXT + 1);
  return text === undefined || text.length > MAX_TEXT ? undefined : text;
}

/** The names in a file, one a line; git quotes odd ones like a C string, which then counts as not to be told. */
function namesIn(file: string, nul: boolean): readonly string[] | undefined {
  const names = wholeText(file)
    ?.split(nul ? '\0' : '\n')
    .filter((name) => name !== '');
  return !nul && names?.some((name) => name.startsWith('"')) === true ? undefined : names;
}

/** A switch to the branch that is checked out already leaves everything as it is. */
function staysHere({ verb, does, call }: TreeReach, ref: string): boolean {
  const [only, ...more] = call.words;
  return verb === 'switch' && does === 'carry' && more.length === 0 && ref === `refs/heads/${only ?? ''}`;
}

function isReached(reach: TreeReach, dirty: DirtyPath | undefined, place: WorkPlace): boolean {
  if (dirty === undefined) return false;
  const untracked = dirty.head === null && dirty.index === null;
  if (untracked ? !(reach.untracked || reach.verb === 'switch') : !reach.tracked) return false;
  // A switch leaves an untracked file where it is; it is carried to the other branch all the same.
  if (untracked && reach.verb === 'switch' && reach.does === 'destroy') return false;
  return reach.paths === undefined || reach.paths.some((word) => covers(word, reach, dirty.path, place));
}

/** Whether a pathspec, as typed, names the path or a folder above it. One with wildcards may name anything. */
function covers(word: string, { call }: TreeReach, path: string, place: WorkPlace): boolean {
  if (/[*?[]/.test(word) || word.startsWith(':')) return true;
  const target = realPath(resolve(call.cwd ?? place.top, word), false);
  const full = `${place.top}/${path}`;
  return full === target || full.startsWith(target === '/' ? '/' : `${target}/`);
}

/** What the command would have done to the session's own: `git clean` removes no tracked file. */
function isMeant({ verb }: TreeReach, dirty: DirtyPath | undefined): boolean {
  return dirty !== undefined && (verb !== 'clean' || (dirty.head === null && dirty.index === null));
}

const MAX_NAMES = 8;

function refusal(
  reach: TreeReach,
  claims: readonly OpenClaim[],
  mine: readonly string[],
  snapshot: Snapshot,
): string {
  const sessions = [...new Set(claims.map(({ session }) => shortId(session)))];
  const names = claims.slice(0, MAX_NAMES).map(({ path }) => escapeLine(path));
  const more = claims.length > MAX_NAMES ? ` and ${claims.length - MAX_NAMES} more` : '';
  const owners = `session${sessions.length === 1 ? '' : 's'} ${sessions.join(', ')}`;
  return (
    `\`git ${escapeLine(reach.call.verb)}\` would ${deed(reach)} uncommitted work of ${owners}: ` +
    `${names.join(', ')}${more}. Nothing was changed. ${instead(reach, mine, snapshot)}`
  );
}

function deed({ verb, does }: TreeReach): string {
  if (verb === 'switch') return does === 'destroy' ? 'throw away' : 'take along to another branch';
  if (verb === 'stash') return 'stash away';
  if (verb === 'autostash') return 'put aside, and may not bring back,';
  return verb === 'clean' || verb === 'rm' ? 'delete' : 'overwrite';
}

/** The safe command for the same wish. */
function instead({ verb, call }: TreeReach, mine: readonly string[], { head }: Snapshot): string {
  const own = mine.map(shellWord).join(' ');
  switch (verb) {
    case 'switch':
      return `Work on the other branch in a tree of your own: git worktree add ${worktreeWords(call)}`;
    case 'stash':
      return own === ''
        ? `This session has nothing to stash here; see: git handoff status`
        : `Stash your own only: git stash push --include-untracked -- ${own}`;
    case 'autostash':
      return 'Work in a tree of your own: git worktree add --detach ../apart';
    default:
      return own === ''
        ? `Nothing here is this session's (on ${refName(head.ref)}); see: git handoff status`
        : verb === 'clean'
          ? `Remove your own only: rm -- ${own}`
          : `Undo your own only: git restore --source=HEAD --staged --worktree -- ${own}`;
  }
}

/** `../<name> <branch>`: for a branch that is made, with `-b`. */
function worktreeWords({ words }: GitVerbCall): string {
  const made = words.findIndex((word) => /^(?:-[bBcC]|--create|--force-create)$/.test(word ?? ''));
  const branch =
    made < 0 ? words.find((word) => word !== undefined && !word.startsWith('-')) : words[made + 1];
  const name = branch ?? '<branch>';
  const folder = shellWord(`../${name.replaceAll('/', '-')}`);
  return made < 0 ? `${folder} ${shellWord(name)}` : `-b ${shellWord(name)} ${folder}`;
}
