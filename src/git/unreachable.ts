import { type Oid, parseOid } from '../domain/names.ts';
import { statOf } from '../host/disk.ts';
import { inBatches, gitFailure, runGit } from './run.ts';
import { CommitText } from './commits.ts';
import { formatOf } from './hash.ts';
import { parseTree, readObjects } from './objects.ts';
import { listStash } from './stash.ts';

/** What a search needs to know of a commit that no ref reaches. */
interface LostCommit {
  readonly parents: readonly Oid[];
  /** Seconds since the epoch. */
  readonly seconds: number;
  readonly subject: string;
}

/** The objects that no ref, index or stash entry reaches; reflogs do not count. */
export interface Unreachable {
  readonly commits: ReadonlyMap<Oid, LostCommit>;
  /** Trees that are part of no other tree. A commit may point at them. */
  readonly rootTrees: readonly Oid[];
  /** Sizes in bytes. */
  readonly blobs: ReadonlyMap<Oid, number>;
  /** The objects that are entries of some tree. */
  readonly named: ReadonlySet<Oid>;
}

/** Without these settings git would verify its cache files, too. */
const FSCK = [
  ...['-c', 'core.commitGraph=false', '-c', 'core.multiPackIndex=false', 'fsck', '--connectivity-only'],
  ...['--unreachable', '--no-reflogs', '--no-dangling', '--no-progress'],
];
const KEPT = 'rev-list --objects --missing=allow-any --indexed-objects --stdin --not --all'.split(' ');
/** How many objects one process reads; the most bytes of a commit or tree that is read. */
const BATCH = 1000;
const MAX_READ = 1 << 18;
const MAX_SUBJECT = 100;

/**
 * Lists the objects that nothing reaches, also packed ones. Writes nothing and fetches nothing.
 *
 * @throws Failure when git cannot look
 */
export async function readUnreachable(cwd: string): Promise<Unreachable> {
  const [looked, kept] = await Promise.all([runGit(FSCK, { cwd }), reachedOtherwise(cwd)]);
  // Other exit codes say that objects are missing or damaged: the rest is there.
  if (looked.code >= 128) throw gitFailure('fsck', looked);
  const listed = looked.stdout.toString('latin1').matchAll(/^unreachable (?:blob|commit|tree) (\w+)$/gm);
  const oids = [...listed].flatMap(([, name = '']) => (kept.has(name) ? [] : (parseOid(name) ?? [])));
  const commits = new Map<Oid, LostCommit>();
  const trees: Oid[] = [];
  const blobs = new Map<Oid, number>();
  const named = new Set<Oid>();
  for (const part of inBatches(oids, BATCH)) {
    const requests = part.map((name) => ({ name, mostBytes: MAX_READ }));
    for (const found of await readObjects({ cwd }, requests)) {
      if (found?.type === 'blob') blobs.set(found.oid, found.size);
      if (found === undefined || found.content.length < found.size) continue;
      if (found.type === 'commit') {
        const { parents, seconds, summary } = new CommitText(found.content.toString('latin1'));
        commits.set(found.oid, { parents, seconds, subject: summary.slice(0, MAX_SUBJECT) });
      }
      if (found.type !== 'tree') continue;
      trees.push(found.oid);
      for (const oid of parseTree(found.content, formatOf(found.oid)).values()) named.add(oid);
    }
  }
  return { commits, rootTrees: trees.filter((oid) => !named.has(oid)), blobs, named };
}

/** The objects that no ref reaches, but a stash entry or the index of some worktree does. */
async function reachedOtherwise(cwd: string): Promise<Set<string>> {
  const stash = await listStash({ cwd });
  const input = stash.map(({ oid }) => oid);
  const { stdout } = await runGit(KEPT, { cwd, input });
  return new Set([...stdout.toString('latin1').matchAll(/^[0-9a-f]+/gm)].map(([oid]) => oid));
}

/** When a loose object was written, in milliseconds since the epoch; `undefined` for a packed one. */
export function looseSince(commonDir: string, oid: Oid): number | undefined {
  return statOf(`${commonDir}/objects/${oid.slice(0, 2)}/${oid.slice(2)}`)?.mtimeMs;
}
