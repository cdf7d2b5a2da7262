import type { SessionId } from '../domain/names.ts';
import { type SettingEntry, type Settings, parseSettings } from '../domain/settings.ts';
import { readSettingEntries } from '../git/config.ts';
import { openRepository } from '../git/repository.ts';
import { repositoryFolder } from '../host/folders.ts';
import type { Budget } from '../host/io.ts';
import { appendLog } from '../host/log.ts';
import type { Context } from '../sessions/caller.ts';
import type { AskedFor } from '../sessions/happenings.ts';
import type { CommitWords } from '../shell/commit-words.ts';

/** What git started one of our hooks with, as git-hooks/ hands it on. */
export interface StartedHook extends Context {
  readonly name: string;
  /** The hook's own arguments. */
  readonly args: readonly string[];
  /** What git wrote to its standard input. */
  readonly readInput: () => Promise<string>;
  /** Found by sh; else git is asked. */
  readonly gitDir: string | undefined;
  readonly commonDir: string | undefined;
}

/** What the hooks of a commit that ran before this one have found out. */
export interface EarlierHooks {
  /** Who commits; `undefined`: a person; `unknown`: nobody could tell. */
  readonly committer: SessionId | undefined | 'unknown';
  /** How long all our hooks of this commit took. Milliseconds. */
  readonly spentMs: number;
  /** What git's configuration says, where it was asked. */
  readonly settings: readonly SettingEntry[] | undefined;
}

/** One call of a git hook. */
export interface HookCall extends StartedHook {
  /** What the earlier hooks of the same commit have left. */
  readonly earlier: EarlierHooks | undefined;
  readonly config: HookConfig;
  /** The arguments of the running `git commit`, read once; `undefined` when they cannot be read. */
  readonly words: () => CommitWords | undefined;
}

/** git's configuration, read once in a call. */
interface HookConfig {
  /** The settings that hooks go by, in git's order. */
  entries(): Promise<readonly SettingEntry[]>;
  /** The same where they have been read. */
  known(): readonly SettingEntry[] | undefined;
}

/** What a hook says. */
export interface HookAnswer {
  readonly refused: boolean;
  /** Who commits; `undefined` for a person. */
  readonly session: SessionId | undefined;
  /** For stderr. */
  readonly lines: readonly string[];
  /** Nobody could tell: it passes unchecked, and the lines say so. */
  readonly isUnknown?: true;
  /** Of a refusal: no person can allow it. */
  readonly isFinal?: true;
  /** Of a refusal: whose work it protects; absent: it may be anybody's. */
  readonly owners?: readonly SessionId[];
  /** What they are asked for, where it is about changes of theirs. */
  readonly asked?: AskedFor | undefined;
}

/** The answer that stops nothing and says nothing. */
export const PASSED: HookAnswer = { refused: false, session: undefined, lines: [] };

/** The repository that the hook runs in. */
export interface HookPlace {
  readonly cwd: string;
  readonly gitDir: string;
  readonly commonDir: string;
}

/** The repository of a hook’s call: as sh found it, or else git is asked. */
export async function hookPlace({ cwd, gitDir, commonDir }: StartedHook): Promise<HookPlace> {
  if (gitDir !== undefined && commonDir !== undefined) return { cwd, gitDir, commonDir };
  const opened = await openRepository(cwd);
  return { cwd, gitDir: opened.gitDir, commonDir: opened.commonDir };
}

const COMMENT_KEY = /^core\.comment(?:char|string)$/;

/** The configuration of the repository around a folder; `kept`: as an earlier hook of the same commit has read it. */
export function hookConfig(cwd: string, budget: Budget, kept?: readonly SettingEntry[]): HookConfig {
  let read: Promise<readonly SettingEntry[]> | undefined;
  let found = kept;
  const ask = async () => {
    const all = await readSettingEntries('^(handoff\\..*|core\\.comment(char|string))$', cwd, budget.left());
    // The last is what our own git children are told (src/git/environment.ts).
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

/** What comments in a message begin with, by configuration: `auto` is git's to choose. */
export async function commentStart({ config }: HookCall): Promise<string> {
  const entries = await config.entries();
  return entries.findLast(([key]) => COMMENT_KEY.test(key))?.[1] ?? '#';
}

/** One line in the guard's log, which doctor reads. */
export function logHook(
  { name }: StartedHook,
  { commonDir }: HookPlace,
  kind: string,
  detail: string,
  session?: SessionId,
): void {
  const line = { event: name, kind, detail };
  appendLog(repositoryFolder(commonDir), session === undefined ? line : { ...line, session });
}
