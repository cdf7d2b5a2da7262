import type { Dialect, GuardEvent, Verdict, ToolCall } from '../agents/dialect.ts';
import { type SessionId, ownerId } from '../domain/names.ts';
import type { SettingEntry, Settings } from '../domain/settings.ts';
import type { FoundRepository } from '../git/discover.ts';
import type { Budget } from '../host/io.ts';
import type { MarkerFiles } from '../host/marker-files.ts';
import type { ProcessTable } from '../host/processes.ts';
import type { AskedFor } from '../sessions/happenings.ts';
import type { WorkPlace } from '../changes/windows.ts';
import { absolutePath, entries, readText, realPath } from '../host/disk.ts';
import { nameHash, repositoryEntry, stateFolder, worktreeId } from '../host/folders.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

interface Machine {
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
  readonly clientPid: number;
  /** The processes of the machine, read when the call first asks for them: outside Linux that takes a `ps`. */
  readonly processes: () => ProcessTable;
  /** The predecessors' handoff files, and the files that `handoff.guardPath` adds. */
  readonly files: MarkerFiles;
}

/** A worktree in which a call is judged, because git-handoff is switched on in its repository. */
export interface Worktree extends FoundRepository {
  /** The client's folder in this worktree, or else its top. */
  readonly folder: string;
  /** Whether the call was made elsewhere and only touches this worktree. */
  readonly visiting?: true;
}

/** One call of a client's hook, with everything that its judgement needs. We make this object once for each call. */
export interface Call {
  readonly event: GuardEvent;
  readonly dialect: Dialect;
  readonly session: SessionId | undefined;
  readonly machine: Machine;
  /** The client's folder; the home folder when the payload names none. */
  readonly cwd: string;
  /** The repository around the client's folder, whether or not git-handoff is switched on there. */
  readonly repository: FoundRepository | undefined;
  /** The worktree; `undefined` where git-handoff is not switched on. */
  readonly tree: Worktree | undefined;
  /** The settings that apply in the worktree. */
  readonly settings: Settings;
  /** The settings as git lists them, with git's aliases and the settings that decide whether git runs hooks. */
  readonly entries: readonly SettingEntry[];
  readonly now: number;
  readonly budget: Budget;
  /** Tells the session, in one line, what we could not check. Nothing may go unchecked silently. */
  readonly notChecked: (what: string) => void;
  readonly log: (kind: string, detail: string) => void;
}

export interface SessionCall extends Call {
  readonly session: SessionId;
}

/** A session's call as it concerns one worktree. */
export interface TreeCall extends SessionCall {
  readonly tree: Worktree;
}

/** The owner of what the call changes: the sub-agent that makes the call, or else its session. */
export function ownerOf({ event, dialect, session, settings }: TreeCall): SessionId {
  const isOwner = settings.subAgents === 'agents' && dialect.reportsAgentEnd === true;
  return isOwner ? ownerId(session, event.agent) : session;
}

/** Returns the place of a worktree's ledgers. Gives the worktree an id if it has none. */
export function workPlaceOf({ commonDir, gitDir, workTree }: FoundRepository): WorkPlace {
  return { commonDir, gitDir, worktreeId: worktreeId(gitDir), top: realPath(workTree) };
}

/** Whether a session made the call, in a worktree where git-handoff is switched on. */
export function isInTree(call: Call): call is TreeCall {
  return call.session !== undefined && call.tree !== undefined;
}

/**
 * Runs a step. If the step fails, the call goes on, and the session hears what was not checked. So handoff files stay protected
 * even if the ledger cannot be read or written (a full disk, a file in place of its folder).
 */
export async function failOpen<T>(call: Call, what: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    call.log('open', `not checked: ${what}: ${String(error)}`);
    call.notChecked(what);
    return undefined;
  }
}

/** What a check has found out about a call. */
export type Finding =
  | Refusal
  | { readonly kind: 'tell'; readonly text: string }
  /** A text for the person, shown only when nothing goes to the model. */
  | { readonly kind: 'show'; readonly text: string }
  /** What the tool is to write instead of the content in its input. */
  | { readonly kind: 'rewrite'; readonly content: string }
  | Effect;

/** The finding that the call must not be made. */
export interface Refusal {
  readonly kind: 'refuse';
  readonly text: string;
  /** The sessions whose work the refusal protects; absent when that may be anybody's. */
  readonly owners?: readonly SessionId[];
  /** What the owners are asked for; absent when the refusal is not about their changes. */
  readonly asked?: AskedFor;
  /** Whose bypass lets the call through; `files`: a person's, because the refusal is about handoff files. */
  readonly allowedBy: 'person' | 'files' | 'nobody';
}

/** Makes a refusal that protects the work of these sessions. A person may let the call through. */
export function refusedFor(text: string, owners: readonly SessionId[], asked?: AskedFor): Refusal {
  return { kind: 'refuse', text, owners, ...(asked === undefined ? {} : { asked }), allowedBy: 'person' };
}

/** Whether a person lets this call do what a check refuses. */
export type Permission = (refusal: Refusal) => Promise<boolean>;

/** Something to do once everything has been judged. What the effect finds is added to the answer. */
export interface Effect {
  readonly kind: 'do';
  /** `allowed`: only when the call is not refused. `judged`: always. */
  readonly when: 'allowed' | 'judged';
  readonly run: () => Promise<readonly Finding[]>;
}

/** Whether the call is refused. */
export function isRefused(found: readonly Finding[]): boolean {
  return found.some(({ kind }) => kind === 'refuse');
}

/** Makes one answer from all findings: the refusal, or else the texts for the model, or else those for the person. */
export function verdict(found: readonly Finding[]): Verdict {
  const refusal = found.find((one) => one.kind === 'refuse');
  if (refusal !== undefined) return { kind: 'deny', reason: refusal.text };
  const texts = (kind: 'tell' | 'show') => found.flatMap((one) => (one.kind === kind ? one.text : []));
  const [forModel, forUser] = [texts('tell'), texts('show')];
  const rewrite = found.find((one) => one.kind === 'rewrite');
  if (rewrite !== undefined) {
    const { content } = rewrite;
    return forModel.length === 0
      ? { kind: 'rewrite', content }
      : { kind: 'rewrite', content, context: forModel.join('\n') };
  }
  if (forModel.length > 0) return { kind: 'context', text: forModel.join('\n') };
  return forUser.length > 0 ? { kind: 'notice', text: forUser.join('\n') } : { kind: 'allow' };
}

export type CommandTool = Extract<ToolCall, { kind: 'shell' | 'argv' }>;

/** Returns the command that a tool runs; `undefined` for a tool that runs none. */
export function commandText(tool: CommandTool): string;
export function commandText(tool: ToolCall | undefined): string | undefined;
export function commandText(tool: ToolCall | undefined): string | undefined {
  if (tool?.kind === 'shell') return tool.command;
  return tool?.kind === 'argv' ? tool.argv.join(' ') : undefined;
}

/** Returns the path that a file tool names, made absolute. */
export function toolPath(call: Call, path: string): string {
  return absolutePath(path, call.cwd, call.machine.home);
}

/** Returns the paths that a file tool names, as written; for a moved file in a patch both the old and the new one. */
export function toolPaths(tool: ToolCall): string[] {
  if (tool.kind === 'write' || tool.kind === 'edit') return [tool.path];
  return tool.kind === 'patch' ? tool.files.flatMap(({ path, moveTo = path }) => [path, moveTo]) : [];
}

/** Returns a name for one tool call: the client's call id if it is a plain word, or else a hash. */
export function windowId({ event }: Call): string {
  return event.callId !== undefined && /^[\w-]{1,100}$/.test(event.callId)
    ? event.callId
    : nameHash(event.callId ?? JSON.stringify([event.toolName, event.tool]));
}

/** Records that sessions work in a repository. So the launcher knows that calls made elsewhere may concern the repository. */
export function rememberRepository(env: NodeJS.ProcessEnv, commonDir: string): void {
  // Without a home folder, the entry would end up in the current folder.
  if (!stateFolder(env).startsWith('/') || knownRepositories(env).includes(commonDir)) return;
  const file = repositoryEntry(stateFolder(env), commonDir);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${commonDir}\n`);
}

/** Returns the common dirs of the repositories in which sessions have been at work. */
export function knownRepositories(env: NodeJS.ProcessEnv): string[] {
  const folder = join(stateFolder(env), 'repositories');
  const paths = entries(folder).map((name) => readText(join(folder, name)).replace(/\n$/, ''));
  return paths.filter((path) => path !== '');
}
