import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join, relative } from 'node:path';
import { inject } from 'vitest';

/** Equal worlds are built once in a test run, and copied from then on. */

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of this run's templates (templates-setup.ts); tests without such a folder build every world. */
    templates: string | undefined;
  }
}

interface Kept {
  /** Where the world was when it was built. */
  readonly root: string;
  /** The files that contain the path `root`, relative to it. */
  readonly naming: readonly string[];
}

/**
 * Fills a world's empty folder with a copy of the world that was built for the same key.
 *
 * @returns false when there is none
 */
export function copyTemplate(key: string, root: string): boolean {
  const kept = keptAt(key);
  if (kept === undefined || !existsSync(kept)) return false;
  const { root: was, naming } = JSON.parse(readFileSync(join(kept, 'kept.json'), 'utf8')) as Kept;
  copyFolder(join(kept, 'world'), root);
  for (const name of naming) {
    const file = join(root, name);
    writeFileSync(file, readFileSync(file, 'latin1').replaceAll(was, root), 'latin1');
  }
  return true;
}

/** Keeps a copy of a world for equal worlds, unless its path occurs where we cannot rewrite it. */
export function keepTemplate(key: string, root: string): void {
  const kept = keptAt(key);
  const naming = filesNaming(root);
  if (kept === undefined || naming === undefined || existsSync(kept)) return;
  const own = mkdtempSync(`${kept}-`);
  mkdirSync(join(own, 'world'));
  copyFolder(root, join(own, 'world'));
  writeFileSync(join(own, 'kept.json'), JSON.stringify({ root, naming } satisfies Kept));
  try {
    renameSync(own, kept);
  } catch {
    // Another test process was faster.
    rmSync(own, { recursive: true, force: true });
  }
}

function keptAt(key: string): string | undefined {
  const folder = inject('templates');
  return folder === undefined
    ? undefined
    : join(folder, createHash('sha256').update(key).digest('hex').slice(0, 16));
}

/** Keeps links, modes, and times to the nanosecond. (fs.cpSync rounds times.) */
function copyFolder(from: string, to: string): void {
  const { status, stderr } = spawnSync('cp', ['-a', `${from}/.`, to], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`cp: ${stderr}`);
}

/** The files that contain the folder's path; `undefined` if a link or a name contains it. git's objects never do. */
function filesNaming(root: string): string[] | undefined {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const naming: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.name.includes(basename(root))) return undefined;
    if (entry.isSymbolicLink() && readlinkSync(path).includes(root)) return undefined;
    if (!entry.isFile() || /\/objects\/(?:[0-9a-f]{2}|pack)\//.test(path)) continue;
    if (readFileSync(path, 'latin1').includes(root)) naming.push(relative(root, path));
  }
  return naming;
}
