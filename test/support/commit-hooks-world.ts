import { expect } from 'vitest';
import type { Run, RunOptions } from './repository.ts';
import { SharingWorld } from './sharing-world.ts';

/** Two sessions in one working tree, whose commits our installed git hooks check. */
export class CommitWorld extends SharingWorld {
  /** Expects git to refuse: exit 1, HEAD and index unchanged. Returns what git wrote to stderr. */
  refused(session: string, args: readonly string[], options: RunOptions = {}): string {
    const cwd = options.cwd ?? this.path;
    const state = () => [
      this.git(['rev-parse', 'HEAD'], { cwd }),
      this.git(['ls-files', '--stage', '-z'], { cwd }),
    ];
    const before = state();
    const { status, stderr } = this.as(session, args, options);
    expect({ status, stderr }).toMatchObject({ status: 1 });
    expect(state()).toEqual(before);
    return stderr;
  }

  /** Expects git to succeed; returns what it wrote to stderr. */
  commits(session: string | undefined, args: readonly string[], options: RunOptions = {}): string {
    const run = this.run('git', ['commit', '-q', ...args], {
      ...options,
      ...(session === undefined ? {} : { session }),
    });
    expect({ status: run.status, stderr: run.stderr }).toMatchObject({ status: 0 });
    return run.stderr;
  }

  /** Types the command of a refusal's first hint, as printed. */
  follow(session: string, stderr: string, options: RunOptions = {}): Run {
    const command = typedHints(stderr)[0] ?? 'false';
    const run = this.run('sh', ['-c', command], { ...options, session });
    expect({ command, status: run.status, stderr: run.stderr }).toMatchObject({ status: 0 });
    return run;
  }

  /** Paths that a commit changes, sorted. */
  changed(revision = 'HEAD', cwd = this.path): string[] {
    const args = ['diff-tree', '-r', '-z', '--no-commit-id', '--name-only', '--root', revision];
    return this.git(args, { cwd }).split('\0').filter(Boolean).sort();
  }

  /** Session ids that git reads from a commit's trailers. */
  ids(revision = 'HEAD', cwd = this.path): string[] {
    const format = '%(trailers:key=Claude-Session-Id,valueonly,separator=%x2C)';
    return this.git(['log', '-1', `--format=${format}`, revision, '--'], { cwd })
      .split(',')
      .filter(Boolean);
  }
}

/** The commands that a refusal says to type, as printed; a quoted message may have several lines. */
export function typedHints(stderr: string): string[] {
  return stderr
    .split(/^(?=(?:hint|error|warning): )/m)
    .filter((part) => part.startsWith('hint: '))
    .map((part) => part.slice('hint: '.length).trimEnd());
}

/** The commands that a refusal says to type, without the working tree that each names. */
export function hintsOf(stderr: string): string[] {
  return typedHints(stderr).map((hint) => hint.replace(/(^|=\S+ )git -C \S+ /, '$1git '));
}

/** The refusal itself, without its hints. */
export function errorsOf(stderr: string): string[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('error: '))
    .map((line) => line.slice('error: '.length));
}
