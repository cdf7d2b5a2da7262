import {
  type Dirent,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { exists, isFolder, lstatOf, quietly } from './disk.ts';

/**
 * Makes the ignored dependencies of one tree usable in another, without copying them. Some point into the working tree: a
 * workspace's link in node_modules, the path of an editable install in a virtual environment, the paths that composer's files
 * build from their own location. In the other tree, these must point into that tree, or a test would read the wrong files. So a
 * folder of dependencies becomes a folder with a link for each entry, except that
 *
 * - a link into the working tree becomes one to the same place in the other tree;
 * - a folder that may hold such links or paths (`@scope`, `site-packages`) is made in the same way;
 * - a file in these folders is copied, with the path of the working tree replaced;
 * - a cache is left out: the tools in the other tree make their own, which the next run removes.
 */
const OPENED = /^(?:@.*|\.bin|bin|lib|lib64|python[\d.]+|site-packages|composer)$/;
const PRIVATE = /^(?:\.cache|\.vite.*|__pycache__)$/;
/** Bytes. A bigger file is linked instead of copied: we assume that it contains no path of the working tree. */
const MAX_COPIED = 1 << 20;

interface Trees {
  /** The working tree, without symbolic links. */
  readonly from: string;
  readonly to: string;
}

/** Links dependencies (paths from the top) into the other tree, unless they are there or their parent folder is missing. */
export function linkDependencies(trees: Trees, paths: readonly string[]): void {
  for (const path of paths) {
    const target = join(trees.to, path);
    if (lstatOf(target) !== undefined || !isFolder(dirname(target))) continue;
    const source = join(trees.from, path);
    if (lstatOf(source)?.isDirectory() === true) linkFolder(trees, source, target);
    else linkEntry(trees, source, target);
  }
}

function linkFolder(trees: Trees, source: string, target: string): void {
  mkdirSync(target);
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (PRIVATE.test(entry.name)) continue;
    if (isOpened(entry)) linkFolder(trees, from, to);
    else linkEntry(trees, from, to);
  }
}

const isOpened = (entry: Dirent) => entry.isDirectory() && OPENED.test(entry.name);

function linkEntry({ from, to }: Trees, source: string, target: string): void {
  const stat = lstatOf(source);
  if (stat?.isFile() === true && stat.size <= MAX_COPIED) {
    const text = readFileSync(source, 'latin1');
    const own = Buffer.from(from).toString('latin1');
    const content = text.includes(own) ? replacePath(text, own, Buffer.from(to).toString('latin1')) : text;
    writeFileSync(target, content, { encoding: 'latin1', mode: stat.mode & 0o777 });
    return;
  }
  const real = quietly(() => realpathSync(source));
  if (real === undefined) return;
  const inside = isBelow(real, from) && stat?.isSymbolicLink() === true;
  symlinkSync(inside ? join(to, relative(from, real)) : source, target);
}

const isBelow = (path: string, top: string) => path === top || path.startsWith(`${top}/`);

function replacePath(text: string, path: string, by: string): string {
  return text.split(path).reduce((done, rest) => `${done}${/^[\w.-]/.test(rest) ? path : by}${rest}`);
}

/**
 * Returns the environment for the other tree. A path into the working tree, alone or in a list (PYTHONPATH, the PATH of an
 * activated virtual environment), becomes the path in the other tree, if it exists. HOME stays as it is.
 */
export function environmentIn({ from, to }: Trees, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const moved = (path: string) => {
    if (!isBelow(path, from) || isBelow(path, to)) return path;
    const there = join(to, relative(from, path));
    return exists(there) ? there : path;
  };
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      name === 'HOME' ? value : value?.split(':').map(moved).join(':'),
    ]),
  );
}

/** Whether a path is one of the named dependencies. A name with a slash is a path from the top, any other a base name. */
export function isDependency(path: string, names: readonly string[]): boolean {
  return names.some((name) =>
    name.includes('/') ? path === name.replace(/\/$/, '') : basename(path) === name,
  );
}
