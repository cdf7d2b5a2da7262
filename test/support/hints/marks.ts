import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestRepository } from '../repository.ts';

/** Who wrote a mark: a session, or a person by hand. */
export type Writer = string;

/** Words that stand in the files and nowhere else, each with the one whose they are. */
export class Marks {
  readonly #owners = new Map<string, Writer>();
  #next = 0;

  make(writer: Writer): string {
    const mark = `mark${(this.#next += 1)}x`;
    this.#owners.set(mark, writer);
    return mark;
  }

  owner(mark: string): Writer | undefined {
    return this.#owners.get(mark);
  }

  give(marks: Iterable<string>, to: Writer): void {
    for (const mark of marks) this.#owners.set(mark, to);
  }
}

const marksOf = (text: string): string[] => text.match(/mark\d+x/g) ?? [];

/** The marks that are on the disk and not in HEAD, by path. */
export function uncommitted(world: TestRepository, top: string): Map<string, string[]> {
  const options = { cwd: top };
  const names = world
    .git(['status', '--porcelain=v1', '-z', '-uall', '--no-renames'], options)
    .split('\0')
    .filter(Boolean)
    .map((entry) => entry.slice(3));
  return new Map(
    names.map((path) => {
      const file = join(top, path);
      const now = existsSync(file) ? marksOf(readFileSync(file, 'utf8')) : [];
      const shown = world.run('git', ['show', `HEAD:${path}`], options);
      const before = new Set(shown.status === 0 ? marksOf(shown.stdout) : []);
      return [path, now.filter((mark) => !before.has(mark))] as const;
    }),
  );
}

/** The marks that a commit adds. */
export function added(world: TestRepository, top: string, range: string): string[] {
  const patch = world.git(['diff', '-U0', '--no-renames', range], { cwd: top });
  return patch
    .split('\n')
    .filter((line) => line.startsWith('+') && !line.startsWith('+++'))
    .flatMap(marksOf);
}
