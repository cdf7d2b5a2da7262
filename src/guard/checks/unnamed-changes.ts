import { relative, sep } from 'node:path';
import type { Verdict } from '../../agents/dialect.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { sameState } from '../../domain/ledger/file-state.ts';
import { strong } from '../../domain/ledger/ownership.ts';
import { type SessionId, shortId } from '../../domain/names.ts';
import { escapeLine, listed } from '../../domain/surfacing.ts';
import { discoverRepository, readHead } from '../../git/discover.ts';
import { listTree } from '../../git/list-tree.ts';
import { readBeginning, realPath } from '../../host/disk.ts';
import type { GitVerbCall, SpreadEffect } from '../../shell/effects.ts';
import { patchedFiles } from '../../shell/programs/editors.ts';
import type { WorkPlace } from '../../changes/work-place.ts';
import type { Scene } from '../scene.ts';
import { foreignClaims } from './foreign-claims.ts';
import type { Look } from './tree-refusal.ts';
import { type Typed, typedIn } from './typed.ts';

/**
 * Refuses commands that could hit what others have not committed without naming it: a patch or an archive that cannot be
 * read, and plumbing that makes a commit of the index or of somebody's files the one that is checked out.
 */
export async function refuseUnnamed(
  scene: Scene,
  session: SessionId,
  { found, place, snapshot, effects, ledgers }: Look,
): Promise<Verdict | undefined> {
  const others = ledgers.all
    .filter((ledger) => ledger.session !== session)
    .flatMap(({ claims }) => [...claims.values()]);
  if (others.length === 0) return undefined;
  const open = async (candidates: readonly OpenClaim[]) =>
    candidates.length === 0
      ? []
      : strong((await foreignClaims(scene, found, place, ledgers, pathsOf(candidates), snapshot)).claims);
  for (const spread of effects.spreads) {
    const isHit = hits(spread, place);
    const claims = await open(others.filter(({ path }) => isHit(path)));
    if (claims.length > 0) return denied(claims, `\`${escapeLine(spread.by)}\` could change`, named(spread));
  }
  const moved = movesBranch(effects.gitCalls, scene, place);
  if (moved === undefined) return undefined;
  const claims =
    moved.oid === undefined ? await open(others) : await open(await heldBy(scene, moved, others));
  return claims.length === 0
    ? undefined
    : denied(claims, `\`git ${moved.by}\` could take along`, commitInstead(typedIn(scene, place)));
}

const pathsOf = (claims: readonly OpenClaim[]) => [...new Set(claims.map(({ path }) => path))];

const commitInstead = ({ git }: Typed) =>
  `Commit your own changes with this instead: ${git} handoff commit -m '<message>'`;

const named = ({ instead }: SpreadEffect) => `Name what it may change: ${instead}`;

function denied(claims: readonly OpenClaim[], does: string, instead: string): Verdict {
  const owners = [...new Set(claims.map(({ session }) => session))];
  const names = listed(claims.map(({ path }) => escapeLine(path)));
  const who = `session${owners.length === 1 ? '' : 's'} ${owners.map((one) => shortId(one)).join(', ')}`;
  const reason = `${does} uncommitted work of ${who}: ${names}. Nothing was changed. ${instead}`;
  return { kind: 'deny', reason, owners };
}

/** Which paths of the worktree, from its top, a patch or an archive may change. */
function hits({ folder, patch }: SpreadEffect, { top }: WorkPlace): (path: string) => boolean {
  const base = relative(top, realPath(folder)).replaceAll(sep, '/');
  // Outside of the worktree; above it everything may be meant.
  if (base.startsWith('../') && !/^(?:\.\.\/?)+$/.test(base)) return () => false;
  const below = base === '' || base.startsWith('..') ? '' : `${base}/`;
  const names = patch === undefined ? undefined : patchNames(patch);
  if (names === undefined) return (path) => path === base || path.startsWith(below);
  if (patch?.strip !== undefined) return (path) => names.some((name) => path === below + name);
  // Which leading folders are left out is for patch(1) to find out.
  return (path) =>
    names.some((name) => `/${name}`.endsWith(path.startsWith(below) ? `/${path.slice(below.length)}` : '\0'));
}

const MAX_PATCH = 1 << 20;

function patchNames({ file, strip = 0 }: NonNullable<SpreadEffect['patch']>): string[] | undefined {
  const text = readBeginning(file, MAX_PATCH + 1);
  return text === undefined || text.length > MAX_PATCH ? undefined : patchedFiles(text, strip);
}

interface Move {
  readonly by: string;
  readonly cwd: string;
  /** The commit, where the command names it. */
  readonly oid: string | undefined;
}

/** Where a command makes another commit the one that is checked out here, without the hooks. */
function movesBranch(calls: readonly GitVerbCall[], scene: Scene, place: WorkPlace): Move | undefined {
  const here = calls.filter(
    ({ cwd }) => discoverRepository(realPath(cwd ?? scene.cwd))?.gitDir === place.gitDir,
  );
  const made = here.findIndex(({ verb }) => verb === 'commit-tree');
  const isHead = (name: string | undefined) => name === 'HEAD' || name === readHead(place.gitDir);
  for (const [n, { verb, words, cwd = scene.cwd }] of here.entries()) {
    const [ref, to] = words.filter((word) => word === undefined || !/^(?:-|$)/.test(word));
    const isMade = made >= 0 && made < n;
    if (isMade && /^(?:reset|merge|symbolic-ref|checkout|switch|push|fetch)$/.test(verb))
      return { by: 'commit-tree', cwd, oid: undefined };
    if (verb !== 'update-ref') continue;
    // A ref that is not known, or comes by standard input, may be the one.
    if (isMade && (ref === undefined || isHead(ref))) return { by: 'commit-tree', cwd, oid: undefined };
    if (isHead(ref) && to !== undefined) return { by: 'update-ref', cwd, oid: to };
  }
  return undefined;
}

/** The claims whose uncommitted content is in that commit. */
async function heldBy(
  scene: Scene,
  { cwd, oid }: Move,
  claims: readonly OpenClaim[],
): Promise<readonly OpenClaim[]> {
  const paths = claims.map(({ path }) => path);
  const files = await listTree(cwd, oid ?? '', paths, { timeoutMs: scene.budget.left() });
  const states = new Map(files.map((file) => [file.path, { mode: file.mode, oid: file.oid }]));
  return claims.filter(({ path, base, after }) => {
    const state = states.get(path) ?? null;
    return sameState(state, after) && !sameState(state, base);
  });
}
