import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestRepository } from '../../support/repository.ts';

/** Who wrote a mark: a session, or a person by hand or in another clone. */
export type Writer = string;
export const PERSON = 'a person';

/** Unique words in the files. A mark in a file is written `<path> <word>`. */
export class Marks {
  readonly #makers = new Map<string, Writer>();
  readonly #given = new Map<string, Writer>();

  make(writer: Writer): string {
    const mark = `mark${this.#makers.size + 1}x`;
    this.#makers.set(mark, writer);
    return mark;
  }

  /** A mark's owner: who wrote it, or has been given it since. */
  owner(placed: string): Writer {
    const word = placed.slice(placed.lastIndexOf(' ') + 1);
    return this.#given.get(placed) ?? this.#makers.get(word) ?? PERSON;
  }

  give(placed: Iterable<string>, to: Writer): void {
    for (const one of placed) this.#given.set(one, to);
  }
}

const marksIn = (text: string): string[] => text.match(/mark\d+x/g) ?? [];

/** A path that differs from HEAD. */
export interface Dirty {
  readonly path: string;
  /** As in `git status --porcelain`. */
  readonly xy: string;
  /** The file's text on the disk; `undefined`: no file. */
  readonly text: string | undefined;
  /** The marks that are on the disk but not in HEAD. */
  readonly marks: readonly string[];
}

/** All that differs from HEAD in a working tree, by path. */
export function uncommitted(world: TestRepository, top: string): Map<string, Dirty> {
  const options = { cwd: top };
  const status = world.git(['status', '--porcelain=v1', '-z', '-uall', '--no-renames'], options);
  const names = status.split('\0').filter(Boolean);
  const head = headOf(world, top);
  return new Map(
    names.map((entry) => {
      const path = entry.slice('XY '.length);
      const file = join(top, path);
      const text = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
      const before = committed(world, top, head, path);
      const marks = marksIn(text ?? '').filter((mark) => !before.has(mark));
      return [path, { path, xy: entry.slice(0, 2), text, marks: marks.map((mark) => `${path} ${mark}`) }];
    }),
  );
}

/** The commit at HEAD. */
export const headOf = (world: TestRepository, top: string): string =>
  world.git(['rev-parse', 'HEAD'], { cwd: top });

/** All marks that are uncommitted. */
export const marksOf = (dirty: ReadonlyMap<string, Dirty>): string[] =>
  [...dirty.values()].flatMap(({ marks }) => marks);

/** A cache: what a commit has at a path never changes. */
const seen = new Map<string, Set<string>>();

function committed(world: TestRepository, top: string, oid: string, path: string): Set<string> {
  const key = `${world.root} ${oid}:${path}`;
  const known = seen.get(key) ?? marksAt(world, top, oid, path);
  seen.set(key, known);
  return known;
}

function marksAt(world: TestRepository, top: string, revision: string, path: string): Set<string> {
  const shown = world.run('git', ['show', `${revision}:${path}`], { cwd: top });
  return new Set(shown.status === 0 ? marksIn(shown.stdout) : []);
}

/** The marks, with their paths, that `to` has and `from` lacks. */
export function added(world: TestRepository, top: string, from: string, to: string): string[] {
  const names = world.git(['diff', '--name-only', '-z', '--no-renames', from, to], { cwd: top });
  return names.split('\0').flatMap((path) => {
    const before = committed(world, top, from, path);
    const now = path === '' ? [] : [...committed(world, top, to, path)];
    return now.filter((mark) => !before.has(mark)).map((mark) => `${path} ${mark}`);
  });
}
