import {
  type BigIntStats,
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const MAX_TRIES = 20;

interface Entry {
  readonly stat: BigIntStats;
  /** A file's bytes, a link's target; empty for a folder. */
  readonly content: Buffer;
}

/** A folder's state with all its contents. It tells what has changed since, and can restore the folder. */
export class Snapshot {
  readonly #root: string;
  readonly #entries = new Map<string, Entry>();

  constructor(root: string) {
    this.#root = root;
    for (const path of below(root)) this.#remember(path);
  }

  #remember(path: string): void {
    const stat = lstatSync(path, { bigint: true });
    const content = stat.isFile()
      ? readFileSync(path)
      : Buffer.from(stat.isSymbolicLink() ? readlinkSync(path) : '');
    this.#entries.set(path, { stat, content });
  }

  /** Paths that appeared, disappeared, or were touched in any way. Only a new mode counts as touching a folder. */
  changed(): Set<string> {
    const now = below(this.#root);
    const changed = new Set(now.filter((path) => !this.#isSame(path)));
    const present = new Set(now);
    for (const path of this.#entries.keys()) if (!present.has(path)) changed.add(path);
    return changed;
  }

  #isSame(path: string): boolean {
    const entry = this.#entries.get(path);
    const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (entry === undefined || stat?.mode !== entry.stat.mode) return false;
    // Nobody can set a file's ctime.
    return stat.isDirectory() || (stat.ino === entry.stat.ino && stat.ctimeNs === entry.stat.ctimeNs);
  }

  /** Puts everything back, including times. Tries again, because a process that is ending may still change something. */
  restore(): void {
    let last: unknown;
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      try {
        const changed = this.changed();
        if (changed.size === 0) return;
        this.#putBack(changed);
      } catch (error) {
        last = error;
      }
    }
    throw new Error('something keeps changing files', { cause: last });
  }

  #putBack(changed: ReadonlySet<string>): void {
    for (const path of changed) rmSync(path, { recursive: true, force: true });
    const again = [...this.#entries.keys()].filter((path) => changed.has(path) || !isThere(path));
    for (const path of again) this.#make(path);
    for (const [path, { stat }] of [...this.#entries].reverse()) {
      if (stat.isDirectory() || (again.includes(path) && stat.isFile())) utimesSync(path, ...timesOf(stat));
    }
    for (const path of again) {
      const { content } = this.#entries.get(path)!;
      this.#entries.set(path, { content, stat: lstatSync(path, { bigint: true }) });
    }
  }

  #make(path: string): void {
    const { stat, content } = this.#entries.get(path)!;
    if (stat.isSymbolicLink()) {
      symlinkSync(content, path);
      return;
    }
    if (stat.isDirectory()) mkdirSync(path);
    else writeFileSync(path, content);
    chmodSync(path, Number(stat.mode & 0o7777n));
  }
}

function timesOf({ atimeNs, mtimeNs }: BigIntStats): [number, number] {
  return [Number(atimeNs) / 1e9, Number(mtimeNs) / 1e9];
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Every path in a folder, the folder itself first; a folder that cannot be read counts as empty. */
function below(folder: string): string[] {
  const found: string[] = [];
  const waiting = [folder];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const stat = lstatSync(at, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    found.push(at);
    if (!stat.isDirectory()) continue;
    for (const name of readdirSync(at)) waiting.push(join(at, name));
  }
  return found;
}
