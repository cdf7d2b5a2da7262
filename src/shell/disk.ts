import { MAX_PATH } from '../domain/names.ts';
import { type ShellWorld, isKnown } from './effects.ts';
import { hasWildcard, patternMatcher, unescapePattern } from './pattern.ts';

const MAX_LINKS = 16;
const MAX_MATCHES = 4096;
const MAX_READS = 2000;

/** Returns the folder of a path, as dirname(1) prints it. */
export function dirname(path: string): string {
  const trimmed = trimSlashes(path);
  const slash = trimmed.lastIndexOf('/');
  return slash < 0 ? '.' : slash === 0 ? '/' : trimSlashes(trimmed.slice(0, slash));
}

/** Returns the last component of a path, as basename(1) prints it. */
export function basename(path: string): string {
  const trimmed = trimSlashes(path);
  return trimmed === '/' ? '/' : trimmed.slice(trimmed.lastIndexOf('/') + 1);
}

function trimSlashes(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}

/** Whether `path` is `folder` or is inside it; both must be normalised. */
export function isBelow(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

/**
 * The disk as the command will find it: the caller's world, plus the links, folders, files and known texts that earlier
 * parts of the same command make (`printf … > w.sh; sh w.sh`).
 */
export class Disk {
  readonly world: ShellWorld;
  readonly #links = new Map<string, string>();
  readonly #texts = new Map<string, { readonly text: string }>();
  readonly #folders = new Set<string>();
  readonly #files = new Set<string>();
  #reads = 0;

  constructor(world: ShellWorld) {
    this.world = world;
  }

  /** Returns the absolute, normalised path that a system call in `cwd` reaches, following links this command makes. */
  resolve(cwd: string, path: string, follows: boolean): string {
    const absolute = path.startsWith('/') ? path : `${cwd}/${path}`;
    // Most paths are normal already: no empty part, no `.` and no `..`.
    if (this.#links.size === 0 && !/\/(?:\.{0,2}(?:\/|$))|^\/proc\//.test(absolute)) return absolute;
    return this.#walk(absolute.replace(/^\/proc\/(?:self|thread-self)\/cwd(?=\/|$)/, cwd), follows, 0);
  }

  #walk(path: string, follows: boolean, depth: number): string {
    const parts = path.split('/').filter((part) => part !== '' && part !== '.');
    let done = '';
    for (const [index, part] of parts.entries()) {
      if (part === '..') {
        const target = this.#target(done, true);
        if (target !== undefined && depth < MAX_LINKS) done = this.#walk(target, true, depth + 1);
        done = done.slice(0, Math.max(0, done.lastIndexOf('/')));
        continue;
      }
      done += `/${part}`;
      const made = follows || index < parts.length - 1 ? this.#target(done, false) : undefined;
      if (made !== undefined && depth < MAX_LINKS) done = this.#walk(made, true, depth + 1);
      if (done === '/') done = '';
    }
    return done === '' ? '/' : done;
  }

  /** Returns the absolute target of a link that this command made or, with `stored`, of a link on the disk. */
  #target(path: string, stored: boolean): string | undefined {
    const made = this.#links.get(path);
    if (made !== undefined || !stored || path === '') return made;
    const text = this.world.readLink(path);
    return text === undefined || text.startsWith('/') ? text : `${dirname(path)}/${text}`;
  }

  link(path: string, target: string): void {
    if (path !== target) this.#links.set(path, target);
  }

  addFile(path: string): void {
    this.#files.add(path);
  }

  addFolder(path: string): void {
    this.#folders.add(path);
  }

  /** Whether this command has made or renamed folders, so that a folder may exist that is not on the disk yet. */
  get changed(): boolean {
    return this.#folders.size > 0 || this.#links.size > 0;
  }

  isDirectory(path: string): boolean {
    return this.#folders.has(path) || this.world.isDirectory(this.#links.get(path) ?? path);
  }

  exists(path: string): boolean {
    if (this.#files.has(path) || this.#links.has(path) || this.isDirectory(path)) return true;
    return this.world.entries(dirname(path)).includes(basename(path));
  }

  /** Remembers what a file will hold: the text of `source`, which may still grow. */
  setText(path: string, source: { readonly text: string }): void {
    this.#texts.set(path, source);
  }

  text(path: string): string | undefined {
    return this.#texts.get(path)?.text;
  }

  /** Expands a pathname pattern, relative to `cwd`. Returns nothing when nothing matches or the search is too costly. */
  glob(cwd: string, pattern: string): string[] {
    if (pattern.length > MAX_PATH || !isKnown(pattern) || !isKnown(cwd)) return [];
    let found = [pattern.startsWith('/') ? '' : '.'];
    for (const part of pattern.split('/').filter((part) => part !== ''))
      found = this.#matches(cwd, found, part);
    return found.map((path) => (path.startsWith('./') ? path.slice(2) : path)).sort();
  }

  #matches(cwd: string, folders: readonly string[], part: string): string[] {
    if (!hasWildcard(part)) {
      const name = unescapePattern(part);
      return folders.map((folder) => `${folder}/${name}`).filter((path) => this.#present(cwd, path));
    }
    const isMatch = patternMatcher(part);
    const hidden = /^\\?\./.test(part);
    const found: string[] = [];
    for (const folder of folders) {
      if (this.#reads++ > MAX_READS || found.length > MAX_MATCHES) break;
      for (const name of this.world.entries(this.resolve(cwd, folder === '' ? '/' : folder, true))) {
        if ((hidden || !name.startsWith('.')) && isMatch(name)) found.push(`${folder}/${name}`);
      }
    }
    return found;
  }

  #present(cwd: string, path: string): boolean {
    return this.#reads++ <= MAX_READS && this.exists(this.resolve(cwd, path, true));
  }
}
