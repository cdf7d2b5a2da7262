import { readFileSync, readlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Oid, isZeroOid, parseOid } from '../domain/names.ts';
import { type GitOptions, type BinaryText, requireGit, git, listedState, utf8 } from './run.ts';
import type { FilePath, FileState, DirtyPath, HeadPlace, TreeStatus } from '../domain/ledger/tree-status.ts';
import { discoverRepository } from './discover.ts';
import { formatOf, objectName } from './hash.ts';
import { hashFiles, MAX_READ, type ScratchStore } from './scratch.ts';
import { isTryTree } from '../host/folders.ts';
import { entries, exactStatOf, lstatOf, readText } from '../host/disk.ts';

/** A worktree of the repository, as git-worktree(1) lists it. */
export interface ListedWorktree {
  readonly path: string;
  readonly gitDir: string;
  /** The branch checked out there, `undefined` when detached or bare. */
  readonly branch: string | undefined;
  /** The commit that HEAD is at; `undefined` on an unborn branch. */
  readonly head: Oid | undefined;
}

/** Lists the main worktree and the linked ones, but not the worktree of `try`. */
export async function listWorktrees(options: GitOptions): Promise<ListedWorktree[]> {
  const output = await git(['worktree', 'list', '--porcelain', '-z'], options);
  return output.split('\0\0').flatMap((block) => {
    const lines = block.split('\0');
    const valueOf = (key: string) => lines.find((line) => line.startsWith(key))?.slice(key.length);
    const path = valueOf('worktree ');
    if (path === undefined || isTryTree(path)) return [];
    const found = discoverRepository(path);
    const gitDir = found?.workTree === path ? found.gitDir : path;
    const head = parseOid(valueOf('HEAD ') ?? '');
    const isUnborn = head === undefined || isZeroOid(head);
    return [{ path, gitDir, branch: valueOf('branch refs/heads/'), head: isUnborn ? undefined : head }];
  });
}

/** Like `listWorktrees`, but without running git (gitrepository-layout(5)). A bare repository has no main worktree. */
export function linkedWorktrees(commonDir: string): Pick<ListedWorktree, 'path' | 'gitDir'>[] {
  const main = basename(commonDir) === '.git' ? [{ path: dirname(commonDir), gitDir: commonDir }] : [];
  return [
    ...main,
    // Built without `join`, which for many worktrees takes longer than reading their files.
    ...entries(`${commonDir}/worktrees`).flatMap((name) => {
      const gitDir = `${commonDir}/worktrees/${name}`;
      const dotGit = readText(`${gitDir}/gitdir`).replace(/\n$/, '');
      if (dotGit === '') return [];
      const isPlain = dotGit.startsWith('/') && dotGit.endsWith('/.git');
      const path = isPlain ? dotGit.slice(0, -'/.git'.length) : dirname(resolve(gitDir, dotGit));
      return isTryTree(path) ? [] : [{ path, gitDir }];
    }),
  ];
}

interface StatusOptions {
  /** Only these paths (relative to the top of the working tree); all when left out. */
  readonly paths?: readonly string[];
  /** Milliseconds for each git process. */
  readonly timeoutMs?: number | undefined;
  /** Where to store contents of changed files; without it they are only hashed. */
  readonly scratch?: ScratchStore;
  /** An earlier status: files with the same stamp are not read again. */
  readonly known?: TreeStatus | undefined;
  /** Whether to read no content at all, because the paths that differ are enough. */
  readonly namesOnly?: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Reads the working tree's difference from HEAD: one `git status`, and one `git hash-object` when files changed. Takes no
 * lock and leaves the index as it is.
 *
 * @throws Failure `environment` when git takes too long
 */
export async function readTreeStatus(top: string, options: StatusOptions): Promise<TreeStatus> {
  // If the caller names paths, they have just changed, so we read them while `git status` runs.
  const { paths, known, namesOnly = false, now } = options;
  const early = paths === undefined ? undefined : readFiles(top, paths, options);
  const [{ head, entries }, given] = await Promise.all([runStatus(top, options), early]);
  const found = [...entries].map(([key, entry]) => {
    const [stamp, old] = [stampOf(top, entry), known?.dirty.get(entry.path)];
    const isSame = stamp !== '' && old?.stamp === stamp;
    return { key, entry: { ...entry, stamp }, oid: isSame ? (old.disk?.oid ?? null) : null };
  });
  // Regular files whose content is known neither from the index nor from an earlier status.
  const unread = found.filter(({ entry: { disk }, oid }) => isFile(disk) && (disk.oid ?? oid) === null);
  const names = namesOnly || given !== undefined ? [] : unread.map(({ entry }) => entry.path);
  const oids = given ?? (await readFiles(top, names, options));
  const dirty = found.map(({ key, entry, oid }): [string, DirtyPath] => {
    const { path, disk } = entry;
    if (disk === null) return [key, entry];
    const like = entry.head?.oid ?? entry.index?.oid ?? head.oid ?? '';
    const read = isFile(disk) ? oids.get(path) : undefined;
    // git-hash-object(1) would follow a symbolic link, whose content is its target's path.
    const link =
      disk.mode === '120000' && disk.oid === null ? contentState(top, entry, like)?.oid : undefined;
    return [key, { ...entry, disk: { ...disk, oid: read ?? oid ?? disk.oid ?? link ?? null } }];
  });
  return { head, dirty: new Map(dirty), at: now };
}

const isFile = (state: FileState): state is NonNullable<FileState> => state?.mode.startsWith('100') === true;

/** Hashes the contents of files. If git fails or is too slow, we know only that the files changed. */
const readFiles = (top: string, paths: readonly string[], options: StatusOptions) =>
  hashFiles(top, paths, options).catch(() => new Map<string, Oid>());

type StatusEntry = Omit<DirtyPath, 'stamp'>;

/** Size, times and inode; empty when there is no file. */
export function stampOf(top: string, named: FilePath): string {
  const stat = exactStatOf(diskPath(top, named));
  if (stat === undefined) return '';
  return [stat.size, stat.mtimeNs, stat.ctimeNs, stat.ino].join(':');
}

/** The key of an entry: its path, or the bytes of a path that is not UTF-8 and would have the key of another entry. */
function keyIn(entries: ReadonlyMap<string, FilePath>, { path, raw }: FilePath): string {
  const other = entries.get(path);
  return other === undefined || other.raw === raw ? path : (raw ?? path);
}

/** Where a path of the working tree is on the disk; as bytes if its name is not UTF-8. */
export function diskPath(top: string, { path, raw }: FilePath): string | Buffer {
  if (raw === undefined) return join(top, path);
  return Buffer.concat([Buffer.from(`${top}/`), Buffer.from(raw, 'latin1')]);
}

/**
 * Returns the state of a path on the disk without git: no filter is applied, and content too big to read is not hashed. `like`:
 * any object name of the repository, which shows the object format.
 */
export function contentState(top: string, named: FilePath, like: string, most = MAX_READ): FileState {
  const state = diskState(top, named);
  const file = diskPath(top, named);
  const isLink = state?.mode === '120000';
  if (!isLink && (!isFile(state) || (lstatOf(file)?.size ?? 0) > most)) return state;
  try {
    const content = isLink ? readlinkSync(file, 'buffer') : readFileSync(file);
    return { ...state, oid: parseOid(objectName(formatOf(like), 'blob', content)) ?? null };
  } catch {
    return state;
  }
}

/** Last change of a file's content, milliseconds since the epoch. */
export function changedAt(top: string, path: string): number | undefined {
  return lstatOf(join(top, path))?.mtimeMs;
}

/** Arguments with which git-status(1) lists what differs from HEAD, file by file. */
const STATUS = [
  ...[
    '--literal-pathspecs',
    'status',
    '--porcelain=v2',
    '-z',
    '--branch',
    '--no-renames',
    '--no-ahead-behind',
  ],
  ...['--untracked-files=all', '--ignore-submodules=dirty', '--'],
];

/** Reads what git-status(1) says of these paths, or of all, in porcelain format version 2 with `-z`. */
async function runStatus(
  top: string,
  { paths, timeoutMs }: StatusOptions,
): Promise<{ head: HeadPlace; entries: ReadonlyMap<string, StatusEntry> }> {
  const { stdout } = await requireGit([...STATUS, ...(paths ?? [])], { cwd: top, timeoutMs });
  let oid: Oid | null = null;
  let ref = 'HEAD';
  const entries = new Map<string, StatusEntry>();
  for (const line of stdout.toString('latin1').split('\0')) {
    if (line.startsWith('# branch.oid ')) oid = parseOid(line.slice('# branch.oid '.length)) ?? null;
    else if (line.startsWith('# branch.head ')) {
      const name = utf8(line.slice('# branch.head '.length));
      ref = name === '(detached)' ? 'HEAD' : `refs/heads/${name}`;
    } else {
      const entry = parseEntry(line, top);
      if (entry === undefined || paths?.includes(entry.path) === false) continue;
      // After `git rm --cached`, git lists the path twice: as deleted from the index, and as untracked.
      const key = keyIn(entries, entry);
      const removed = line.startsWith('? ') ? entries.get(key) : undefined;
      entries.set(key, removed === undefined ? entry : { ...removed, disk: entry.disk });
    }
  }
  return { head: { ref, oid }, entries };
}

function parseEntry(line: BinaryText, top: string): StatusEntry | undefined {
  const fields = line.split(' ');
  const rest = (count: number) => named(fields.slice(count).join(' '));
  switch (fields[0]) {
    case '1': {
      const [, xy = '', , mH = '', mI = '', mW = '', hH = '', hI = ''] = fields;
      const index = listedState(mI, hI);
      const onDisk = xy[1] === '.' ? index : listedState(mW, '');
      const intended = xy === '.A' ? { intended: true as const } : {};
      return { ...rest(8), head: listedState(mH, hH), index, disk: onDisk, ...intended };
    }
    case 'u': {
      // In conflict: "ours" is HEAD's version. The index's state has only the mode of ours, theirs or the base.
      const [, , , m1 = '', m2 = '', m3 = '', mW = '', , h2 = ''] = fields;
      const index = [m2, m3, m1].map((mode) => listedState(mode, '')).find((one) => one !== null) ?? null;
      return { ...rest(10), head: listedState(m2, h2), index, disk: listedState(mW, '') };
    }
    case '?':
      if (line.endsWith('/') && isLinkedWorktree(join(top, rest(1).path))) return undefined;
      return { ...rest(1), head: null, index: null, disk: diskState(top, rest(1)) };
    default:
      return undefined;
  }
}

/** Whether a folder is a linked worktree inside this one. Its uncommitted work is not this worktree's. */
function isLinkedWorktree(folder: string): boolean {
  const found = discoverRepository(folder);
  return found?.workTree === resolve(folder) && found.gitDir !== found.commonDir;
}

function named(bytes: BinaryText): FilePath {
  const path = utf8(bytes);
  return path.includes('\ufffd') ? { path, raw: bytes } : { path };
}

/** The state of an untracked path, with its mode on the disk. A folder is another repository, and gets a submodule's mode. */
export function diskState(top: string, named: FilePath): FileState {
  const stat = lstatOf(diskPath(top, named));
  if (stat === undefined) return null;
  if (stat.isSymbolicLink()) return { mode: '120000', oid: null };
  if (stat.isDirectory()) return { mode: '160000', oid: null };
  return { mode: (stat.mode & 0o100) === 0 ? '100644' : '100755', oid: null };
}
