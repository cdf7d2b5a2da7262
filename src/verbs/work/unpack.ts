import { posix } from 'node:path';
import { type WorkTree, askerOf, lookAtWork, openClaims } from '../../changes/dirty-work.ts';
import { escapeLine, Failure, listed, shellWord } from '../../domain/messages.ts';
import { commandOwner } from '../../changes/windows.ts';
import { type SessionId, isPerson, peerNames } from '../../domain/names.ts';
import { isMoving, workSizeText } from '../../domain/snapshot.ts';
import { readSettings, readTreeConfig, type TreeConfig } from '../../git/config.ts';
import type { TransferOptions } from '../../git/transfer.ts';
import { readObjects } from '../../git/objects.ts';
import { committer, openRepository, type Repository } from '../../git/repository.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import { type FoundWork, authorText, findWork, noteUnpacked } from '../../notes/work/find-work.ts';
import { type LoadedWork, readWork, carriedWork, keptWork } from '../../notes/work/work-commit.ts';
import { type Context, findCaller } from '../../sessions/caller.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { isLoneSession } from '../../sessions/lone-session.ts';
import { IN_LINES, type PlannedPath, type RestorePlan } from '../../snapshot/plan.ts';
import { type How, restoreSnapshot } from '../../snapshot/restore.ts';
import type { CommandResult } from '../verb.ts';
import { withCommitLock } from '../sharing/commit.ts';
import { openJudged, pathFrom, requireWorkTree } from '../workspace.ts';
import type { Rendered } from '../../ui/terminal.ts';
import type { HandoffCommit } from '../../domain/handoff.ts';
import type { TopicState } from '../../notes/topic.ts';
import type { CarriedShape } from '../shapes.ts';

interface UnpackOptions {
  /** `undefined`: the newest open note of this branch. */
  readonly topic: string | undefined;
  readonly dryRun: boolean;
  /** Whether to leave conflict markers in files whose lines conflict. */
  readonly merge: boolean;
  /** An author whose work is accepted, besides the user's own. */
  readonly from: string | undefined;
  /** Files to accept although they make programs run or instruct agents. */
  readonly trust: readonly string[];
  readonly session: string | undefined;
  readonly transfer: Omit<TransferOptions, 'cwd'>;
  readonly warn: (text: string) => void;
}

interface UnpackValue {
  readonly branch: string;
  readonly topic: string;
  /** The work commit, and the HEAD that it was packed on. */
  readonly work: string;
  readonly base: string | null;
  readonly author: string;
  readonly dryRun: boolean;
  readonly items: readonly {
    readonly path: string;
    /** `there`: the change was already on the disk. */
    readonly action: 'written' | 'removed' | 'marked' | 'there';
    readonly staged: boolean;
  }[];
}

/**
 * Unpacks a note's uncommitted work into this working tree: all of it or nothing. The changes then belong to the caller.
 *
 * @throws Failure `refused` when something is in the way, conflicts, or needs `--trust`; and as `findWork` does
 */
export async function unpack(options: UnpackOptions, context: Context): Promise<CommandResult<UnpackValue>> {
  const { cwd, now } = context;
  const repository = await openRepository(cwd);
  const [{ sessions, judged, notices }, author, place, config] = await Promise.all([
    openJudged(context, repository),
    committer(cwd),
    requireWorkTree(repository),
    readTreeConfig(cwd),
  ]);
  const caller = findCaller(context, sessions, options.session, author);
  const owner = caller.isPerson ? caller.id : commandOwner(repository.commonDir, caller.id, context.env);
  const found = await findWork(repository, { ...options, author });
  if (!found.isLocal) await requireHarmless(place.top, found, config, options);
  const here = pathFrom(cwd, place.top);
  let others: string[] = [];
  const check = async ({ paths, refused }: RestorePlan) => {
    requireFree(found, refused, options, here);
    if (options.dryRun) return undefined;
    const held = await heldByOthers(place, owner, paths, judged, now);
    others = stayNotices(held, askerOf(owner, judged, repository.commonDir).groups);
    const isClaimed = !caller.isPerson && !isLoneSession(place.gitDir, caller.id);
    return (path: string) => (isClaimed && !held.has(path) ? owner : undefined);
  };
  const how = mergeOf(found, config, options.merge);
  const run = async () => {
    const done = await restoreSnapshot(place, found.work, { how, now, check });
    if (options.dryRun) return done;
    const paths = Object.fromEntries(done.paths.map(({ path, disk }) => [path, disk?.oid ?? null]));
    await noteUnpacked(repository, found.state.path, found.oid, { head: done.status.head.oid, paths });
    return done;
  };
  const done = options.dryRun ? await run() : await withCommitLock(repository.gitDir, run);
  return { value: valueOf(found, done, options), notices: [...notices, ...others] };
}

const mergeOf = ({ name }: LoadedWork, config: TreeConfig, markers: boolean): How => {
  return { kind: 'merge', markers, config, name: `work of ${name}` };
};

/** Finds paths that need no change because a live session already has the same work there: they stay that session's. */
async function heldByOthers(
  place: WorkTree,
  self: SessionId,
  paths: readonly PlannedPath[],
  sessions: readonly JudgedSession[],
  now: number,
): Promise<Map<string, readonly SessionId[]>> {
  const held = new Map<string, readonly SessionId[]>();
  const there = paths.filter(({ writes }) => !writes).map(({ path }) => path);
  if (there.length === 0 || isPerson(self)) return held;
  const work = await lookAtWork(place, sessions, now);
  const asker = askerOf(self, sessions, place.commonDir);
  for (const path of there) {
    const dirty = work.status.dirty.get(path);
    const claims = dirty === undefined ? undefined : openClaims(work, dirty, asker);
    if (claims === undefined || claims.own.length > 0 || claims.foreign.length === 0) continue;
    const owners = claims.foreign.map(({ session }) => session);
    held.set(path, owners);
  }
  return held;
}

function stayNotices(
  held: ReadonlyMap<string, readonly SessionId[]>,
  known: Parameters<typeof peerNames>[1],
): string[] {
  if (held.size === 0) return [];
  const paths = [...held.keys()];
  const names = listed(paths.map(escapeLine));
  const owners = peerNames([...held.values()].flat(), known);
  return [`${names}: this uncommitted work is here already, and still belongs to ${owners}`];
}

function requireFree(
  { state, work }: FoundWork,
  refused: RestorePlan['refused'],
  { merge, dryRun }: UnpackOptions,
  here: (path: string) => string,
): void {
  if (refused.length === 0) return;
  const name = typedTopic(state.branch, state.topic);
  const reasons = refused.map(({ path, why }) => `${escapeLine(path)} ${escapeLine(why)}`).join('; ');
  const canMerge = !merge && refused.every(({ why }) => why === IN_LINES);
  const message = `${reasons}; nothing ${dryRun ? 'would be' : 'was'} changed`;
  // The worktree begins at the work's base: the note's own base may be newer.
  const worktree = `git worktree add --detach ${shellWord(here(`../${state.topic}`))} ${work.base ?? 'HEAD'}`;
  throw new Failure('refused', message, {
    hint: canMerge ? `git handoff unpack ${name} --merge` : worktree,
  });
}

function valueOf(found: FoundWork, { paths }: RestorePlan, { dryRun }: UnpackOptions): UnpackValue {
  const { state, oid, work } = found;
  return {
    branch: state.branch,
    topic: state.topic,
    work: oid,
    base: work.base,
    author: authorText(found),
    dryRun,
    items: paths.map(({ path, disk, head, index, writes, marked }) => ({
      path,
      action: !writes ? 'there' : marked ? 'marked' : disk === null ? 'removed' : 'written',
      staged: index?.oid !== head?.oid || index?.mode !== head?.mode,
    })),
  };
}

/**
 * Refuses work from elsewhere if its files make programs run, instruct agents or link elsewhere, unless `trust` names them.
 *
 * @throws Failure `refused`
 */
async function requireHarmless(
  top: string,
  { work, state }: FoundWork,
  { hooksPath }: TreeConfig,
  { trust, from }: { readonly trust: readonly string[]; readonly from: string | undefined },
): Promise<void> {
  const links = work.items.flatMap(({ path, disk }) => {
    return disk?.mode === '120000' && disk.oid !== null ? [{ path, oid: disk.oid }] : [];
  });
  const oids = links.map(({ oid }) => oid);
  const targets = await readObjects({ cwd: top }, oids);
  const leading = links.filter(({ path }, at) => leadsOut(path, targets[at]?.content.toString('utf8') ?? ''));
  const moving = work.items.map(({ path }) => path).filter((path) => isMoving(path, hooksPath));
  const named = new Set(trust);
  const refused = [...moving, ...leading.map(({ path }) => path)].filter((path) => !named.has(path));
  if (refused.length === 0) return;
  const name = typedTopic(state.branch, state.topic);
  const all = [...new Set([...trust, ...refused])].map((path) => ` --trust ${shellWord(path)}`).join('');
  const message =
    `the work contains files that make programs run, instruct agents or link elsewhere: ` +
    `${refused.map(escapeLine).join(', ')}; nothing was changed. Look at them first: git show ${state.tip?.trailers?.work ?? ''}`;
  const author = from === undefined ? '' : ` --from ${shellWord(from)}`;
  throw new Failure('refused', message, { hint: `git handoff unpack ${name}${author}${all}` });
}

/** Whether a link leads out of the working tree or into `.git`. */
function leadsOut(path: string, target: string): boolean {
  const to = posix.normalize(posix.join(posix.dirname(path), target));
  return target.startsWith('/') || to === '..' || to.startsWith('../') || /(^|\/)\.git(\/|$)/i.test(to);
}

/** Prints what was unpacked, one path per line. */
export function renderUnpacked({ branch, topic, author, dryRun, items }: UnpackValue): Rendered {
  const done = dryRun ? 'would unpack cleanly' : 'unpacked';
  const head = `${escapeLine(`${branch}/${topic}`)} ${done}: ${items.length} ${items.length === 1 ? 'path' : 'paths'} of ${author}\n`;
  const lines = items.map(({ path, action, staged }) => {
    const words = {
      written: '',
      removed: ' (removed)',
      marked: ' (has conflict markers)',
      there: ' (already there)',
    };
    return `  ${escapeLine(path)}${words[action]}${staged ? ', staged' : ''}\n`;
  });
  return head + lines.join('');
}

/** What a note carries, for a reader who decides whether to unpack it. Fetches nothing. `null`: no work. */
export async function carriedFacts(
  repository: Repository,
  state: TopicState,
  tip: HandoffCommit,
  { top, now }: { readonly top: string | undefined; readonly now: number },
): Promise<CarriedShape | null> {
  // If neither the tip nor a ref names work, the history need not be read.
  if (tip.trailers?.work === undefined && (await keptWork(repository, state.path)).length === 0) return null;
  const carried = await carriedWork(repository, tip);
  if (carried === undefined) return null;
  const { cwd, gitDir, commonDir } = repository;
  const { maxWork } = await readSettings(cwd);
  const work = await readWork({ cwd }, carried.oid, maxWork);
  const size = carried.size === undefined ? 'of unknown size' : workSizeText(carried.size);
  if (work === undefined) return { author: authorText(tip), size, unpacks: 'not fetched', why: null };
  if (typeof work === 'string') return { author: authorText(tip), size, unpacks: 'no', why: work };
  const known = { author: authorText(work), size: workSizeText(work.size) };
  if (top === undefined) return { ...known, unpacks: 'no', why: 'there is no working tree here' };
  const how = mergeOf(work, await readTreeConfig(cwd), false);
  const plan = await restoreSnapshot({ top, gitDir, commonDir }, work.work, { how, now });
  const [refused] = plan.refused;
  if (refused === undefined) {
    const isThere = plan.paths.every(({ writes, stages }) => !writes && !stages);
    return { ...known, unpacks: isThere ? 'is there' : 'cleanly', why: null };
  }
  const more = plan.refused.length > 1 ? ` (and ${plan.refused.length - 1} more)` : '';
  return { ...known, unpacks: 'no', why: escapeLine(`${refused.path} ${refused.why}${more}`) };
}
