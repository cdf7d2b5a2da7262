import type { ProgramCall, Status } from '../machine.ts';
import { isKnown, UNKNOWN } from '../unknown.ts';

/** A git command after its global options: the verb, its words, and where it works. */
export interface GitCall {
  readonly verb: string;
  readonly args: readonly string[];
  /** Folder (or git dir, where that is named) that the refs belong to. */
  readonly repository: string;
  readonly call: ProgramCall;
  /** `-c` and `--config-env`, of this call and of the gits that started it. */
  readonly options: readonly string[];
  /** What `-c` and this command's own `git config` say. */
  config(key: string): string | undefined;
}

export type GitVerb = (git: GitCall) => Status;

/** Prints the current branch, for names that are put together from it. */
export function printBranch({ machine, frame }: ProgramCall, prefix: string): void {
  const cwd = machine.cwd(frame.scope);
  const branch = isKnown(cwd) ? machine.disk.world.headBranch?.(cwd) : undefined;
  frame.output.add(`${branch === undefined ? UNKNOWN : prefix + branch}\n`);
}
