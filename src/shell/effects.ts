/** The effects that a command would have: analyse.ts finds them without running the command, and the guard judges them. */

/** Stands for an unknown stretch of a text: `"$(date)/x"` expands to UNKNOWN + '/x'. No guarded name contains it. */
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
  /** Returns the names in a folder, without `.` and `..`, in any order; none when it cannot be read. */
  entries(folder: string): readonly string[];
  /** Whether a path is a folder, or a symbolic link to one. */
  isDirectory(path: string): boolean;
  /** Returns the target of a symbolic link, as stored; `undefined` when the path is not a link. */
  readLink(path: string): string | undefined;
  /** Returns the alias that git's configuration in a folder has for a lower-case name (`alias.<name>`). */
  alias?(name: string, folder: string): string | undefined;
  /** Returns the branch of HEAD in a folder's repository (`$(git branch --show-current)`), if the caller knows it. */
  headBranch?(folder: string): string | undefined;
  /**
   * Returns the guarded paths (handoff files, loose refs) that exist in a folder, at any depth. The analysis judges `find`,
   * recursive copies and oversized commands by these paths, so that it never walks a tree.
   */
  watched(folder: string): readonly string[];
}

/** A file or folder that the command creates, changes, replaces, moves away or removes. */
export interface PathEffect {
  /** Absolute and normalised: `.` and `..` are resolved; a symbolic link on the disk is resolved only if `..` follows it. */
  readonly path: string;
  /** `remove` covers a folder with everything in it; `write` covers one file. */
  readonly kind: 'write' | 'remove';
  /**
   * Whether the change follows a symbolic link in the last component, and reaches a hard link's other names. False for a
   * program that acts on the name alone (`rm`, `mv`, `ln -f`, `sed -i`): then resolve only the parent folder's links, and
   * compare paths, never inodes.
   */
  readonly follows: boolean;
  /** The program or operator that makes the change (`>`, `tee`, `sed -i`, `git checkout`), for the refusal's text. */
  readonly by: string;
}

/** A local ref that a git command would create, move or delete behind git-handoff's back. */
export interface RefEffect {
  /** A full ref name, or a pattern with one `*` (`refs/handoffs/*`); `*` alone means every ref. */
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

/** A git call that the command makes. The calls are listed in the order in which they run. */
export interface GitVerbCall {
  /** The folder in which it runs, after `-C`; `undefined` when it is unknown. */
  readonly cwd: string | undefined;
  readonly verb: string;
  /** The words after the verb; unknown ones are `undefined`. */
  readonly words: readonly (string | undefined)[];
  /** The settings from `-c` or an earlier `git config` that decide what becomes of uncommitted work, by lower-case key. */
  readonly settings?: ReadonlyMap<string, string>;
  readonly overrides?: GitOverrides;
  /** The text that `git apply` or `git commit -F -` reads from its input, if known. */
  readonly input?: string;
  /** The absolute path of the file that the call reads as its input, if the text in it is unknown. */
  readonly inputFile?: string;
  /** The program that makes the call, as typed (`gh pr checkout 12`), if it is not git itself. */
  readonly by?: string;
}

/** How the configuration of a git call differs from the configuration files on the disk. */
export interface GitOverrides {
  /** The words of `-c` and `--config-env`; `undefined` for an unknown one that may decide whether hooks run. */
  readonly options: readonly (string | undefined)[];
  /** The configuration variables that the command changes for git: empty when unset, `undefined` when unknown. */
  readonly variables: ReadonlyMap<string, string | undefined>;
}

/** A command that changes files without naming them: it applies a patch or unpacks an archive. */
export interface UnnamedWrites {
  /** The folder in which anything may change. */
  readonly folder: string;
  readonly by: string;
  /** How to type the command so that it names what it changes. */
  readonly instead: string;
  /** The patch file, if there is one: it names the paths. `strip` is how many leading folders to cut from each path. */
  readonly patch?: { readonly file: string; readonly strip: number | undefined };
}

/** A file or folder whose mode, owner or flags change. */
export interface ModeEffect {
  /** Absolute. */
  readonly path: string;
  /** Whether the change only adds permissions, which disables no hook. */
  readonly grants: boolean;
}

export interface ShellEffects {
  readonly paths: readonly PathEffect[];
  readonly refs: readonly RefEffect[];
  readonly identity: readonly IdentityEffect[];
  readonly handoffCalls: readonly HandoffCall[];
  readonly gitCalls: readonly GitVerbCall[];
  /** Folders in which unknown paths may change: an unknown program runs there, or a tree is copied there. */
  readonly folders: readonly string[];
  readonly unnamedWrites: readonly UnnamedWrites[];
  readonly modes: readonly ModeEffect[];
}
