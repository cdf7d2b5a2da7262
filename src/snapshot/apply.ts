import { readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import type { FileState } from '../domain/ledger/file-state.ts';
import type { Oid } from '../domain/names.ts';
import { escapeLine } from '../domain/surfacing.ts';
import { asCheckedOut, filteredPaths, plainCheckouts } from '../git/filters.ts';
import { readObjects } from '../git/objects.ts';
import { whileLocked, setEntries } from '../git/private-index.ts';
import { gitFailure, runGit } from '../git/run.ts';
import { lstatOf } from '../git/stat.ts';
import { diskPath, stampOf } from '../git/work-tree.ts';
import { obstacle, putFile } from '../host/put-file.ts';
import { type PlannedPath, type TreePlace, nameBytes } from './plan.ts';

/** A file or link to write. */
type Written = PlannedPath & { readonly disk: NonNullable<FileState> & { readonly oid: Oid } };

/**
 * Carries out a plan: removes, writes and stages files. After a kill the same command finishes the rest: files that are
 * already as they should be count as restored.
 *
 * @throws Failure `lost-race` when a path has changed since the plan was made; it is not overwritten
 */
export async function applyPlan({ top }: TreePlace, paths: readonly PlannedPath[]): Promise<void> {
  const changing = paths.filter(({ writes }) => writes);
  for (const planned of changing.filter(({ disk }) => disk === null)) remove(top, planned);
  const written = changing.filter((one): one is Written => one.disk !== null && one.disk.oid !== null);
  // The attributes decide how git writes the other files.
  const isFirst = ({ path }: PlannedPath) => path === '.gitattributes' || path.endsWith('/.gitattributes');
  await write(top, written.filter(isFirst));
  await write(
    top,
    written.filter((one) => !isFirst(one)),
  );
  await stage(top, paths);
}

function remove(top: string, planned: PlannedPath): void {
  requireUntouched(top, planned);
  unlinkSync(join(top, planned.path));
  // As git does: folders that are now empty are removed, too.
  for (let folder = dirname(planned.path); folder !== '.'; folder = dirname(folder)) {
    try {
      rmdirSync(join(top, folder));
    } catch {
      return;
    }
  }
}

async function write(top: string, files: readonly Written[]): Promise<void> {
  const contents = await checkouts(top, files);
  for (const [at, file] of files.entries()) {
    const content = contents[at];
    if (content === undefined) throw lost(file.path);
    requireUntouched(top, file);
    const { disk, isPrivate } = file;
    removeEmptyFolders(diskPath(top, file));
    putFile(top, { path: nameBytes(file), mode: disk.mode, content, isPrivate });
  }
}

/** An earlier run that was killed may have left folders without files. `rmdirSync` throws for any other folder. */
function removeEmptyFolders(folder: string | Buffer): void {
  if (lstatOf(folder)?.isDirectory() !== true) return;
  for (const name of readdirSync(folder)) removeEmptyFolders(join(folder.toString(), name));
  rmdirSync(folder);
}

/** Throws if the path has changed since the plan was made, or a link now leads elsewhere. */
function requireUntouched(top: string, planned: PlannedPath): void {
  const why = obstacle(top, nameBytes(planned), new Set());
  // A folder has been removed by now; a file may have been removed to make room for another's folder.
  const now = stampOf(top, planned);
  if (why === undefined && (now === planned.stamp || (now === '' && planned.head === null))) return;
  const message = `${escapeLine(planned.path)} changed while it was restored; it was left as it is`;
  throw new Failure('lost-race', message, { hint: 'git handoff status' });
}

/** What a checkout would write, in the order of the files. */
async function checkouts(top: string, files: readonly Written[]): Promise<(Buffer | undefined)[]> {
  const names = files.map(({ path }) => path);
  const filtered = await filteredPaths({ cwd: top }, names);
  const isStored = ({ own, disk }: Written) => own !== undefined || disk.mode === '120000';
  const stored = files.filter(isStored);
  const plain = files.filter((file) => !isStored(file) && !filtered.has(file.path));
  const objects = await readObjects(
    { cwd: top },
    stored.map(({ own, disk }) => ({ name: own ?? disk.oid })),
  );
  const written = await plainCheckouts(
    { cwd: top },
    plain.map(({ path, disk }) => ({ path, oid: disk.oid })),
  );
  const found = new Map<Written, Buffer | undefined>([
    ...stored.map((file, at) => [file, objects[at]?.content] as const),
    ...plain.map((file, at) => [file, written[at]] as const),
  ]);
  for (const file of files)
    if (!found.has(file)) found.set(file, await asCheckedOut(top, file.path, file.disk.oid));
  return files.map((file) => found.get(file));
}

async function stage(top: string, paths: readonly PlannedPath[]): Promise<void> {
  const entries = new Map(paths.filter(({ stages }) => stages).map(({ path, index }) => [path, index]));
  if (entries.size > 0) {
    const result = await whileLocked(() => setEntries(top, entries));
    if (result.code !== 0) throw gitFailure('update-index', result);
  }
  const intended = paths.filter((one) => one.intended).map(({ path }) => path);
  if (intended.length === 0) return;
  const args = ['--literal-pathspecs', 'add', '--force', '--intent-to-add'];
  const input = intended.map((path) => `${path}\0`).join('');
  const added = await whileLocked(() =>
    runGit([...args, '--pathspec-from-file=-', '--pathspec-file-nul'], { cwd: top, input }),
  );
  if (added.code !== 0) throw gitFailure('add', added);
}

function lost(path: string): Failure {
  return new Failure('integrity', `the content of ${escapeLine(path)} cannot be read`, {
    hint: 'git fsck --connectivity-only',
  });
}
