import type { SessionId } from '../domain/names.ts';
import { type SettingEntry, type Settings, parseSettings } from '../domain/settings.ts';
import { readSettingEntries } from '../git/config.ts';
import { repositoryFolder } from '../host/folders.ts';
import type { Budget } from '../host/io.ts';
import { appendLog } from '../host/log.ts';
import type { Context } from '../sessions/caller.ts';
import type { AskedFor } from '../sessions/happenings.ts';
import type { CommitWords } from '../shell/commit-words.ts';

/** What one of our hooks gets from git, as git-hooks/ passes it on. */
export interface StartedHook extends Context {
  readonly name: string;
  readonly args: readonly string[];
  /** What git wrote to the hook's standard input. */
  readonly readInput: () => Promise<string>;
  /** The repository that sh found; the paths may be relative to `cwd`. */
  readonly gitDir: string;
  readonly commonDir: string;
}

export interface EarlierHooks {
  /** Who commits; `undefined`: a person; `unknown`: the hooks could not tell. */
  readonly committer: SessionId | undefined | 'unknown';
  /** Milliseconds that the earlier hooks took. */
  readonly spentMs: number;
  /** The settings in git's configuration, if a hook has read them. */
  readonly settings: readonly SettingEntry[] | undefined;
}

export interface HookCall extends StartedHook {
  readonly earlier: EarlierHooks | undefined;
  readonly config: HookConfig;
  /** The arguments of the running `git commit`, read once; `undefined` when they cannot be read. */
  readonly words: () => CommitWords | undefined;
}

/** git's configuration, read once in a call. */
interface HookConfig {
  /** Reads the settings that hooks need, in git's order. */
  entries(): Promise<readonly SettingEntry[]>;
  /** Returns the settings if they have been read already. */
  known(): readonly SettingEntry[] | undefined;
}

export interface HookAnswer {
  readonly refused: boolean;
  /** Who commits; `undefined` for a person. */
  readonly session: SessionId | undefined;
  /** Lines for stderr. */
  readonly lines: readonly string[];
  /** Whether the commit or push passes unchecked because the check failed; the lines say so. */
  readonly isUnknown?: true;
  /** Whether this is a refusal that no person can lift. */
  readonly isFinal?: true;
  /** The sessions whose work a refusal protects; absent: it may be anybody's. */
  readonly owners?: readonly SessionId[];
  /** What the refused session asks of `owners`, if the refusal is about their changes. */
  readonly asked?: AskedFor | undefined;
}

export const PASSED: HookAnswer = { refused: false, session: undefined, lines: [] };

const COMMENT_KEY = /^core\.comment(?:char|string)$/;

/** Reads a folder's git configuration when it is first needed; `kept`: what an earlier hook of the same commit has read. */
export function hookConfig(cwd: string, budget: Budget, kept?: readonly SettingEntry[]): HookConfig {
  let read: Promise<readonly SettingEntry[]> | undefined;
  let found = kept;
  const ask = async () => {
    const options = { cwd, timeoutMs: budget.left() };
    const all = await readSettingEntries(options, '^(handoff\\..*|core\\.comment(char|string))$');
    // We leave out the last `core.commentChar`, which we set ourselves for every git that we start (src/git/environment.ts).
    const own = all.findLastIndex(([key]) => key === 'core.commentchar');
    return (found = all.filter((_, at) => at !== own));
  };
  return {
    entries: () => (read ??= found === undefined ? ask() : Promise.resolve(found)),
    known: () => found,
  };
}

/** The `handoff.*` settings. */
export async function settingsOf({ config }: HookCall): Promise<Settings> {
  return parseSettings(await config.entries());
}

/** Reads the string that begins comments in a commit message; if it is `auto`, git chooses one. */
export async function commentStart({ config }: HookCall): Promise<string> {
  const entries = await config.entries();
  return entries.findLast(([key]) => COMMENT_KEY.test(key))?.[1] ?? '#';
}

/** Adds a line to the guard's log, which doctor reads. */
export function logHook(
  { name, commonDir }: StartedHook,
  kind: string,
  detail: string,
  session?: SessionId,
): void {
  const line = { event: name, kind, detail };
  appendLog(repositoryFolder(commonDir), session === undefined ? line : { ...line, session });
}
