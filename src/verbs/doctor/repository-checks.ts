import { readFileSync, rmSync, statSync, readdirSync } from 'node:fs';
import { join, basename, relative } from 'node:path';
import { type Settings, unknownValueText } from '../../domain/settings.ts';
import { counted, escapeLine, shellWord } from '../../domain/messages.ts';
import { type FetchRule, readFetchRules } from '../../git/config.ts';
import { listBrokenRefs, removeBrokenRef } from '../../git/refs.ts';
import { type Committer, type Repository, requireVersion } from '../../git/repository.ts';
import { git, runGit } from '../../git/run.ts';
import { listWorktrees } from '../../git/worktrees.ts';
import { exists, isFolder, entries, quietly, readText } from '../../host/disk.ts';
import {
  isInitialised,
  repositoryFolder,
  stateFolder,
  closedPaths,
  shareAll,
  tryTree,
} from '../../host/folders.ts';
import { LOG_FILE, readLog } from '../../host/log.ts';
import { isLeft } from '../../host/process-lock.ts';
import { type ProcessTable, processTable } from '../../host/processes.ts';
import { NO_RECEIPT, type Receipt, parseReceipt } from '../../install/changes.ts';
import { configHookName, isConfigHookCurrent } from '../../install/config-hooks.ts';
import { type HookFacts, planHooks, readHooks } from '../../install/git-hooks.ts';
import { hasMarker, namedShim } from '../../install/hook-block.ts';
import { isExecutable } from '../../install/programs.ts';
import { readRepository, listGitDirs } from '../../install/repository-facts.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CheckShape } from '../shapes.ts';

/** Checks that git is installed and new enough. */
export async function checkGit(cwd: string): Promise<CheckShape[]> {
  const version = (await git(['--version'], { cwd })).trim();
  requireVersion(version);
  return [doctorLine('git', 'ok', version)];
}

/** Checks that `init` ran here, and that git knows the person's e-mail address. */
export function checkInit(repository: Repository, settings: Settings, person: Committer): CheckShape[] {
  const { commonDir } = repository;
  const found = [
    settings.enabled === true
      ? doctorLine('enabled', 'ok', 'handoff.enabled is true')
      : doctorLine(
          'enabled',
          'warning',
          'sessions are not registered in this repository',
          'git handoff init',
        ),
    ...settings.unknown.map((one) => doctorLine('settings', 'warning', unknownValueText(one))),
  ];
  if (settings.enabled === true && !isInitialised(commonDir)) {
    const detail = `${repositoryFolder(commonDir)} is missing`;
    found.push(doctorLine('folder', 'problem', detail, 'git handoff init'));
  }
  if (person.email === undefined) {
    const detail = 'git knows no e-mail address: people cannot write notes';
    found.push(doctorLine('identity', 'warning', detail, 'git config user.email you@example.com'));
  }
  return found;
}

const RECENT_LINES = 500;

/** Counts the refusals and errors that the guard logged recently: only errors are a fault. */
export function checkHookLog(repository: Repository, context: Context): CheckShape[] {
  const folders = [repositoryFolder(repository.commonDir), stateFolder(context.env)];
  const lines = folders.flatMap((folder) =>
    readLog(folder).trimEnd().split('\n').filter(Boolean).slice(-RECENT_LINES),
  );
  const count = (kind: RegExp) => lines.filter((line) => kind.test(line)).length;
  const failures = count(/"kind":"(?:error|open|failed-open)"/);
  const denials = count(/"kind":"deny"/);
  const detail = `${counted(denials, 'refusal')} and ${counted(failures, 'call')} let through because of an error, in the last ${counted(lines.length, 'line')}`;
  if (failures === 0) return [doctorLine('log', 'ok', detail)];
  return [doctorLine('log', 'warning', detail, `tail ${join(folders[0] ?? '', LOG_FILE)}`)];
}

/**
 * Checks that no plain `git fetch` writes our refs. With `+refs/*:refs/*` (a mirror) a fetch replaces the handoffs here with
 * the remote's. If the fetch prunes, it also deletes handoffs that the remote lacks, even the kept copies.
 */
export async function checkRemotes(cwd: string): Promise<CheckShape[]> {
  const rules = (await readFetchRules(cwd)).filter(({ refspec }) => writesHandoffs(refspec));
  return rules.map(({ remote, refspec, prunes }) => {
    const harm = prunes ? 'replaces and deletes handoffs' : "replaces handoffs with the remote's";
    const detail = `git fetch ${shellWord(remote)} ${harm}: remote.${shellWord(remote)}.fetch is ${shellWord(refspec)}`;
    return doctorLine('remotes', prunes ? 'problem' : 'warning', detail, harmless({ remote, refspec }));
  });
}

/** Whether the `<dst>` of a refspec `[+]<src>:<dst>` (git-fetch(1)) can name our refs. */
function writesHandoffs(refspec: string): boolean {
  const target = refspec.startsWith('^') ? '' : (refspec.split(':')[1] ?? '');
  const [prefix = ''] = target.split('*');
  const isAbove =
    target.includes('*') && ['refs/handoffs/', 'refs/handoffs-local/'].some((own) => own.startsWith(prefix));
  return isAbove || /^refs\/handoffs(?:-local)?\//.test(target);
}

/** Returns the command that replaces a refspec with that of an ordinary clone. */
function harmless({ remote, refspec }: Pick<FetchRule, 'remote' | 'refspec'>): string {
  const ordinary = `+refs/heads/*:refs/remotes/${remote}/*`;
  const words = ['--fixed-value', '--replace-all', `remote.${remote}.fetch`, ordinary, refspec];
  return `git config ${words.map(shellWord).join(' ')}`;
}

/**
 * Checks whether git's hooks still run ours. If a relative core.hooksPath gives each worktree its own, checks all worktrees.
 *
 * @param packageRoot the folder that holds `git-hooks/`
 */
export async function checkGitHooks(repository: Repository, packageRoot: string): Promise<CheckShape[]> {
  const receipt = readReceipt(repository.commonDir);
  const here = await readRepository(runGit, repository.cwd);
  const isPerWorktree = here.hooksFolder?.perWorktree === true;
  const others = isPerWorktree ? await listWorktrees({ cwd: repository.cwd }) : [];
  const paths = new Set([here.topLevel ?? repository.cwd, ...others.map(({ path }) => path)]);
  const found: CheckShape[] = [];
  for (const path of paths) {
    if (isFolder(path)) found.push(...(await hooksAt(path, receipt, packageRoot, paths.size > 1)));
  }
  return found.length > 0
    ? found
    : [doctorLine('git hooks', 'ok', 'the commit hooks and pre-push are installed')];
}

async function hooksAt(
  path: string,
  receipt: Receipt,
  packageRoot: string,
  isNamed: boolean,
): Promise<CheckShape[]> {
  const facts = await readRepository(runGit, path);
  const folder = facts.hooksFolder;
  if (folder === undefined && !facts.runsConfigHooks) {
    return [
      doctorLine('git hooks', 'warning', 'core.hooksPath is empty or cannot be read: no git hook runs'),
    ];
  }
  const hooks = folder === undefined ? [] : await readHooks(runGit, folder);
  const { files, notices, forConfig } = planHooks(facts, hooks, receipt, packageRoot);
  const init = isNamed ? `cd ${shellWord(path)} && git handoff init` : 'git handoff init';
  const changed = files.map((file) => file.path);
  const found = new Map<string, CheckShape>();
  for (const hook of hooks) {
    const check = hookCheck(hook, changed.includes(hook.path), init);
    if (check !== undefined) found.set(hook.path, check);
  }
  const missing = forConfig.filter((hook) => !isConfigHookCurrent(facts.configHooks, hook, packageRoot));
  const left = notices.filter(
    (notice) =>
      notice.includes(': left as it is, ') && ![...found.keys()].some((hook) => notice.startsWith(hook)),
  );
  return [
    ...found.values(),
    ...missing.map((hook) => {
      const detail = `git runs no ${hook} hook of ours: hook.${configHookName(hook)} is missing or different`;
      return doctorLine('git hooks', 'problem', detail, init);
    }),
    ...left.map((notice) => doctorLine('git hooks', 'warning', escapeLine(notice))),
  ];
}

/** Checks one hook, and whether the program that it runs still exists. */
function hookCheck(
  { path, current, executable }: HookFacts,
  isChanged: boolean,
  init: string,
): CheckShape | undefined {
  const shim = current === undefined ? undefined : namedShim(current.toString('utf8'));
  const shown = escapeLine(path);
  const problem = (detail: string, hint = init) =>
    doctorLine('git hooks', 'problem', `${shown} ${detail}`, hint);
  if (shim !== undefined && !isExecutable(shim))
    return problem(`runs ${escapeLine(shim)}, which is gone: commits go unchecked`);
  if (isChanged && current === undefined) return problem('is missing');
  if (isChanged && current !== undefined)
    return hasMarker(current.toString('latin1'))
      ? doctorLine('git hooks', 'warning', `${shown} holds lines of another version of git-handoff`, init)
      : problem('does not run git-handoff any more');
  if (current === undefined || executable) return undefined;
  return problem('is not executable: git does not run it', `chmod +x ${shellWord(path)}`);
}

function readReceipt(commonDir: string): Receipt {
  const path = join(commonDir, 'handoff', 'install.json');
  return quietly(() => parseReceipt(readFileSync(path), path)) ?? NO_RECEIPT;
}

/** Makes one line of doctor's answer. */
export function doctorLine(
  name: string,
  status: CheckShape['status'],
  detail: string,
  hint: string | null = null,
): CheckShape {
  return { check: name, status, detail, hint };
}

export const FIX = 'git handoff doctor --fix';

/** Reports the worktree that `try` uses, because git lists it and somebody may wonder whose it is. */
export function checkTryTree({ commonDir }: Repository): CheckShape[] {
  const top = tryTree(commonDir);
  if (!exists(top)) return [];
  const command = `git worktree remove --force --force ${shellWord(top)}`;
  return [doctorLine('try', 'ok', `git handoff try runs in ${top}, which you may remove: ${command}`)];
}

/** A younger file or lock may be in use. Milliseconds. */
const YOUNG_MS = 10 * 60_000;

/** Finds private indexes and commit locks whose process is gone, and removes them with `fix`. */
export function checkLeftovers({ commonDir }: Repository, fix: boolean, now: number): CheckShape[] {
  const table = processTable();
  const left = listGitDirs(commonDir).flatMap((gitDir) =>
    entries(gitDir)
      .filter((name) => /^handoff-(?:index\.\d+|commit\.lock|try\.(?:lock|group))/.test(name))
      .map((name) => join(gitDir, name))
      .filter((file) => isLeftover(file, table, now)),
  );
  if (left.length === 0) return [];
  const detail = `${counted(left.length, 'file')} of processes that are gone: ${left.slice(0, 5).join(', ')}`;
  if (!fix) return [doctorLine('leftovers', 'warning', detail, FIX)];
  for (const file of left) rmSync(file, { force: true });
  return [doctorLine('leftovers', 'fixed', `${detail}; removed`)];
}

function isLeftover(file: string, table: ProcessTable, now: number): boolean {
  const age = now - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now);
  const index = /^handoff-index\.(\d+)(?:\.[\w-]+)?(?:\.lock)?$/.exec(basename(file));
  if (index !== null) return age > YOUNG_MS && table.runningSince(Number(index[1])) === undefined;
  const words = readText(file);
  return words === '' ? age > YOUNG_MS : isLeft(file, words, table, now);
}

/**
 * Finds files of ours that other users of a shared repository cannot read: they would not see this user's sessions. With `fix`,
 * gives others access to the files that belong to this user.
 */
export function checkShared({ commonDir }: Repository, fix: boolean): CheckShape[] {
  const folder = repositoryFolder(commonDir);
  if (fix) shareAll(folder);
  const [closed] = closedPaths(folder);
  if (closed === undefined) return [];
  const detail = `others may write to this repository, but ${escapeLine(closed)} is closed to them`;
  return [doctorLine('shared', 'problem', `${detail}; its owner can open it`, FIX)];
}

/** A lock older than this is reported: git's own writes take far less. Milliseconds. */
const BLOCKING_MS = 60_000;
/**
 * Finds lock files that a killed writer left on our refs, packed-refs, reftables and the config: git never removes
 * them. With `fix`, removes those that are at least ten minutes old.
 */
export function checkLocks({ commonDir }: Repository, fix: boolean, now: number): CheckShape[] {
  const folders = ['refs/handoffs', 'refs/handoffs-local', 'refs/handoffs-remote', 'reftable'];
  const files = [
    ...folders.flatMap((folder) => locksBelow(join(commonDir, folder))),
    ...['packed-refs.lock', 'config.lock'].map((name) => join(commonDir, name)),
  ];
  return files.flatMap((file) => {
    const modified = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? now;
    return now - modified < BLOCKING_MS ? [] : [lockCheck(file, now - modified, commonDir, fix)];
  });
}

function lockCheck(file: string, ageMs: number, commonDir: string, fix: boolean): CheckShape {
  const minutes = Math.round(ageMs / 60_000);
  const what = `${escapeLine(relative(commonDir, file))} is ${minutes} min old and blocks writes`;
  if (ageMs < YOUNG_MS) {
    const detail = `${what}. If no git is running here, it was left behind; --fix removes it when it is 10 minutes old`;
    return doctorLine('locks', 'problem', detail, FIX);
  }
  if (!fix) return doctorLine('locks', 'problem', what, FIX);
  rmSync(file, { force: true });
  return doctorLine('locks', 'fixed', `${what}; removed`);
}

/** Finds refs that a crash of the machine left without a value. With `fix`, removes them: git cannot replace such a ref. */
export async function checkBrokenRefs(repository: Repository, fix: boolean): Promise<CheckShape[]> {
  return (await listBrokenRefs(repository)).map((name) => {
    const detail = `${escapeLine(name)} has no value, which makes git fetch fail`;
    return fix && removeBrokenRef(repository, name)
      ? doctorLine('refs', 'fixed', `${detail}; removed`)
      : doctorLine('refs', 'problem', detail, FIX);
  });
}

function locksBelow(folder: string): string[] {
  const names = quietly(() => readdirSync(folder, { recursive: true, encoding: 'utf8' })) ?? [];
  return names.filter((name) => name.endsWith('.lock')).map((name) => join(folder, name));
}
