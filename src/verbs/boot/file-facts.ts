import type { Oid } from '../../domain/names.ts';
import type { FileFact } from '../../domain/verification/facts.ts';
import type { NamedPath } from '../../domain/verification/important-files.ts';
import type { Limits } from '../../git/branches.ts';
import { type TreeState, movedFiles, standsInside, treeEntries } from '../../git/named-files.ts';

/** Between what a note's files are compared. */
interface FileScene {
  readonly limits: Limits;
  readonly cwd: string;
  readonly base: Oid | undefined;
  readonly tip: Oid | undefined;
  /** Top of another worktree that has the note's branch: what is not committed may stand there. */
  readonly elsewhere: string | undefined;
  /** The working tree, where it is the note's; `undefined`: only commits are compared. */
  readonly disk: { readonly top: string; readonly state: TreeState } | undefined;
}

type Entries = ReadonlyMap<string, string>;

/**
 * What became of the files that a note names. By git's data, and by looking whether something stands there; no path
 * of a note is ever opened.
 */
export async function fileFacts(named: readonly NamedPath[], scene: FileScene): Promise<FileFact[]> {
  const { cwd, base, tip, limits } = scene;
  const paths = named.flatMap(({ path }) => path ?? []);
  const [before, after] = await Promise.all([
    base === undefined ? undefined : treeEntries(cwd, base, paths, limits),
    tip === undefined ? undefined : treeEntries(cwd, tip, paths, limits),
  ]);
  const isGone = (path: string) => before?.has(path) === true && after?.has(path) === false;
  const moved =
    base !== undefined && tip !== undefined && paths.some(isGone)
      ? await movedFiles(cwd, base, tip, limits)
      : undefined;
  return named.flatMap(({ text, path, sure }): FileFact[] => {
    if (path === undefined) return [{ path: text, state: { kind: 'unsafe' } }];
    const state = stateOf(path, { before, after, moved: moved ?? new Map() }, scene);
    // What only may be a path is not missed.
    return state.kind === 'missing' && !state.known && !sure ? [] : [{ path, state }];
  });
}

function stateOf(
  path: string,
  { before, after, moved }: { before: Entries | undefined; after: Entries | undefined; moved: Entries },
  { disk, elsewhere }: FileScene,
): FileFact['state'] {
  const isDirty = disk?.state.paths.some((one) => one === path || one.startsWith(`${path}/`)) === true;
  const isTracked = after?.has(path) === true;
  const top = disk?.top ?? elsewhere;
  const there = top === undefined || (isTracked && !isDirty) ? isTracked : standsInside(top, path);
  const known = before?.has(path) === true;
  if (!there) {
    const to = disk?.state.moved.get(path) ?? moved.get(path);
    return to === undefined ? { kind: 'missing', known } : { kind: 'moved', to };
  }
  if (before === undefined) return { kind: 'uncompared' };
  const committed = known && isTracked && before.get(path) !== after.get(path);
  const uncommitted = isDirty && known;
  return committed || uncommitted ? { kind: 'changed', committed, uncommitted } : { kind: 'present' };
}
