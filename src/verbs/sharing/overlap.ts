import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { askerOf, belongingOf, workSeen } from '../../changes/dirty-work.ts';
import { type Side, changersIn, overlapsBetween } from '../../changes/overlaps.ts';
import { counted, escapeLine, Failure, shellWord } from '../../domain/messages.ts';
import type { TreeStatus } from '../../domain/ledger/tree-status.ts';
import { type SessionId, ownerName, sessionOfOwner } from '../../domain/names.ts';
import { stopsMerge } from '../../domain/overlap.ts';
import { type Branches, findDefaultBranch, listBranches } from '../../git/branches.ts';
import { commitNamed } from '../../git/commits.ts';
import type { Repository } from '../../git/repository.ts';
import { ownStore, type ScratchStore } from '../../git/scratch.ts';
import { readTreeStatus, type ListedWorktree, listWorktrees } from '../../git/worktrees.ts';
import { realPath } from '../../host/disk.ts';
import { knownWorktreeId } from '../../host/folders.ts';
import { type Context, findSession, sessionMeant } from '../../sessions/caller.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { namedSession } from '../handoff-shape.ts';
import type { CommandResult } from '../verb.ts';
import type { OverlapShape, OverlapSideShape } from '../shapes.ts';
import { openJudged } from '../workspace.ts';
import { type Paint, type Rendered, type TextContext, columns } from '../../ui/terminal.ts';

interface OverlapOptions {
  /** Sessions, branches or folders of worktrees; empty: this worktree, and all in which a session is at work. */
  readonly names: readonly string[];
  readonly session: string | undefined;
}

interface OverlapValue {
  readonly items: readonly OverlapShape[];
  readonly compared: number;
  /** How many other sessions are at work in this repository. */
  readonly others: number;
}

/** One side of a comparison: a worktree as if all its changes were committed, or a branch as it is. */
interface Line {
  readonly worktree: ListedWorktree | undefined;
  readonly branch: string | undefined;
  readonly sessions: readonly JudgedSession[];
  /** `undefined`: git cannot read the worktree. */
  readonly side: Side | undefined;
  readonly status: TreeStatus | undefined;
}

type LinePair = readonly [one: Line, other: Line];

interface Scene {
  readonly repository: Repository;
  readonly sessions: readonly JudgedSession[];
  readonly worktrees: readonly ListedWorktree[];
  readonly branches: Branches;
  readonly scratch: ScratchStore;
  readonly context: Context;
}

/**
 * Finds paths that several sessions, worktrees or branches have changed, and whether they would merge. Uncommitted changes
 * count, too. Changes no ref and no file, and runs no program that the repository names.
 *
 * @throws Failure `usage` for a name that is unknown here
 */
export async function overlap(
  options: OverlapOptions,
  context: Context,
): Promise<CommandResult<OverlapValue>> {
  const { cwd, budget } = context;
  const [workspace, branches, worktrees] = await Promise.all([
    openJudged(context),
    listBranches({ cwd, timeoutMs: budget.left() }),
    listWorktrees({ cwd }),
  ]);
  const { repository, judged: sessions } = workspace;
  const self = findSession(context, workspace.sessions, options.session)?.id;
  const scratch = ownStore(repository.commonDir);
  try {
    const scene = { repository, sessions, worktrees, branches, scratch, context };
    const { items, compared } = await compareAll(scene, options.names);
    const live = sessions.filter(({ liveness, record }) => liveness === 'live' && record.session !== self);
    const others = new Set(live.map(({ record }) => record.session)).size;
    const isStopped = items.some(({ paths }) => paths.some(({ kind }) => stopsMerge(kind)));
    return {
      value: { items, compared, others },
      notices: workspace.notices,
      exitCode: isStopped ? 1 : 0,
    };
  } finally {
    rmSync(scratch.folder, { recursive: true, force: true });
  }
}

async function compareAll(
  scene: Scene,
  names: readonly string[],
): Promise<Pick<OverlapValue, 'items' | 'compared'>> {
  const { repository, worktrees, branches } = scene;
  const named = new Set(names.flatMap((name) => placesNamed(name, scene)));
  const trees = await Promise.all(
    worktrees
      .filter((one) => {
        const isHere = one.gitDir === repository.gitDir;
        return isHere || named.has(one.gitDir) || sessionsAt(one, scene).length > 0;
      })
      .map((one) => lineOfWorktree(one, scene)),
  );
  const asked = [...named].flatMap((name) => lineOfBranch(name, branches.heads.get(name)?.oid) ?? []);
  const isNamed = ({ worktree, branch = '' }: Line) => named.has(worktree?.gitDir ?? branch);
  // One name asks for all pairs that contain it; several names ask for the pairs among them.
  const isAsked = (one: Line, other: Line) =>
    names.length < 2 ? names.length === 0 || isNamed(one) || isNamed(other) : isNamed(one) && isNamed(other);
  const pairs = pairsOf([...trees, ...asked], await targetsOf(trees, scene)).filter(
    (pair) => isAsked(...pair) && !isOneSession(...pair),
  );
  const items: OverlapShape[] = [];
  for (const pair of pairs) items.push(...(await compare(pair, scene)));
  items.push(...trees.filter((tree) => isAsked(tree, tree)).flatMap((tree) => sharedPaths(tree, scene)));
  const here = worktrees.find(({ gitDir }) => gitDir === repository.gitDir)?.path;
  const concerns = ({ sides }: OverlapShape) => sides.some(({ worktree }) => worktree === here);
  // The overlaps with the caller's worktree come first.
  items.sort((a, b) => Number(concerns(b)) - Number(concerns(a)));
  return { items, compared: new Set(pairs.flat()).size };
}

function isOneSession(one: Line, other: Line): boolean {
  const ids = [one, other].map(({ sessions }) => sessions.map(({ record }) => record.session).join());
  return ids[0] !== '' && ids[0] === ids[1];
}

async function lineOfWorktree(worktree: ListedWorktree, scene: Scene): Promise<Line> {
  const { scratch, context } = scene;
  const { path, branch } = worktree;
  const status = await readTreeStatus(path, { now: context.now, scratch }).catch(() => undefined);
  const side = status === undefined ? undefined : { head: status.head.oid, dirty: filesOf(status) };
  return { worktree, branch, sessions: sessionsAt(worktree, scene), side, status };
}

/** The changed files. A submodule counts as unchanged: its own commits are not in this repository. */
function filesOf({ dirty }: TreeStatus): Side['dirty'] {
  return new Map([...dirty].filter(([, { disk }]) => disk?.mode !== '160000' || disk.oid !== null));
}

function lineOfBranch(branch: string, commit: Side['head'] | undefined): Line | undefined {
  if (commit === undefined) return undefined;
  const side = { head: commit, dirty: new Map() };
  return { worktree: undefined, branch, sessions: [], side, status: undefined };
}

function sessionsAt({ gitDir }: ListedWorktree, { sessions }: Scene): JudgedSession[] {
  const id = knownWorktreeId(gitDir);
  return sessions.filter(({ liveness, worktreeId }) => liveness === 'live' && worktreeId === id);
}

/** Pairs each worktree that is not on the default branch with that branch, into which it will be merged. */
async function targetsOf(
  trees: readonly Line[],
  { context: { cwd, budget }, branches }: Scene,
): Promise<readonly LinePair[]> {
  const { name, refs: [ref = ''] = [] } =
    (await findDefaultBranch({ cwd, timeoutMs: budget.left() }, branches)) ?? {};
  const commit = ref === '' ? undefined : await commitNamed(cwd, ref);
  const target = lineOfBranch(ref.replace(/^refs\/(?:heads|remotes)\//, ''), commit);
  if (target === undefined) return [];
  const others = trees.filter(({ branch }) => branch !== undefined && branch !== name);
  return others.map((tree) => [tree, target] as const);
}

/** The pairs to compare: never two branches without worktrees. */
function pairsOf(lines: readonly Line[], targets: readonly LinePair[]): LinePair[] {
  const among = lines.flatMap((one, n) =>
    lines.slice(n + 1).flatMap((other): LinePair[] => (one.worktree === undefined ? [] : [[one, other]])),
  );
  return [...among, ...targets.filter(([, target]) => !lines.some(({ branch }) => branch === target.branch))];
}

/** Returns one item with the paths that both sides have changed; none if there is no such path. */
async function compare(pair: LinePair, { context, repository, scratch }: Scene): Promise<OverlapShape[]> {
  const [one, other] = pair;
  const unknown = (why: string): OverlapShape[] => [
    { sides: [sideOf(one), sideOf(other)], paths: [], unknown: why },
  ];
  if (one.side === undefined || other.side === undefined) return unknown('git cannot read a worktree');
  if (one.side.head === null || other.side.head === null) return unknown('there is no commit yet');
  const options = { scratch, timeoutMs: context.budget.left() };
  const found = await overlapsBetween(context.cwd, [one.side, other.side], undefined, options);
  if (found === 'unrelated') return unknown('they have no common history here');
  const paths = found
    .map(({ path, kind, deletedBy }) => ({ path, kind, deletedBy }))
    .sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || (a.path < b.path ? -1 : 1));
  if (paths.length === 0) return [];
  const changers = (line: Line) => {
    const worktreeId = line.worktree === undefined ? undefined : knownWorktreeId(line.worktree.gitDir);
    if (worktreeId === undefined) return line;
    const of = changersIn({ commonDir: repository.commonDir, worktreeId }, line.sessions);
    return { ...line, sessions: [...new Set(paths.flatMap(({ path }) => of(path)))] };
  };
  return [{ sides: [sideOf(changers(one)), sideOf(changers(other))], paths, unknown: null }];
}

/** The worst first. */
const ORDER: readonly Kind[] = ['conflict', 'deleted', 'not-judged', 'same-tree', 'same-file'];

function sideOf({
  worktree,
  branch,
  sessions,
}: Pick<Line, 'worktree' | 'branch' | 'sessions'>): OverlapSideShape {
  return {
    worktree: worktree?.path ?? null,
    branch: branch ?? null,
    sessions: sessions.map(namedSession),
  };
}

/** The paths that several live sessions have changed in one working tree: an item for each pair of sessions. */
function sharedPaths(
  { worktree, branch, status, ...line }: Line,
  { repository, sessions }: Scene,
): OverlapShape[] {
  if (worktree === undefined || status === undefined || line.sessions.length < 2) return [];
  const tree = { top: worktree.path, gitDir: worktree.gitDir, commonDir: repository.commonDir };
  const work = workSeen(tree, status);
  const asker = askerOf(undefined, sessions, repository.commonDir);
  const side = (id: SessionId) =>
    sideOf({
      worktree,
      branch,
      sessions: line.sessions.filter(({ record }) => record.session === sessionOfOwner(id)),
    });
  const met = new Map<string, { sides: OverlapShape['sides']; paths: string[] }>();
  for (const dirty of status.dirty.values()) {
    const { state, claims } = belongingOf(work, dirty, asker);
    const [one, ...others] = claims.map(({ session }) => session);
    if (state !== 'contended' || one === undefined) continue;
    for (const other of others.filter((id) => sessionOfOwner(id) !== sessionOfOwner(one))) {
      const key = `${one} ${other}`;
      const known = met.get(key) ?? { sides: [side(one), side(other)] as const, paths: [] };
      known.paths.push(dirty.path);
      met.set(key, known);
    }
  }
  return [...met.values()].map(({ sides, paths }) => ({
    sides,
    paths: paths.map((path) => ({ path, kind: 'same-tree' as const, deletedBy: null })),
    unknown: null,
  }));
}

/**
 * Returns what a name stands for: the git directories of worktrees, or a branch that no worktree has checked out.
 *
 * @throws Failure `usage` for an unknown name
 */
function placesNamed(name: string, { context, worktrees, sessions, branches }: Scene): readonly string[] {
  const folder = realPath(resolve(context.cwd, name));
  const places = worktrees.filter(({ path, branch }) => branch === name || realPath(path) === folder);
  if (places.length > 0) return places.map(({ gitDir }) => gitDir);
  if (branches.heads.has(name)) return [name];
  const meant = sessionMeant(
    name,
    sessions.map(({ record }) => record.session),
  );
  if (meant === undefined) {
    throw new Failure('usage', `${name} is no session, branch or worktree of this repository`, {
      hint: 'git handoff sessions',
    });
  }
  const ids = sessions.filter(({ record }) => record.session === meant).map((one) => one.worktreeId);
  const isIts = ({ gitDir }: ListedWorktree) => ids.some((id) => id === knownWorktreeId(gitDir));
  return worktrees.filter(isIts).map(({ gitDir }) => gitDir);
}

/** Prints each pair with the paths that overlap. */
export function renderOverlap({ items, compared, others }: OverlapValue, { paint }: TextContext): Rendered {
  if (items.length > 0) return items.map((item) => renderItem(item, paint)).join('\n');
  const facts = [
    ...(compared === 0 ? [] : [`compared ${compared} worktrees and branches`]),
    ...(others === 0
      ? []
      : [`${counted(others, 'other session')} at work, and no two sessions changed the same file`]),
  ];
  return facts.length === 0
    ? 'nobody else is at work in this repository, and there is no branch to merge into\n'
    : `no overlap: ${facts.join('; ')}\n`;
}

type Kind = OverlapShape['paths'][number]['kind'];

const TITLES: Readonly<Record<Kind, string>> = {
  conflict: 'conflict',
  deleted: 'gone',
  'not-judged': 'not judged',
  'same-tree': 'same tree',
  'same-file': 'same file',
};

function renderItem({ sides, paths, unknown }: OverlapShape, paint: Paint): string {
  const heads = columns(sides.map((side) => [whoOf(side), whereOf(side)]));
  if (unknown !== null) return `${heads}  not known: ${unknown}\n`;
  const rows = paths.map(({ path, kind, deletedBy }) => [
    `  ${stopsMerge(kind) ? paint.bad(TITLES[kind]) : TITLES[kind]}`,
    shellWord(path),
    remark(kind, deletedBy === null ? undefined : sides[deletedBy]),
  ]);
  return heads + columns(rows);
}

function remark(kind: Kind, deletedBy: OverlapSideShape | undefined): string {
  if (deletedBy !== undefined) return `deleted or moved by ${whoOf(deletedBy)}`;
  if (kind === 'not-judged') return 'too large, or a merge driver merges it';
  return kind === 'same-file' ? 'merges cleanly' : '';
}

function whoOf({ sessions, branch, worktree }: OverlapSideShape): string {
  const names = sessions.map(({ client, session }) => ownerName(session, { client }));
  if (names.length > 0) return names.join(' and ');
  return worktree === null ? escapeLine(branch ?? '') : 'no session';
}

function whereOf({ branch, worktree }: OverlapSideShape): string {
  if (worktree === null) return 'as committed';
  return escapeLine(`${branch ?? 'detached HEAD'}  ${worktree}`);
}
