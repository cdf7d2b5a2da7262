import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Oid } from '../domain/names.ts';
import { gitFailure, runGit } from './run.ts';
import type { ContentReader } from './scratch.ts';
import { readSettingEntries } from './config.ts';
import { attributesOf } from './filters.ts';

/** `conflict`: changes overlap or touch; the content has both between git's conflict markers. `binary`: not text. */
type MergedText =
  { readonly kind: 'merged' | 'conflict'; readonly content: Buffer } | { readonly kind: 'binary' };

/** Merges contents with git-merge-file(1), in a temporary folder that {@link TextMerger.close} removes. */
export class TextMerger {
  #made: string | undefined;

  get #folder(): string {
    return (this.#made ??= mkdtempSync(join(process.getBuiltinModule('node:os').tmpdir(), 'git-merge-')));
  }

  /** Applies to `current` the change from `before` to `after`. `names`: what conflict markers call the three. */
  async apply(
    current: Uint8Array,
    before: Uint8Array,
    after: Uint8Array,
    names: readonly string[] = [],
  ): Promise<MergedText> {
    const contents = [current, before, after];
    const files = contents.map((content, n) => {
      const file = join(this.#folder, String(n));
      writeFileSync(file, content, { mode: 0o600 });
      return file;
    });
    const labels = names.flatMap((name) => ['-L', name]);
    const result = await runGit(['merge-file', '-p', '-q', ...labels, '--', ...files], { cwd: this.#folder });
    if (result.code < 128) return { kind: result.code === 0 ? 'merged' : 'conflict', content: result.stdout };
    // git's own rule: a NUL among the first 8000 bytes.
    if (contents.some((content) => content.subarray(0, 8000).includes(0))) return { kind: 'binary' };
    throw gitFailure('merge-file', result);
  }

  /** Applies changes in order. If `read` does not find a content, the result is `binary`. */
  async applySteps(
    start: Oid | null,
    steps: readonly { readonly before: Oid | null; readonly after: Oid | null }[],
    read: ContentReader,
  ): Promise<MergedText> {
    const content = read(start);
    let merged: MergedText = content === undefined ? { kind: 'binary' } : { kind: 'merged', content };
    for (const step of steps) {
      const [before, after] = [read(step.before), read(step.after)];
      if (merged.kind !== 'merged') return merged;
      if (before === undefined || after === undefined) return { kind: 'binary' };
      merged = await this.apply(merged.content, before, after);
    }
    return merged;
  }

  close(): void {
    if (this.#made !== undefined) rmSync(this.#made, { recursive: true, force: true });
  }
}

/** How git merges a file: line by line, not at all, by keeping the lines of both sides, or with the user's program. */
export type MergeWay = 'text' | 'binary' | 'union' | 'driver';

/** How git would merge each of these paths, relative to the top of the working tree (gitattributes(5), `merge`). */
export async function mergeWays(
  cwd: string,
  paths: readonly string[],
): Promise<ReadonlyMap<string, MergeWay>> {
  const [entries, attributes] = await Promise.all([
    readSettingEntries({ cwd }, '^merge\\.(default|.*\\.driver)$'),
    attributesOf({ cwd }, 'merge', paths),
  ]);
  const keys = entries.flatMap(([key]) => (key.endsWith('.driver') ? [key] : []));
  const names = new Set(keys.map((key) => key.slice('merge.'.length, -'.driver'.length)));
  const fallback = entries.findLast(([key]) => key === 'merge.default')?.[1];
  const wayOf = (attribute: string | undefined): MergeWay => {
    const value = attribute === 'unspecified' ? (fallback ?? 'text') : attribute;
    if (names.has(value ?? '')) return 'driver';
    if (value === 'unset' || value === 'binary') return 'binary';
    return value === 'union' ? 'union' : 'text';
  };
  return new Map(paths.map((path) => [path, wayOf(attributes.get(path))]));
}
