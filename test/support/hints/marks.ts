import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestRepository } from '../repository.ts';

/** Who wrote a mark: a session, or a person by hand. */
export type Writer = string;

/** Words that stand in the files and nowhere else. One that stands in a path is known as `<path> <word>`. */
export class Marks {
  readonly #makers = new Map<string, Writer>();
  readonly #given = new Map<string, Writer>();

  make(writer: Writer): string {
    const mark = `mark${this.#makers.size + 1}x`;
    this.#makers.set(mark, writer);
    return mark;
  }

  /** Whose it is: who wrote it, or took the path since. */
  owner(placed: string): Writer | undefined {
    return this.#given.get(placed) ?? this.#makers.get(placed.slice(placed.lastIndexOf(' ') + 1));
  }

  give(placed: Iterable<string>, to: Writer): void {
    for (const one of placed) this.#given.set(one, to);
  }
}

const marksIn = (text: string): string[] => text.match(/mark\d+x/g) ?? [];

/** The marks that are on the disk and not in HEAD, by path. */
export function uncommitted(world: TestRepository, top: string): Map<string, string[]> {
  const options = { cwd: top };
  const status = world.git(['status', '--porcelain=v1', '-z', '-uall', '--no-renames'], options);
  const names = status.split('\0').filter(Boolean);
  return new Map(
    names.map((entry) => {
      const path = entry.slice('XY '.length);
      const file = join(top, path);
      const now = existsSync(file) ? marksIn(readFileSync(file, 'utf8')) : [];
      const before = committed(world, top, 'HEAD', path);
      return [path, now.filter((mark) => !before.has(mark)).map((mark) => `${path} ${mark}`)] as const;
    }),
  );
}

function committed(world: TestRepository, top: string, revision: string, path: string): Set<string> {
  const shown = world.run('git', ['show', `${revision}:${path}`], { cwd: top });
  return new Set(shown.status === 0 ? marksIn(shown.stdout) : []);
}

/** The marks that HEAD has and an older commit had not. */
export function added(world: TestRepository, top: string, from: string): string[] {
  const names = world.git(['diff', '--name-only', '-z', '--no-renames', from, 'HEAD'], { cwd: top });
  return names.split('\0').flatMap((path) => {
    const before = committed(world, top, from, path);
    const now = path === '' ? [] : [...committed(world, top, 'HEAD', path)];
    return now.filter((mark) => !before.has(mark)).map((mark) => `${path} ${mark}`);
  });
}
