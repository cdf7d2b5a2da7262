import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gitFailure, runGit } from './run.ts';

/** `conflict`: changes overlap or touch, without an unchanged line between them. `binary`: no text. */
type MergedText =
  { readonly kind: 'merged'; readonly content: Buffer } | { readonly kind: 'conflict' | 'binary' };

/** Merges contents with git-merge-file(1), in a folder of its own that {@link TextMerger.close} removes. */
export class TextMerger {
  readonly #folder = mkdtempSync(join(process.getBuiltinModule('node:os').tmpdir(), 'git-merge-'));

  /** Applies what changed from `before` to `after` to `current`. */
  async apply(current: Uint8Array, before: Uint8Array, after: Uint8Array): Promise<MergedText> {
    const files = this.#put([current, before, after]);
    const result = await runGit(['merge-file', '-p', '-q', '--', ...files], { cwd: this.#folder });
    if (result.code === 0) return { kind: 'merged', content: result.stdout };
    if (result.code < 128) return { kind: 'conflict' };
    if (isBinary(current) || isBinary(before) || isBinary(after)) return { kind: 'binary' };
    throw gitFailure('merge-file', result);
  }

  /** Both sides' changes since `base` in one text; where they overlap, both stand between git's conflict markers. */
  async withMarkers(
    ours: Uint8Array,
    base: Uint8Array,
    theirs: Uint8Array,
    names: readonly [ours: string, base: string, theirs: string],
  ): Promise<{ readonly content: Buffer; readonly conflicts: boolean }> {
    const files = this.#put([ours, base, theirs]);
    const labels = names.flatMap((name) => ['-L', name]);
    const result = await runGit(['merge-file', '-p', '-q', ...labels, '--', ...files], { cwd: this.#folder });
    if (result.code >= 128) throw gitFailure('merge-file', result);
    return { content: result.stdout, conflicts: result.code > 0 };
  }

  #put(contents: readonly Uint8Array[]): string[] {
    return contents.map((content, n) => {
      const file = join(this.#folder, String(n));
      writeFileSync(file, content, { mode: 0o600 });
      return file;
    });
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** git's own rule: a NUL among the first 8000 bytes. */
function isBinary(content: Uint8Array): boolean {
  return content.subarray(0, 8000).includes(0);
}
