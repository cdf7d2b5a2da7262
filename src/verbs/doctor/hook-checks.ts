import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import type { Repository } from '../../git/repository.ts';
import { runGit } from '../../git/run.ts';
import { listWorktrees } from '../../git/worktrees.ts';
import { isFolder } from '../../host/disk.ts';
import { configHookName, isConfigHookCurrent } from '../../install/config-hooks.ts';
import { hasMarker, namedShim } from '../../install/hook-block.ts';
import { type HookFacts, hooksForConfig, planHooks, readHooks } from '../../install/git-hooks.ts';
import { isExecutable } from '../../install/programs.ts';
import { NO_RECEIPT, type Receipt, parseReceipt } from '../../install/changes.ts';
import { readRepository } from '../../install/repository-facts.ts';
import type { CheckShape } from '../shapes.ts';
import { doctorLine } from './finding.ts';

/**
 * Checks whether git's hooks still run ours: in every worktree if each has hooks of its own (a relative
 * core.hooksPath), or else once.
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
  const missing = hooks.filter((hook) => changed.includes(hook.path));
  const found: CheckShape[] = goneShims(hooks, init);
  const gone = new Set(found.map(({ detail }) => detail.split(' runs ')[0]));
  for (const hook of missing) {
    const path = escapeLine(hook.path);
    if (!gone.has(path)) found.push(changedCheck(hook, path, init));
  }
  for (const hook of hooks) {
    if (hook.current === undefined || hook.executable || changed.includes(hook.path)) continue;
    const detail = `${escapeLine(hook.path)} is not executable: git does not run it`;
    found.push(doctorLine('git hooks', 'problem', detail, `chmod +x ${shellWord(hook.path)}`));
  }
  for (const hook of hooksForConfig(facts, hooks, packageRoot)) {
    if (isConfigHookCurrent(facts.configHooks, hook, packageRoot)) continue;
    const detail = `git runs no ${hook} hook of ours: hook.${configHookName(hook)} is missing or different`;
    found.push(doctorLine('git hooks', 'problem', detail, init));
  }
  const left = notices.filter((notice) => notice.includes(': left as it is, '));
  const isNoticed = (notice: string) =>
    found.some(({ detail }) => notice.startsWith(detail.split(' is not ')[0] ?? ''));
  for (const notice of left)
    if (!isNoticed(notice)) found.push(doctorLine('git hooks', 'warning', escapeLine(notice)));
  return found;
}

function changedCheck({ current }: HookFacts, path: string, init: string): CheckShape {
  if (current === undefined) return doctorLine('git hooks', 'problem', `${path} is missing`, init);
  return hasMarker(current.toString('latin1'))
    ? doctorLine('git hooks', 'warning', `${path} holds lines of another version of git-handoff`, init)
    : doctorLine('git hooks', 'problem', `${path} does not run git-handoff any more`, init);
}

/** Returns problems with hooks that find nothing to start, because their commits go through unnoticed. */
function goneShims(hooks: readonly HookFacts[], init: string): CheckShape[] {
  return hooks.flatMap(({ path, current }) => {
    const shim = current === undefined ? undefined : namedShim(current.toString('utf8'));
    if (shim === undefined || isExecutable(shim)) return [];
    const detail = `${escapeLine(path)} runs ${escapeLine(shim)}, which is gone: commits go unchecked`;
    return [doctorLine('git hooks', 'problem', detail, init)];
  });
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
