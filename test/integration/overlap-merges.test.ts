import { chmodSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { TestRepository } from '../support/repository.ts';

/** `GIT_HANDOFF_PAIRS=500 GIT_HANDOFF_SEED=7` tries more pairs, and other ones. */
const PAIRS = Number(process.env['GIT_HANDOFF_PAIRS'] ?? 25);
const SEED = Number(process.env['GIT_HANDOFF_SEED'] ?? 1);

/** What somebody does in a worktree; numbers choose the file, the line and the name. */
interface Act {
  readonly kind: 'edit' | 'delete' | 'add' | 'mode' | 'commit';
  readonly file: number;
  readonly line: number;
}

const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom(...(['edit', 'edit', 'edit', 'delete', 'add', 'mode', 'commit'] as const)),
  file: fc.nat(20),
  line: fc.nat(11),
});

const FILES = ['top', 'a/one', 'a/two', 'a/deep/three', 'b/four', 'b/five\nsix'];
const textOf = (name: string) => Array.from({ length: 12 }, (_, n) => `${name} ${n}\n`).join('');

class Pair extends TestRepository {
  readonly other = join(this.root, 'other');

  constructor() {
    super();
    this.commit('base', Object.fromEntries(FILES.map((name) => [name, textOf(name)])));
    this.git(['worktree', 'add', '-q', '-b', 'other', this.other]);
    this.git(['tag', 'base']);
  }

  /** Restores both worktrees to their initial state. */
  reset(): void {
    for (const cwd of [this.path, this.other]) {
      this.git(['reset', '-q', '--hard', 'base'], { cwd });
      this.git(['clean', '-qfdx'], { cwd });
    }
  }

  play(top: string, acts: readonly Act[], who: string): void {
    for (const one of acts) this.#do(top, one, who);
  }

  #do(top: string, { kind, file, line }: Act, who: string): void {
    if (kind === 'commit') {
      this.git(['add', '-A'], { cwd: top });
      this.git(['commit', '-q', '--allow-empty', '-m', who], { cwd: top });
      return;
    }
    const files = filesOf(top);
    const path = join(top, files[file % files.length] ?? 'top');
    if (kind === 'add') put(join(top, ['a/new', 'c/new', 'top2'][line % 3] ?? ''), `${who}\n`);
    else if (files.length === 0) return;
    else if (kind === 'edit') {
      const lines = readFileSync(path, 'utf8').split('\n');
      lines[line] = `${who} ${file}`;
      put(path, lines.join('\n'));
    } else if (kind === 'delete') rmSync(path);
    else chmodSync(path, 0o755);
  }

  /** The paths with conflicts in a real merge of both worktrees; `undefined` if a bug in git ended it (merge-ort.c has one). */
  conflicts(): string[] | undefined {
    for (const cwd of [this.path, this.other]) {
      this.git(['add', '-A'], { cwd });
      this.git(['commit', '-q', '--allow-empty', '-m', 'all of it'], { cwd });
    }
    const { status } = this.run('git', ['merge', '-q', '-m', 'merged', 'other']);
    if (status === null) {
      rmSync(join(this.path, '.git', 'index.lock'), { force: true });
      return undefined;
    }
    const entries = this.git(['ls-files', '-z', '--unmerged']).split('\0').filter(Boolean);
    const paths = [
      ...new Set(
        entries.map((entry) => entry.slice(entry.indexOf('\t') + 1).replace(/~(?:HEAD|other)(?:_\d+)?$/, '')),
      ),
    ].sort();
    this.git(['reset', '-q', '--hard']);
    expect(status).toBe(paths.length === 0 ? 0 : 1);
    return paths;
  }
}

function filesOf(top: string): string[] {
  return readdirSync(top, { recursive: true, withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isFile() && entry.name !== '.git' && !entry.parentPath.includes('/.git'))
    .map((entry) => join(entry.parentPath, entry.name).slice(top.length + 1))
    .sort();
}

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

describe('the conflicts that overlap names', () => {
  it(
    `are those of a real merge, for files that nobody moved, in ${PAIRS} random pairs of worktrees`,
    () => {
      const pair = new Pair();
      onTestFinished(() => pair.remove());
      let stopped = 0;
      fc.assert(
        fc.property(fc.array(act, { maxLength: 6 }), fc.array(act, { maxLength: 6 }), (ours, theirs) => {
          pair.reset();
          pair.play(pair.path, ours, 'ours');
          pair.play(pair.other, theirs, 'theirs');
          const { items } = pair.json(['overlap', 'main', 'other']);
          const paths = items.flatMap((item) => item['paths'] as { path: string; kind: string }[]);
          const named = paths.filter(({ kind }) => kind === 'conflict' || kind === 'deleted');
          const real = pair.conflicts();
          fc.pre(real !== undefined);
          expect(named.map(({ path }) => path).sort()).toEqual(real.sort());
          if (real.length > 0) stopped += 1;
        }),
        { seed: SEED, numRuns: PAIRS, endOnFailure: true },
      );
      expect(stopped).toBeGreaterThan(0);
    },
    300_000 + PAIRS * 10_000,
  );
});
