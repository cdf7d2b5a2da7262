import { relative, sep } from 'node:path';
import type { WorkPlace } from '../../changes/windows.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { sameState } from '../../domain/ledger/tree-status.ts';
import { strong } from '../../domain/ledger/ownership.ts';
import { escapeLine } from '../../domain/messages.ts';
import { headRef } from '../../git/refs.ts';
import { realPath } from '../../host/disk.ts';
import { type ShellEffects, type UnnamedWrites, isKnown } from '../../shell/effects.ts';
import { gitOptions } from '../../shell/git-options.ts';
import { diffPaths } from '../../shell/programs/filters.ts';
import type { TreeCall, Finding } from '../call.ts';
import type { CommandFacts } from '../facts.ts';
import { seenBefore } from './by-ledger.ts';
import { callsInWorktree, wholeText } from './reach.ts';
import { type Deed, commandRefusal, foreignClaims } from './contention.ts';
import { typedAt } from './typed.ts';

/**
 * Refuses a command that could hit others' uncommitted work without naming its paths: a patch or an archive that cannot be
 * read, and plumbing that makes a commit from the index or from others' files and checks it out.
 */
export async function unnamedChanges(call: TreeCall, facts: CommandFacts): Promise<readonly Finding[]> {
  const seen = await seenBefore(call, facts);
  if (seen === undefined) return [];
  const { place, ledgers } = seen;
  const others = ledgers.others.flatMap(({ claims }) => [...claims.values()]);
  if (others.length === 0) return [];
  const found: Finding[] = [];
  for (const danger of [...unnamedDangers(facts, place, others), ...(await moves(call, facts, others))]) {
    if (danger.claims.length === 0) continue;
    const paths = [...new Set(danger.claims.map(({ path }) => path))];
    const known = await foreignClaims(call, facts, seen, paths);
    found.push(...known.settle);
    if (strong(known.claims).length > 0) return [...found, commandRefusal(call, seen, known, danger)];
  }
  return found;
}

interface Danger extends Deed {
  readonly claims: readonly OpenClaim[];
}

/** Returns the patches and archives of a command that could change others' work. */
function unnamedDangers({ effects }: CommandFacts, place: WorkPlace, others: readonly OpenClaim[]): Danger[] {
  return effects.unnamedWrites.map((writes) => {
    const isHit = hits(writes, place);
    return {
      claims: others.filter(({ path }) => isHit(path)),
      wish: 'edit',
      does: `\`${escapeLine(writes.by)}\` could change`,
      instead: `Name what it may change: ${writes.instead}`,
    };
  });
}

/** Returns a danger if the command would, without our hooks, check out a commit that may hold others' work. */
async function moves(call: TreeCall, facts: CommandFacts, others: readonly OpenClaim[]): Promise<Danger[]> {
  const moved = movesBranch(call, facts.effects);
  if (moved === undefined) return [];
  const { by, cwd, commit } = moved;
  const claims = commit === undefined ? others : await heldBy(facts, cwd, commit, others);
  const { git } = typedAt(call);
  const instead = `Commit your own changes with this instead: ${git} handoff commit -m '<message>'`;
  return [{ claims, wish: 'commit', does: `\`git ${by}\` could commit`, instead }];
}

/** Returns a function that tells whether a patch or an archive may change a path (relative to the worktree's top). */
function hits({ folder, patch }: UnnamedWrites, { top }: WorkPlace): (path: string) => boolean {
  const base = relative(top, realPath(folder)).replaceAll(sep, '/');
  // A patch for a folder outside the worktree changes nothing here, but one for a parent folder may change everything.
  if (base.startsWith('../') && !/^(?:\.\.\/?)+$/.test(base)) return () => false;
  const below = base === '' || base.startsWith('..') ? '' : `${base}/`;
  const names = patch === undefined ? undefined : patchNames(patch);
  if (names === undefined) return (path) => path === base || path.startsWith(below);
  if (patch?.strip !== undefined) return (path) => names.some((name) => path === below + name);
  // Only patch(1) knows how many leading folders it will strip, so a match with any number counts.
  return (path) =>
    names.some((name) => `/${name}`.endsWith(path.startsWith(below) ? `/${path.slice(below.length)}` : '\0'));
}

function patchNames({ file, strip = 0 }: NonNullable<UnnamedWrites['patch']>): string[] | undefined {
  const text = wholeText(file);
  return text === undefined ? undefined : diffPaths(text, strip);
}

interface Move {
  readonly by: string;
  readonly cwd: string;
  /** The commit that becomes HEAD; `undefined` when it may hold any work of others. */
  readonly commit: string | undefined;
}

/** Finds where a command replaces the commit that is checked out here, without running the hooks. */
function movesBranch(call: TreeCall, effects: ShellEffects): Move | undefined {
  const here = callsInWorktree(call, effects);
  const made = here.findIndex(({ verb }) => verb === 'commit-tree');
  const isHead = (name: string | undefined) => name === 'HEAD' || name === headRef(call.tree.gitDir);
  for (const [n, each] of here.entries()) {
    const { verb, words, cwd = call.cwd } = each;
    const isMade = made >= 0 && made < n;
    const unknown = { by: 'commit-tree', cwd, commit: undefined };
    if (isMade && /^(?:reset|merge|symbolic-ref|checkout|switch|push|fetch)$/.test(verb)) return unknown;
    if (verb === 'history' && words[0] === 'fixup' && !words.includes('--dry-run'))
      return { ...unknown, by: 'history fixup' };
    if (verb !== 'update-ref') continue;
    const [ref, to] = gitOptions(each).operands;
    // A ref that is unknown or comes from standard input may be HEAD's branch.
    const mayBeHead = ref === undefined || !isKnown(ref) || isHead(ref);
    if (isMade && mayBeHead) return unknown;
    if (isHead(ref) && to !== undefined) return { by: 'update-ref', cwd, commit: to };
  }
  return undefined;
}

/** Returns the claims whose uncommitted content the commit holds. */
async function heldBy(
  { git }: CommandFacts,
  cwd: string,
  commit: string,
  claims: readonly OpenClaim[],
): Promise<readonly OpenClaim[]> {
  const paths = claims.map(({ path }) => path);
  const files = await git.filesOf(cwd, commit, paths);
  const states = new Map(files.map((file) => [file.path, { mode: file.mode, oid: file.oid }]));
  return claims.filter(({ path, base, after }) => {
    const state = states.get(path) ?? null;
    return sameState(state, after) && !sameState(state, base);
  });
}
