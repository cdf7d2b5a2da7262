import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { type Settings, unknownValueText } from '../../domain/settings.ts';
import { type Committer, type Repository, requireVersion } from '../../git/repository.ts';
import { git, runGit } from '../../git/run.ts';
import { isInitialised, repositoryFolder, stateFolder } from '../../host/folders.ts';
import { LOG_FILE, readLog } from '../../host/log.ts';
import type { Context } from '../../sessions/caller.ts';
import { counted } from '../../ui/terminal.ts';
import type { CheckShape } from '../shapes.ts';
import { shellWord, escapeLine } from '../../domain/surfacing.ts';
import { type FetchRule, readFetchRules } from '../../git/config.ts';
import { listWorktrees } from '../../git/worktrees.ts';
import { isFolder } from '../../host/disk.ts';
import { configHookName, isConfigHookCurrent } from '../../install/config-hooks.ts';
import { hasMarker, namedShim } from '../../install/hook-block.ts';
import { type HookFacts, hooksForConfig, planHooks, readHooks } from '../../install/git-hooks.ts';
import { isExecutable } from '../../install/programs.ts';
import { NO_RECEIPT, type Receipt, parseReceipt } from '../../install/changes.ts';
import { readRepository } from '../../install/repository-facts.ts';

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

/** Counts what the guard logged recently: refusals are its work, errors are our fault. */
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
 * the remote's; with pruning it also deletes those that the remote lacks, and even the kept copies.
 */
export async function checkRemotes(cwd: string): Promise<CheckShape[]> {
  const rules = (await readFetchRules(cwd)).filter(({ refspec }) => writesHandoffs(refspec));
  return rules.map(({ remote, refspec, prunes }) => {
    const harm = prunes ? 'replaces and deletes handoffs' : "replaces handoffs with the remote's";
    const detail = `git fetch ${shellWord(remote)} ${harm}: remote.${shellWord(remote)}.fetch is ${shellWord(refspec)}`;
    return doctorLine('remotes', prunes ? 'problem' : 'warning', detail, harmless({ remote, refspec }));
  });
}

/** Whether a refspec `[+]<src>:<dst>` (git-fetch(1)) writes under one of our prefixes, or to a pattern that matches one. */
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
 * Checks whether git's hooks still run ours: in every worktree if a relative core.hooksPath gives each its own hooks, or
 * else once.
 *
 * @param packageRoot the folder that holds `git-hooks/`
 */
export async function checkGitHooks(repository: Repository, packageRoot: string): Promise<CheckShape[]> {
  const receipt = await readReceipt(repository.commonDir);
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
  const { files, notices } = planHooks(facts, hooks, receipt, packageRoot);
  const init = isNamed ? `cd ${shellWord(path)} && git handoff init` : 'git handoff init';
  const changed = files.map(({ change }) => change.path);
  const found = new Map<string, CheckShape>();
  for (const hook of hooks) {
    const check = hookCheck(hook, changed.includes(hook.path), init);
    if (check !== undefined) found.set(hook.path, check);
  }
  const missing = hooksForConfig(facts, hooks, packageRoot).filter(
    (hook) => !isConfigHookCurrent(facts.configHooks, hook, packageRoot),
  );
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

/** Checks one hook. If the program that it runs is gone, nothing checks the commits. */
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

async function readReceipt(commonDir: string): Promise<Receipt> {
  const path = join(commonDir, 'handoff', 'install.json');
  const bytes = await fs.readFile(path).catch(() => undefined);
  try {
    return parseReceipt(bytes, path);
  } catch {
    return NO_RECEIPT;
  }
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

/** The command that repairs what can be repaired. */
export const FIX = 'git handoff doctor --fix';
