import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type RepositoryOptions, TestRepository } from './repository.ts';

const FIXTURES = join(import.meta.dirname, '..', '..', 'fixtures', 'predecessors');

/** A repository in which a predecessor was used before. */
export class PredecessorWorld extends TestRepository {
  /** Claude's memory folder of this project. */
  readonly memory: string;

  constructor(options: RepositoryOptions = {}) {
    super(options);
    this.memory = join(this.home, '.claude', 'projects', this.path.replace(/[/\\.]/g, '-'), 'memory');
  }

  /** Puts a predecessor's files where it keeps them; every `@HEAD@` becomes HEAD. */
  has(predecessor: 'guard' | 'handover' | 'structured'): this {
    const [from, to] = {
      guard: [join(FIXTURES, 'guard', 'memory'), this.memory],
      handover: [join(FIXTURES, 'handover'), this.path],
      structured: [join(FIXTURES, 'structured'), join(this.path, 'grimoires', 'loa', 'handoffs')],
    }[predecessor] as [string, string];
    mkdirSync(to, { recursive: true });
    cpSync(from, to, { recursive: true });
    const head = this.git(['rev-parse', 'HEAD']);
    for (const name of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
      const file = join(to, name);
      if (!statSync(file).isFile()) continue;
      const text = readFileSync(file, 'utf8');
      if (text.includes('@HEAD@')) writeFileSync(file, text.replaceAll('@HEAD@', head));
    }
    return this;
  }

  /** Writes a file, and its folder if it is missing, and makes the file `age` seconds old. */
  put(path: string, content: string | Uint8Array, age = 0): string {
    if (!existsSync(dirname(path))) mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    const time = Date.now() / 1000 - age;
    utimesSync(path, time, time);
    return path;
  }

  /** For each file by its name, what `import --json` says: action, place, owner, state. */
  imported(args: readonly string[] = [], session?: string): Record<string, string> {
    const { items } = this.json(['import', ...args], session === undefined ? {} : { session });
    const lines = items.map((item): [string, string] => {
      const { file, action, branch, topic, owner, state } = item as Readonly<Record<string, string | null>>;
      const place = branch === null ? '' : ` ${branch}/${topic} ${owner} ${state}`;
      return [file?.split('/').at(-1) ?? '', `${action}${place}`];
    });
    return Object.fromEntries(lines);
  }

  /** Every value under refs/handoffs*, to see that nothing was changed. */
  values(): string {
    return this.git(['for-each-ref', 'refs/handoffs', 'refs/handoffs-local']);
  }

  /** Trailers of a handoff's tip, by key. */
  trailers(place: string): Record<string, string> {
    const text = this.git(['log', '-1', '--format=%(trailers:only,unfold)', `refs/handoffs/${place}`]);
    return Object.fromEntries(
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => line.split(': ', 2) as [string, string]),
    );
  }
}
