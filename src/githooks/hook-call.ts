import type { AskedFor } from '../changes/requests.ts';
import type { SessionId } from '../domain/names.ts';
import { type Settings, entriesFromLines, parseSettings } from '../domain/settings.ts';
import type { BinaryText } from '../git/binary-text.ts';
import { readSettings } from '../git/config.ts';
import { openRepository } from '../git/repository.ts';
import { repositoryFolder } from '../host/folders.ts';
import { appendLog } from '../host/log.ts';
import type { Context } from '../sessions/caller.ts';

/** One call of a git hook, as our shim (git-hooks/) hands it on. */
export interface HookCall extends Context {
  readonly name: string;
  /** The hook's own arguments. */
  readonly args: readonly string[];
  /** What git wrote to its standard input. */
  readonly readInput: () => Promise<string>;
  /** Found by the shim; else git is asked. */
  readonly gitDir: string | undefined;
  readonly commonDir: string | undefined;
  /** The `handoff.*` settings, as the shim read them. */
  readonly settings: string | undefined;
  /** The sessions, HEAD's commit and what is staged, as the shim listed them. */
  readonly listed?: BinaryText | undefined;
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
  /** Of a refusal: whose work it protects; absent: it may be anybody's. */
  readonly owners?: readonly SessionId[];
  /** What they are asked for, where it is about changes of theirs. */
  readonly asked?: AskedFor | undefined;
}

/** The repository that the hook runs in. */
export interface HookPlace {
  readonly cwd: string;
  readonly gitDir: string;
  readonly commonDir: string;
}

/** The repository of a hook’s call: as the shim found it, or else git is asked. */
export async function hookPlace({ cwd, gitDir, commonDir }: HookCall): Promise<HookPlace> {
  if (gitDir !== undefined && commonDir !== undefined) return { cwd, gitDir, commonDir };
  const opened = await openRepository(cwd);
  return { cwd, gitDir: opened.gitDir, commonDir: opened.commonDir };
}

/** The settings: as the launcher read them, or else git is asked. */
export async function settingsOf({ cwd, settings, budget }: HookCall): Promise<Settings> {
  return settings === undefined
    ? readSettings(cwd, budget.left())
    : parseSettings(entriesFromLines(settings));
}

/** One line in the guard's log, which doctor reads. */
export function logHook(
  { name }: HookCall,
  { commonDir }: HookPlace,
  kind: string,
  detail: string,
  session?: SessionId,
): void {
  const line = { event: name, kind, detail };
  appendLog(repositoryFolder(commonDir), session === undefined ? line : { ...line, session });
}
