import { readFileSync, statSync, readlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Oid, isZeroOid, parseOid } from '../domain/names.ts';
import { type GitOptions, type BinaryText, utf8, listedState, requireGit } from './run.ts';
import type { FileState, DirtyPath, HeadPlace, TreeStatus } from '../domain/ledger/tree-status.ts';
import { discoverRepository } from './discover.ts';
import { formatOf, objectName } from './hash.ts';
import { MAX_READ, type ScratchStore, hashFiles } from './scratch-store.ts';
import { isTryTree } from '../host/folders.ts';
import { entries, exactStatOf, lstatOf } from '../host/disk.ts';

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
  const result = await requireGit(['worktree', 'list', '--porcelain', '-z'], options);
  return result.stdout
    .toString('utf8')
    .split('\0\0')
    .flatMap((block) => {
      const lines = block.split('\0').filter((line) => line !== '');
      const path = lines.find((line) => line.startsWith('worktree '))?.slice('worktree '.length);
      const branch = lines.find((line) => line.startsWith('branch refs/heads/'));
      const head = parseOid(lines.find((line) => line.startsWith('HEAD '))?.slice('HEAD '.length) ?? '');
      if (path === undefined || isTryTree(path)) return [];
      return [
        {
          path,
          gitDir: gitDirOf(path),
          branch: branch?.slice('branch refs/heads/'.length),
          head: head === undefined || isZeroOid(head) ? undefined : head,
        },
      ];
    });
}

/** `.git` is a folder in the main worktree, a file that names the folder in a linked one, absent in a bare repository. */
function gitDirOf(worktree: string): string {
  const dotGit = join(worktree, '.git');
  const stat = statSync(dotGit, { throwIfNoEntry: false });
  if (stat === undefined) return worktree;
  if (stat.isDirectory()) return dotGit;
  const text = readFileSync(dotGit, 'utf8');
  return resolve(worktree, /^gitdir: (.*?)\n?$/s.exec(text)?.[1] ?? dotGit);
}

/**
 * The main worktree and the linked ones, except the worktree of `try`, read from their files (gitrepository-layout(5)) without
 * starting git. A bare repository has no main one.
 */
export function linkedWorktrees(commonDir: string): Pick<ListedWorktree, 'path' | 'gitDir'>[] {
  const main = basename(commonDir) === '.git' ? [{ path: dirname(commonDir), gitDir: commonDir }] : [];
  return [
    ...main,
    // Built without `join`, which for many worktrees takes longer than reading their files.
    ...entries(`${commonDir}/worktrees`).flatMap((name) => {
      const gitDir = `${commonDir}/worktrees/${name}`;
      const dotGit = textOf(`${gitDir}/gitdir`);
      if (dotGit === undefined) return [];
      const isPlain = dotGit.startsWith('/') && dotGit.endsWith('/.git');
      const path = isPlain ? dotGit.slice(0, -'/.git'.length) : dirname(resolve(gitDir, dotGit));
      return isTryTree(path) ? [] : [{ path, gitDir }];
    }),
  ];
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').replace(/\n$/, '');
  } catch {
    return undefined;
  }
}

/** What to read of a working tree, and what that may cost. */
interface StatusOptions {
  /** Only these paths (relative to the top of the working tree); all when left out. */
  readonly paths?: readonly string[];
  /** Milliseconds for each git process. */
  readonly timeoutMs?: number | undefined;
  /** Where to store contents of changed files; without it they are only hashed. */
  readonly scratch?: ScratchStore;
  /** An earlier status: files with the same stamp are not read again. */
  readonly known?: TreeStatus;
  /** Whether to read no content at all, because the paths that differ are enough. */
  readonly namesOnly?: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Reads the working tree's difference from HEAD: one `git status`, and one `git hash-object` when files changed. Takes no
 * lock and leaves the index as it is.
 *
 * @param top the top folder of the working tree
 * @throws Failure `environment` when git takes too long
 */
export async function readTreeStatus(top: string, options: StatusOptions): Promise<TreeStatus> {
  // Named paths have just changed, so we read them while git looks.
  const { paths } = options;
  const early = paths === undefined ? undefined : readFiles(top, paths, options);
  const [{ head, entries }, given] = await Promise.all([runStatus(top, options), early]);
  const found = entries.map((entry) => ({ ...entry, stamp: stampOf(top, entry) }));
  const unread = given === undefined ? found.filter((entry) => mustRead(entry, options.known)) : [];
  const names = options.namesOnly === true ? [] : unread.map(({ path }) => path);
  const oids = given ?? (await readFiles(top, names, options));
  const dirty = found.map((entry): DirtyPath => {
    const known = options.known?.dirty.get(entry.path);
    const isFile = entry.disk?.mode.startsWith('100') === true;
    const oid =
      (isFile ? oids.get(entry.path) : undefined) ?? sameStamp(entry, known)?.oid ?? linkOf(top, entry, head);
    const disk = oid === undefined || entry.disk === null ? entry.disk : { ...entry.disk, oid };
    return { ...entry, disk };
  });
  return { head, dirty: byName(dirty), at: options.now };
}

/** Hashes the contents of files. If it cannot read a file in time, we know only that the file changed. */
function readFiles(
  top: string,
  paths: readonly string[],
  options: StatusOptions,
): Promise<ReadonlyMap<string, Oid>> {
  return hashFiles(top, paths, options).catch(() => new Map<string, Oid>());
}

type StatusEntry = Omit<DirtyPath, 'stamp'>;
type StampedEntry = DirtyPath;

/** Whether an entry is a regular file whose content neither the index nor an earlier status tells. */
function mustRead(entry: StampedEntry, known: TreeStatus | undefined): boolean {
  const isFile = entry.disk?.mode.startsWith('100') === true && entry.disk.oid === null;
  return isFile && sameStamp(entry, known?.dirty.get(entry.path)) === undefined;
}

function sameStamp(entry: StampedEntry, known: DirtyPath | undefined): { oid: Oid } | undefined {
  const oid = known?.disk?.oid ?? null;
  return known?.stamp === entry.stamp && entry.stamp !== '' && oid !== null ? { oid } : undefined;
}

/** Computes the blob name of a symbolic link, whose content is its target's path: git-hash-object(1) would follow the link. */
function linkOf(top: string, { path, disk, head, index }: StampedEntry, at: HeadPlace): Oid | undefined {
  if (disk?.mode !== '120000' || disk.oid !== null) return undefined;
  const format = (head?.oid ?? index?.oid ?? at.oid ?? '').length === 64 ? 'sha256' : 'sha1';
  try {
    return parseOid(objectName(format, 'blob', readlinkSync(join(top, path), 'buffer')));
  } catch {
    return undefined;
  }
}

/** Size, times and inode; empty when there is no file. */
export function stampOf(top: string, named: Named): string {
  const stat = exactStatOf(diskPath(top, named));
  if (stat === undefined) return '';
  return [stat.size, stat.mtimeNs, stat.ctimeNs, stat.ino].join(':');
}

type Named = Pick<DirtyPath, 'path' | 'raw'>;

function byName(all: readonly DirtyPath[]): Map<string, DirtyPath> {
  const entries = new Map<string, DirtyPath>();
  for (const entry of all) entries.set(keyIn(entries, entry), entry);
  return entries;
}

/** The key of an entry: its path, or the path's bytes if it is not UTF-8 and looks like another path. */
function keyIn(entries: ReadonlyMap<string, Named>, { path, raw }: Named): string {
  const other = entries.get(path);
  return other === undefined || other.raw === raw ? path : (raw ?? path);
}

/** Where a path of the working tree is on the disk, by its bytes where they are not UTF-8. */
export function diskPath(top: string, { path, raw }: Named): string | Buffer {
  if (raw === undefined) return join(top, path);
  return Buffer.concat([Buffer.from(`${top}/`), Buffer.from(raw, 'latin1')]);
}

/**
 * Returns the state of a path on the disk without git: no filter is applied, and content too big to read is not hashed.
 *
 * @param like an object name of the repository, for its format
 */
export function contentState(top: string, named: Named, like: string): FileState {
  const state = diskState(top, named);
  const file = diskPath(top, named);
  const isLink = state?.mode === '120000';
  if (!isLink && (state?.mode.startsWith('100') !== true || (lstatOf(file)?.size ?? 0) > MAX_READ))
    return state;
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
  '--literal-pathspecs',
  'status',
  '--porcelain=v2',
  '-z',
  '--branch',
  '--no-renames',
  '--no-ahead-behind',
  '--untracked-files=all',
  '--ignore-submodules=dirty',
  '--',
];

async function runStatus(
  top: string,
  { paths, timeoutMs }: StatusOptions,
): Promise<{ head: HeadPlace; entries: StatusEntry[] }> {
  const result = await requireGit([...STATUS, ...(paths ?? [])], { cwd: top, timeoutMs });
  return parseStatus(result.stdout.toString('latin1'), top, paths);
}

/** Parses git-status(1), porcelain format version 2 with `-z`: the entries of these paths, or all. */
function parseStatus(
  output: BinaryText,
  top: string,
  paths: readonly string[] | undefined,
): { head: HeadPlace; entries: StatusEntry[] } {
  let oid: Oid | null = null;
  let ref = 'HEAD';
  const entries = new Map<string, StatusEntry>();
  for (const line of output.split('\0')) {
    if (line.startsWith('# branch.oid ')) oid = parseOid(line.slice('# branch.oid '.length)) ?? null;
    else if (line.startsWith('# branch.head ')) {
      const name = utf8(line.slice('# branch.head '.length));
      ref = name === '(detached)' ? 'HEAD' : `refs/heads/${name}`;
    } else {
      const entry = parseEntry(line, top);
      if (entry === undefined || paths?.includes(entry.path) === false) continue;
      // `git rm --cached`: the path is gone from the index, and on the disk as an untracked file.
      const key = keyIn(entries, entry);
      const removed = line.startsWith('? ') ? entries.get(key) : undefined;
      entries.set(key, removed === undefined ? entry : { ...removed, disk: entry.disk });
    }
  }
  return { head: { ref, oid }, entries: [...entries.values()] };
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
      // In conflict: "ours" is HEAD's version. The index holds several versions, so its state is not `null`.
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

/** Whether a folder is a linked worktree inside this one: its uncommitted work is its own, not this one's. */
function isLinkedWorktree(folder: string): boolean {
  const found = discoverRepository(folder);
  return found?.workTree === resolve(folder) && found.gitDir !== found.commonDir;
}

function named(bytes: BinaryText): Named {
  const path = utf8(bytes);
  return path.includes('\ufffd') ? { path, raw: bytes } : { path };
}

/** The state of an untracked path, with its mode on the disk. A folder is a repository of its own. */
export function diskState(top: string, named: Named): FileState {
  const stat = lstatOf(diskPath(top, named));
  if (stat === undefined) return null;
  if (stat.isSymbolicLink()) return { mode: '120000', oid: null };
  if (stat.isDirectory()) return { mode: '160000', oid: null };
  return { mode: (stat.mode & 0o100) === 0 ? '100644' : '100755', oid: null };
}
