import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Dialect, GuardEvent, ToolCall } from '../../src/agents/dialect.ts';
import { claude } from '../../src/agents/claude.ts';
import { appendEvents } from '../../src/sessions/journal.ts';
import { ledgerOf, openLedgers, placePath, type WorkPlace } from '../../src/changes/windows.ts';
import type { WorktreeEvent } from '../../src/domain/journal/events.ts';
import type { FileState, Wish, DirtyPath, TreeStatus } from '../../src/domain/ledger/tree-status.ts';
import type { Oid, SessionId } from '../../src/domain/names.ts';
import { parseSettings, type SettingEntry, type Settings } from '../../src/domain/settings.ts';
import { type FoundRepository, checkedOutBranch, discoverRepository } from '../../src/git/discover.ts';
import {
  type TreeCall,
  type Worktree,
  type Finding,
  type Refusal,
  toolPath,
  toolPaths,
} from '../../src/guard/call.ts';
import type { AnalysedFacts, CommandFacts, FileFacts, GitAnswers } from '../../src/guard/facts.ts';
import type { Check } from '../../src/guard/judge.ts';
import { namedPaths } from '../../src/guard/checks/touch.ts';
import { budgetUntil } from '../../src/host/io.ts';
import { markerFiles } from '../../src/host/marker-files.ts';
import { keptTable } from '../../src/host/processes.ts';
import { shellWorld } from '../../src/host/shell-world.ts';
import type { JudgedSession } from '../../src/sessions/records.ts';
import { analyseShell } from '../../src/shell/analyse.ts';
import type { ShellEffects } from '../../src/shell/effects.ts';
import { recordOf } from './session-record.ts';

/**
 * Tests a check of the guard with a table. A row is a situation of plain data, and what the check finds in it. The repository
 * is only a few files, and git never runs: the row holds each answer that a check wants from git.
 */

/** The session that calls, and two others. */
export const [SELF, PEER, THIRD] = ['a', 'b', 'c'].map(
  (letter) => `${letter.repeat(8)}-0000-4000-8000-000000000000` as SessionId,
) as [SessionId, SessionId, SessionId];
export const NOW = Date.UTC(2026, 2, 1, 12);
const MINUTE = 60_000;

/** The state of a file with this number. HEAD has state 1, and a claim has changed it to 2. */
export const state = (n: number): FileState => ({ mode: '100644', oid: oid(n) });
export const oid = (n: number): Oid => n.toString(16).padStart(40, '0') as Oid;

/** What a check needs to know. Paths are relative to the top of the working tree, or begin with `~` or `../`. */
export interface Situation {
  readonly command?: string;
  readonly tool?: ToolCall;
  /** The sub-agent that calls. */
  readonly agent?: string;
  readonly client?: Dialect;
  /** Where the client works; by default at the top. */
  readonly cwd?: string;
  /** The top of the worktree that the call is judged in; by default that of the worktree where the client works. */
  readonly tree?: string;
  readonly settings?: Partial<Settings>;
  /** The settings as git lists them, for checks that read the list. */
  readonly config?: readonly SettingEntry[];
  readonly files?: Readonly<Record<string, string>>;
  /** Linked worktrees, each with its branch. Paths are relative to the folder that holds the repository (`repo`). */
  readonly worktrees?: Readonly<Record<string, string>>;
  /** Uncommitted changes by session, and other events of their ledgers. Without `dirty`, exactly these paths are dirty. */
  readonly ledgers?: Readonly<Record<string, readonly (string | WorktreeEvent)[]>>;
  readonly dirty?: readonly (string | DirtyPath)[];
  /** git does not report the state of the working tree in time. */
  readonly late?: boolean;
  /** The other live sessions, and where they are; by default one, in the same worktree. Empty: the session is alone. */
  readonly peers?: readonly (SessionId | Peer)[];
  readonly git?: Partial<GitAnswers>;
  readonly facts?: Partial<FileFacts & CommandFacts & AnalysedFacts>;
  /** Makes the other files that the row needs. */
  readonly arrange?: (place: WorkPlace, top: string) => void;
}

interface Peer {
  readonly session: SessionId;
  /** A linked worktree by its name. */
  readonly worktree?: string;
  readonly startedAt?: number;
  readonly isAtWork?: boolean;
}

/** An uncommitted change by a session. */
export function claim(
  path: string,
  more: Partial<Extract<WorktreeEvent, { t: 'claim' }>> = {},
): WorktreeEvent {
  const states = { base: state(1), before: state(1), after: state(2) };
  return { t: 'claim', path, ...states, evidence: 'explicit', weak: false, at: NOW - 3 * MINUTE, ...more };
}

/** A path that differs from HEAD. */
export function dirty(path: string, more: Partial<DirtyPath> = {}): DirtyPath {
  return { path, head: state(1), index: state(1), disk: state(2), stamp: '', ...more };
}

export const untracked = (path: string) => dirty(path, { head: null, index: null });

/** What a text must contain: these words in this order, or a match. */
type Words = string | readonly string[] | RegExp;

interface About {
  /** `undefined`: any owner will do. */
  readonly owners?: readonly SessionId[] | undefined;
  readonly allowedBy?: Refusal['allowedBy'];
  /** The request to the owners. */
  readonly asked?: unknown;
}

/** A refusal that protects the peer's work. */
export function refuses(words: Words, more: About = {}): unknown {
  const all = { kind: 'refuse', text: worded(words), owners: [PEER], allowedBy: 'person', ...more };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
  return expect.objectContaining(Object.fromEntries(given)) as unknown;
}
/** The request to the owners that comes with a refusal. */
export const asks = (wish: Wish, ...paths: readonly string[]): unknown =>
  expect.objectContaining({
    wish,
    claims: paths.map((path) => expect.objectContaining({ path }) as unknown),
  }) as unknown;
export const tells = (...words: readonly string[]): unknown => ({ kind: 'tell', text: worded(words) });
export const shows = (...words: readonly string[]): unknown => ({ kind: 'show', text: worded(words) });
/** An action after the judgement: always, or only if the call is allowed. */
export const does = (when: 'allowed' | 'judged'): unknown => ({
  kind: 'do',
  when,
  run: expect.any(Function) as unknown,
});

function worded(words: Words): unknown {
  if (words instanceof RegExp) return expect.stringMatching(words);
  const literal = [words].flat().map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return expect.stringMatching(new RegExp(literal.join('[^]*')));
}

/** The situation's title and data, and what the check finds. */
export type Row = readonly [situation: string, given: Situation, found: readonly unknown[]];
type AllFacts = FileFacts & CommandFacts & AnalysedFacts;
type AnyCheck = Check<TreeCall, AllFacts>;

/** Tests a check of the list against its rows. */
export function table(checks: readonly AnyCheck[], rule: string, rows: readonly Row[]): void {
  describe(rule, () => {
    it.each(rows)('%s', async (_, given, found) => {
      expect(await judgedBy(checks, rule, given)).toEqual(found);
    });
  });
}

/** What a check finds in a situation. */
export async function judgedBy(
  checks: readonly AnyCheck[],
  rule: string,
  given: Situation,
): Promise<readonly Finding[]> {
  const check = checks.find((one) => one.rule === rule);
  if (check === undefined) throw new Error(`${rule} is not in the list`);
  const { call, facts } = await situation(given);
  return check.when(call, facts) ? check.judge(call, facts) : [];
}

/** A call with all that is known about it. */
export async function situation(
  given: Situation,
): Promise<{ readonly call: TreeCall; readonly facts: AllFacts }> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'guard-table-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const [home, top] = [join(root, 'home'), join(root, 'repo')];
  makeRepository(top, given.worktrees ?? {});
  for (const [name, text] of Object.entries(given.files ?? {})) {
    put(name.startsWith('~/') ? join(home, name.slice(2)) : join(top, name), text);
  }
  const call = await callIn(given, home, top);
  const place = ledgerOf(call.tree, SELF);
  if (place === undefined) throw new Error('there is no ledger');
  const entries = Object.entries(given.ledgers ?? {}).map(([session, list]) => {
    const claims = list.map((one) => (typeof one === 'string' ? claim(one) : one));
    appendEvents(place, session as SessionId, claims);
    return claims;
  });
  given.arrange?.(place, top);
  return { call, facts: await factsOf(given, call, place, entries.flat()) };
}

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Makes the files by which git-handoff recognises a repository where `init` ran, and its linked worktrees. */
function makeRepository(top: string, worktrees: Readonly<Record<string, string>>): void {
  const gitDir = join(top, '.git');
  for (const folder of ['objects', 'refs', 'handoff']) mkdirSync(join(gitDir, folder), { recursive: true });
  put(join(gitDir, 'HEAD'), 'ref: refs/heads/main\n');
  put(join(gitDir, 'handoff-id'), worktreeIdOf());
  for (const [name, branch] of Object.entries(worktrees)) {
    const linked = join(gitDir, 'worktrees', basename(name));
    put(join(linked, 'HEAD'), `ref: refs/heads/${branch}\n`);
    put(join(linked, 'commondir'), '../..\n');
    put(join(linked, 'gitdir'), `${join(top, '..', name, '.git')}\n`);
    put(join(linked, 'handoff-id'), worktreeIdOf(basename(name)));
    put(join(top, '..', name, '.git'), `gitdir: ${linked}\n`);
  }
}

/** The id of a worktree, by the last part of its name; the main one has none. */
export const worktreeIdOf = (name = '') => Buffer.from(name.padEnd(8, '.')).toString('hex').slice(0, 16);

async function callIn(given: Situation, home: string, top: string): Promise<TreeCall> {
  const { command, agent, client: dialect = claude, config: entries = [] } = given;
  const cwd = given.cwd === undefined ? top : join(top, given.cwd);
  const tool: ToolCall = given.tool ?? { kind: 'shell', command: command ?? 'true' };
  const settings = { ...parseSettings([]), enabled: true, ...given.settings };
  const repository = found(cwd);
  const env = { HOME: home };
  const event: GuardEvent = {
    ...{ kind: 'before-tool', name: 'PreToolUse', session: SELF, agent, cwd, tool, callId: 'call' },
    ...{ model: undefined, transcript: undefined, changedFiles: [], failure: undefined },
    toolName: given.tool === undefined ? 'Bash' : 'Write',
    ...{ source: undefined, reason: undefined, stopHookActive: false, startedBy: undefined },
  };
  return {
    ...{ event, dialect, session: SELF, cwd, repository, settings, entries, listed: undefined, now: NOW },
    machine: {
      ...{ env, home, clientPid: process.pid, processes: keptTable() },
      files: markerFiles(home, env, settings.guardPath),
    },
    tree: given.tree === undefined ? { ...repository, folder: cwd } : treeAt(join(top, given.tree)),
    budget: budgetUntil(Infinity, () => 0),
    notChecked: (what) => {
      throw new Error(`not checked: ${what}`);
    },
    log: () => undefined,
  };
}

function found(folder: string): FoundRepository {
  const repository = discoverRepository(folder);
  if (repository === undefined) throw new Error(`${folder} is in no repository`);
  return repository;
}

const treeAt = (top: string): Worktree => ({ ...found(top), folder: top, visiting: true });

async function factsOf(
  given: Situation,
  call: TreeCall,
  place: WorkPlace,
  entries: readonly WorktreeEvent[],
): Promise<AllFacts> {
  const effects = await effectsOf(call);
  const status = looked(given, entries);
  const look = () => Promise.resolve(given.late === true ? undefined : status);
  const isAlone = given.peers?.length === 0;
  const ledger = isAlone ? undefined : { place, ledgers: openLedgers(place, SELF) };
  const forLedger = isAlone ? undefined : { known: undefined, status: look };
  const live = (given.peers ?? [PEER]).map(judged);
  const ids = (some: readonly JudgedSession[]) => new Set(some.map((one) => one.record.session));
  const idle = ids(live.filter((one) => !one.isAtWork));
  const people = { own: new Set([SELF]), foreign: ids(live), idle, live };
  const git = {
    look: () => (given.late === true ? Promise.reject(new Error('late')) : look()),
    unmerged: () => Promise.resolve([]),
    isRelated: () => Promise.resolve(true),
    ...given.git,
  };
  const tool = call.event.tool ?? { kind: 'other' };
  const placed = toolPaths(tool).flatMap((path) => placePath(toolPath(call, path), true) ?? []);
  const touches = placed
    .filter((one) => one.found.gitDir === call.tree.gitDir)
    .map(({ path }) => ({ path, removes: false }));
  return {
    ledger: () => ledger,
    people: () => Promise.resolve(people),
    git: { people: () => Promise.resolve(people), ...git } as unknown as GitAnswers,
    ...{ effects, isOn: true, isFirst: true },
    touches: () => [...touches, ...namedPaths(effects, call.tree)],
    looks: { forLedger, dirty: look },
    ...given.facts,
  };
}

/** The effects of the call's command, from the real parser. */
function effectsOf({ cwd, machine, event, tree }: TreeCall): Promise<ShellEffects> {
  const { home, env, files } = machine;
  const command = event.tool?.kind === 'shell' ? event.tool.command : '';
  const at = { cwd, home, env, commonDir: tree.commonDir, headBranch: checkedOutBranch };
  return analyseShell(command, shellWorld({ ...at, aliasesAt: () => new Map(), claimed: () => [] }, files));
}

/** A status without a commit, so that no check asks git what the commit contains. */
function looked(given: Situation, entries: readonly WorktreeEvent[]): TreeStatus {
  const claimed = entries.flatMap((one): DirtyPath[] =>
    one.t === 'claim' ? [dirty(one.path, { head: one.base, index: one.base, disk: one.after })] : [],
  );
  const paths = given.dirty?.map((one) => (typeof one === 'string' ? dirty(one) : one)) ?? claimed;
  const head = { ref: 'refs/heads/main', oid: null };
  return { head, dirty: new Map(paths.map((one) => [one.path, one])), at: NOW };
}

function judged(one: SessionId | Peer): JudgedSession {
  const { session, worktree, startedAt, isAtWork = true } = typeof one === 'string' ? { session: one } : one;
  const record = recordOf(session, startedAt === undefined ? {} : { startedAt });
  return {
    record,
    worktreeId: worktreeIdOf(worktree),
    oid: oid(99),
    liveness: 'live',
    isAtWork,
    silentMs: 0,
  };
}
