import { type Oid, type RefName, parseOid } from '../domain/names.ts';
import { runGit } from './run.ts';

/** The file of a tree whose content is looked for, and the one that changes with every version. */
interface TextFiles {
  readonly text: string;
  readonly state: string;
}

/**
 * The objects that hold the text of a history or a kept tree: its commits (their messages quote it) and the blobs of
 * the text file. A history with a hole gives what can be read of it.
 */
export async function textObjects(
  cwd: string,
  tips: readonly Oid[],
  { text, state }: TextFiles,
): Promise<Set<Oid>> {
  const found = new Set<Oid>();
  for (const tip of new Set(tips)) {
    const args = ['rev-list', '--objects', '--full-history', '--end-of-options', tip, '--', text, state];
    // What stands at a ref may be missing, or no commit.
    const { stdout } = await runGit(args, { cwd });
    for (const line of stdout.toString('latin1').split('\n')) {
      const [name = '', path] = line.split(' ');
      const oid = parseOid(name);
      if (oid !== undefined && (path === undefined || path === text)) found.add(oid);
    }
  }
  return found;
}

/** The objects of a note's work, except those that commits hold anyway. */
export async function uncommittedObjects(cwd: string, tips: readonly Oid[]): Promise<Oid[]> {
  if (tips.length === 0) return [];
  // The plain form leaves nothing out that has no parents in common.
  const args = ['rev-list', '--objects-edge-aggressive', '--no-object-names', '--missing=allow-any', ...tips];
  const { stdout } = await runGit([...args, '--not', '--branches', '--tags', '--remotes'], { cwd });
  return stdout
    .toString('latin1')
    .split('\n')
    .flatMap((line) => parseOid(line) ?? []);
}

/** What still reaches an object: a ref, the logs of refs (git-reflog(1)), or an index. */
export type ObjectHolder =
  { readonly kind: 'ref'; readonly name: RefName } | { readonly kind: 'reflogs' | 'index' };

/** So many holders are named at most. */
const MAX_HOLDERS = 10;

/**
 * Finds what reaches any of the objects. One walk through everything where nothing does; a few more, by halves, to
 * find the refs.
 *
 * @param timeoutMs for all of it
 * @returns `undefined` when it could not be found out
 */
export async function findHolders(
  cwd: string,
  objects: ReadonlySet<Oid>,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<ObjectHolder[] | undefined> {
  const end = performance.now() + timeoutMs;
  const reaches = async (options: readonly string[], refs: readonly string[]): Promise<boolean> => {
    const left = Math.max(1, Math.ceil(end - performance.now()));
    const args = ['rev-list', '--objects', '--no-object-names', '--missing=allow-any', ...options, '--stdin'];
    const result = await runGit(args, {
      cwd,
      timeoutMs: left,
      input: refs.map((ref) => `${ref}\n`).join(''),
    });
    if (result.code !== 0) throw new Error(result.stderr);
    return result.stdout
      .toString('latin1')
      .split('\n')
      .some((line) => objects.has(line as Oid));
  };
  const among = async (refs: readonly RefName[], known: readonly ObjectHolder[]): Promise<ObjectHolder[]> => {
    if (known.length >= MAX_HOLDERS || refs.length === 0 || !(await reaches([], refs))) return [...known];
    const [only] = refs;
    if (only !== undefined && refs.length === 1) return [...known, { kind: 'ref', name: only }];
    const half = Math.ceil(refs.length / 2);
    return among(refs.slice(half), await among(refs.slice(0, half), known));
  };
  if (objects.size === 0) return [];
  try {
    if (!(await reaches(['--all', '--reflog', '--indexed-objects'], []))) return [];
    const holders = await among(await refNames(cwd), []);
    if (await reaches(['--reflog'], [])) holders.push({ kind: 'reflogs' });
    if (await reaches(['--indexed-objects'], [])) holders.push({ kind: 'index' });
    return holders;
  } catch {
    // Out of time, or a damaged repository: nothing is said.
    return undefined;
  }
}

async function refNames(cwd: string): Promise<RefName[]> {
  const { stdout } = await runGit(['for-each-ref', '--format=%(refname)'], { cwd });
  return stdout
    .toString('utf8')
    .split('\n')
    .filter((name) => name !== '') as RefName[];
}
