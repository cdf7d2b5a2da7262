/**
 * What a shell command would change, told without running it. The types that the guard decides on;
 * `analyse.ts` computes them.
 */

/**
 * Text that is known only in part: a character that no guarded name holds stands for a stretch of unknown
 * text. `"$(date)/x"` expands to UNKNOWN + '/x'.
 */
export const UNKNOWN = '\uffff';

/** Whether every character of a text is known. */
export function isKnown(text: string): boolean {
  return !text.includes(UNKNOWN);
}

/** What the analysis may ask about the disk and the client's environment; answers come from the caller. */
export interface ShellWorld {
  /** Where the command starts; absolute. */
  readonly cwd: string;
  readonly home: string;
  /** A variable of the client's environment, `undefined` when unset. */
  variable(name: string): string | undefined;
  /** Names in a folder (as readdir: without `.` and `..`, any order); empty when it is none or cannot be read. */
  entries(folder: string): readonly string[];
  /** Whether a path is a folder, symbolic links followed. */
  isDirectory(path: string): boolean;
  /** Where a symbolic link points (as stored), `undefined` when the path is none. */
  readLink(path: string): string | undefined;
  /** What git's configuration at a folder makes of an unknown verb (`alias.<name>`), lower-case name. */
  alias?(name: string, folder: string): string | undefined;
  /** Branch that HEAD of the repository at a folder names (`$(git branch --show-current)`), when the caller knows. */
  headBranch?(folder: string): string | undefined;
  /**
   * Existing paths below a folder that the caller guards (handoff files, loose refs). What `find`, recursive
   * copies and the size limit's cheap rule may hit is told from these, so that no tree is ever walked.
   */
  watched(folder: string): readonly string[];
}

/** A file or folder that the command creates, changes, replaces, moves away or removes. */
export interface PathEffect {
  /** Absolute, lexically normal (`.` and `..` resolved; symbolic links only where a `..` follows them). */
  readonly path: string;
  /** `remove` covers everything below a folder; `write` is the one file. */
  readonly kind: 'write' | 'remove';
  /**
   * Whether a symbolic link in the last component is followed, and a hard link's other names change with it.
   * False for what acts on the name alone (`rm`, `mv`, `ln -f`, `sed -i`): compare the path with its parent
   * resolved, never by inode.
   */
  readonly follows: boolean;
  /** The program or operator that does it (`>`, `tee`, `sed -i`, `git checkout`), for the refusal's text. */
  readonly by: string;
}

/** Local refs that a git command in `cwd` would create, move or delete behind git-handoff's back. */
export interface RefEffect {
  /** A full ref name, or a pattern with one `*` (`refs/handoffs/*`); `*` alone is every ref. */
  readonly ref: string;
  /** Folder the git command runs in, or the other repository that it writes to (`git push ../other …`). */
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
  /** Words after the verb that are known literally; unknown ones are `undefined`. */
  readonly words: readonly (string | undefined)[];
}

/** One call of git itself that the command makes, in the order in which they run. */
export interface GitVerbCall {
  /** Where it runs (`-C` followed); `undefined` when it cannot be told. */
  readonly cwd: string | undefined;
  readonly verb: string;
  /** Words after the verb; unknown ones are `undefined`. */
  readonly words: readonly (string | undefined)[];
  /** What `-c` says in this call, by lower-case key. */
  readonly settings?: ReadonlyMap<string, string>;
  /** How the configuration that it sees differs from what is on the disk. */
  readonly overrides?: GitOverrides;
  /** What `git apply` or `git commit -F -` reads from its input, where that is known. */
  readonly input?: string;
  /** The file that it reads it from, absolute, where the text is not known. */
  readonly inputFile?: string;
  /** The program that makes the call, as typed (`gh pr checkout 12`), where it is not git itself. */
  readonly by?: string;
}

/** What git is told of its configuration beside the files. */
export interface GitOverrides {
  /** `-c` and `--config-env`, each as one word behind the other; `undefined`: not known. */
  readonly options: readonly (string | undefined)[];
  /** Variables of its environment that the command changes; empty is unset, `undefined` not known. */
  readonly variables: ReadonlyMap<string, string | undefined>;
}

/** A command that changes files which it does not name: a patch, an archive. */
export interface UnnamedWrites {
  /** Where; all below it may change. */
  readonly folder: string;
  readonly by: string;
  /** How the command is typed so that it names what it changes. */
  readonly instead: string;
  /** The patch, where it is a file: it names its paths. `strip` leading folders of them are left out. */
  readonly patch?: { readonly file: string; readonly strip: number | undefined };
}

/** A file or folder whose mode, owner or flags change. */
export interface ModeEffect {
  /** Absolute. */
  readonly path: string;
  /** Rights are only added, which stops no hook. */
  readonly grants: boolean;
}

export interface ShellEffects {
  readonly paths: readonly PathEffect[];
  readonly refs: readonly RefEffect[];
  readonly identity: readonly IdentityEffect[];
  readonly handoffCalls: readonly HandoffCall[];
  readonly gitCalls: readonly GitVerbCall[];
  /** Folders below which something may be changed that is not known by its path: a program ran there, or a tree is copied. */
  readonly folders: readonly string[];
  readonly unnamedWrites: readonly UnnamedWrites[];
  readonly modes: readonly ModeEffect[];
}
