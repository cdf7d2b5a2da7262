import type { Failure } from '../domain/failure.ts';

/** What a command answers. `value` is the body of `--json`; `ui` turns it into text. */
export interface CommandResult<T> {
  readonly value: T;
  /** Lines for stderr, as `notice: …`. */
  readonly notices?: readonly string[];
  /** The next command, if there is one. */
  readonly hint?: string;
  /** 1 is a clear no (stale, something is wrong); failures are thrown. */
  readonly exitCode?: 0 | 1;
  /** What went wrong with a part of it: told after the answer, and decides the exit code. */
  readonly failure?: Failure;
  /** The clients of the sessions on record: what the text calls a session. */
  readonly clients?: ReadonlyMap<string, string>;
  /** Bytes for stdout instead of the rendered text. */
  readonly bytes?: Uint8Array;
}
