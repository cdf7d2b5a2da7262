import type { TreeSettings } from '../domain/settings.ts';
import type { GitVerbCall } from './effects.ts';
import { isKnown } from './unknown.ts';

/** What git verbs do to uncommitted work that is not theirs: how far they reach, and what becomes of it. */
export interface TreeReach {
  readonly call: GitVerbCall;
  /** `carry`: it leaves with the branch or into a stash; `destroy`: nothing brings it back. */
  readonly does: 'carry' | 'destroy';
  /** Paths as typed, `undefined` for the whole tree. */
  readonly paths: readonly string[] | undefined;
  readonly tracked: boolean;
  readonly untracked: boolean;
  /** `git clean -x`: files that git ignores go, too; `only`: nothing else. */
  readonly ignored: boolean | 'only';
  /** Only what is in the index and not in HEAD (`git stash push --staged`). */
  readonly stagedOnly: boolean;
  /** There are paths that cannot be told (`xargs git checkout --`): it may reach any. */
  readonly unsure: boolean;
  /** What is done, for the sentence "<verb> would …". */
  readonly verb:
    'switch' | 'stash' | 'autostash' | 'reset' | 'restore' | 'clean' | 'rm' | 'apply' | 'snapshot';
}

/** What a reach depends on besides the words. */
export interface ReachFacts {
  /** Whether a word names something on the disk, so that `git checkout <word>` restores it. */
  isPath(word: string): boolean;
  /** The names in a file for `--pathspec-from-file`; `undefined`: cannot be read. */
  names(file: string, nul: boolean): readonly string[] | undefined;
  /** The text of a patch file; `undefined`: cannot be read. */
  text(file: string): string | undefined;
  readonly settings: TreeSettings;
}

const WHOLE = {
  paths: undefined,
  tracked: true,
  untracked: false,
  ignored: false,
  stagedOnly: false,
  unsure: false,
} as const;

/** A reach over the whole working tree. */
export const whole = (call: GitVerbCall, verb: TreeReach['verb'], does: TreeReach['does']): TreeReach => ({
  call,
  verb,
  does,
  ...WHOLE,
});

/** A verb that takes pathspecs: what they cover, and everything where one cannot be told. */
export function covering(
  call: GitVerbCall,
  verb: TreeReach['verb'],
  does: TreeReach['does'],
  pathspecs: readonly string[],
): TreeReach {
  const paths = pathspecs.filter((word) => word !== '').map((word) => (isKnown(word) ? word : ':/'));
  return { ...whole(call, verb, does), paths, unsure: !pathspecs.every(isKnown) };
}

/** Files that are replaced by what git has of them. */
export const restore = (call: GitVerbCall, pathspecs: readonly string[]) =>
  covering(call, 'restore', 'destroy', pathspecs);
