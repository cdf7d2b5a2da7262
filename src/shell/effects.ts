/**
 * What a shell command would change, told without running it: the types by which the guard decides. `analyse.ts`
 * computes them.
 */

/**
 * Stands for a stretch of unknown text in a text that is known only in part. No guarded name holds this character.
 * `"$(date)/x"` expands to UNKNOWN + '/x'.
 */
export const UNKNOWN = '\uffff';

/** Whether every character of a text is known. */
export function isKnown(text: string): boolean {
  return !text.includes(UNKNOWN);
}

/** What the analysis may ask about the disk and the client's environment; the caller answers. */
export interface ShellWorld {
  /** The folder in which the command starts; absolute. */
  readonly cwd: string;
  readonly home: string;
  /** The folder in which `git handoff try` runs its command, if the caller knows it. */
  readonly tryTree?: string | undefined;
  /** Returns a variable of the client's environment; `undefined` when it is unset. */
  variable(name: string): string | undefined;
  /** Returns the names in a folder, as readdir(3) without `.` and `..`, in any order; none when it cannot be read. */
  entries(folder: string): readonly string[];
  /** Whether a path is a folder, symbolic links followed. */
  isDirectory(path: string): boolean;
  /** Returns the target of a symbolic link, as stored; `undefined` when the path is none. */
  readLink(path: string): string | undefined;
  /** Returns what git's configuration at a folder makes of an unknown verb (`alias.<name>`), by its lower-case name. */
  alias?(name: string, folder: string): string | undefined;
  /** Returns the branch of HEAD in a folder's repository (`$(git branch --show-current)`), if the caller knows it. */
  headBranch?(folder: string): string | undefined;
  /**
   * Returns the existing paths below a folder that the caller guards (handoff files, loose refs). From these the
   * analysis tells what `find`, recursive copies and an oversized command may hit, so that it never walks a tree.
   */
  watched(folder: string): readonly string[];
}

/** A file or folder that the command creates, changes, replaces, moves away or removes. */
export interface PathEffect {
  /** Absolute and lexically normalised (`.` and `..` resolved, and symbolic links only before a `..`). */
  readonly path: string;
  /** `remove` covers everything below a folder; `write` covers the one file. */
  readonly kind: 'write' | 'remove';
  /**
   * Whether the change follows a symbolic link in the last component, and reaches a hard link's other names. False for
   * what acts on the name alone (`rm`, `mv`, `ln -f`, `sed -i`): compare the path with its parent resolved, never by
   * inode.
   */
  readonly follows: boolean;
  /** The program or operator that makes the change (`>`, `tee`, `sed -i`, `git checkout`), for the refusal's text. */
  readonly by: string;
}

/** A local ref that a git command would create, move or delete behind git-handoff's back. */
export interface RefEffect {
  /** A full ref name, or a pattern with one `*` (`refs/handoffs/*`); `*` alone is every ref. */
  readonly ref: string;
  /** The folder in which the git command runs, or the other repository that it writes to (`git push ../other …`). */
  readonly cwd: string;
  readonly by: string;
}

/** An attempt to change who the session is. */
export type IdentityEffect =
  | { readonly kind: 'variable'; readonly name: string; readonly by: string }
  | { readonly kind: 'session-option'; readonly value: string };

/** One `git handoff …` (or `git-handoff …`) call found in the command. */
export interface HandoffCall {
  readonly cwd: string;
  readonly verb: string;
  /** The words after the verb; unknown ones are `undefined`. */
  readonly words: readonly (string | undefined)[];
}

/** One call of git that the command makes, in the order in which the calls run. */
export interface GitVerbCall {
  /** The folder in which it runs, after `-C`; `undefined` when it is unknown. */
  readonly cwd: string | undefined;
  readonly verb: string;
  /** The words after the verb; unknown ones are `undefined`. */
  readonly words: readonly (string | undefined)[];
  /** The settings given by `-c` in this call, by lower-case key. */
  readonly settings?: ReadonlyMap<string, string>;
  /** How the configuration that the call sees differs from the files on the disk. */
  readonly overrides?: GitOverrides;
  /** The text that `git apply` or `git commit -F -` reads from its input, if known. */
  readonly input?: string;
  /** The file from which it reads that text, absolute, if the text is unknown. */
  readonly inputFile?: string;
  /** The program that makes the call, as typed (`gh pr checkout 12`), if it is not git itself. */
  readonly by?: string;
}

/** The configuration that git gets besides its files. */
export interface GitOverrides {
  /** `-c` and `--config-env` with their values, each option as one word; `undefined` for an unknown one. */
  readonly options: readonly (string | undefined)[];
  /** The variables of git's environment that the command changes: empty when unset, `undefined` when unknown. */
  readonly variables: ReadonlyMap<string, string | undefined>;
}

/** A command that changes files which it does not name: a patch, an archive. */
export interface UnnamedWrites {
  /** The folder below which everything may change. */
  readonly folder: string;
  readonly by: string;
  /** How to type the command so that it names what it changes. */
  readonly instead: string;
  /** The patch, if it is a file, which names its paths. `strip` is how many of their leading folders are left out. */
  readonly patch?: { readonly file: string; readonly strip: number | undefined };
}

/** A file or folder whose mode, owner or flags change. */
export interface ModeEffect {
  /** Absolute. */
  readonly path: string;
  /** Whether rights are only added, which disables no hook. */
  readonly grants: boolean;
}

export interface ShellEffects {
  readonly paths: readonly PathEffect[];
  readonly refs: readonly RefEffect[];
  readonly identity: readonly IdentityEffect[];
  readonly handoffCalls: readonly HandoffCall[];
  readonly gitCalls: readonly GitVerbCall[];
  /** Folders below which unknown paths may change: an unknown program ran there, or a tree is copied there. */
  readonly folders: readonly string[];
  readonly unnamedWrites: readonly UnnamedWrites[];
  readonly modes: readonly ModeEffect[];
}
