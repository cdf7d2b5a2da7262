import { join } from 'node:path';
import type { GitRunner } from '../git/run.ts';
import { exists, kindOf } from '../host/disk.ts';
import { type FileChange, type PlannedFiles, type Receipt, planFile } from './changes.ts';
import { configHookName } from './config-hooks.ts';
import { readBytes } from './disk.ts';
import { shellQuote } from './guard-command.ts';
import {
  GIT_HOOKS,
  type GitHook,
  hasMarker,
  isShellScript,
  shimPath,
  withBlock,
  withoutBlocks,
} from './hook-block.ts';
import { isExecutable } from './programs.ts';
import { type HooksFolder, type RepositoryFacts, isIgnored } from './repository-facts.ts';

export interface HookFacts {
  readonly hook: GitHook;
  readonly path: string;
  readonly kind: ReturnType<typeof kindOf>;
  readonly current: Buffer | undefined;
  readonly executable: boolean;
  /** Whether git ignores the file, or it lies outside of the working tree. */
  readonly hidden: boolean;
  /** The former hook, which the program pre-commit (pre-commit.com) has renamed to `<hook>.legacy`, and runs first. */
  readonly legacy: Buffer | undefined;
}

/** Reads the hooks that `init` adds to. */
export async function readHooks(git: GitRunner, folder: HooksFolder): Promise<HookFacts[]> {
  return Promise.all(
    GIT_HOOKS.map(async (hook): Promise<HookFacts> => {
      const path = join(folder.path, hook);
      const kind = kindOf(path);
      return {
        hook,
        path,
        kind,
        current: kind === 'file' ? await readBytes(path) : undefined,
        executable: isExecutable(path),
        hidden: !folder.inWorkTree || (await isIgnored(git, path)),
        legacy: await readBytes(`${path}.legacy`).catch(() => undefined),
      };
    }),
  );
}

/** `forConfig`: hooks whose file we may not change, but which git can run from its config. */
interface PlannedHooks extends PlannedFiles {
  readonly forConfig: readonly GitHook[];
}

/** Plans our blocks. Pure. A hook that cannot be changed safely stays as it is, with a notice. */
export function planHooks(
  repository: RepositoryFacts,
  hooks: readonly HookFacts[],
  receipt: Receipt,
  packageRoot: string,
): PlannedHooks {
  const { hooksFolder: folder, runsConfigHooks } = repository;
  if (folder === undefined) {
    const instead = runsConfigHooks
      ? 'git runs our hooks through hook.handoff-* in its config'
      : 'no git hook is installed';
    const notices = [`core.hooksPath is empty or cannot be read: ${instead}`];
    return { files: [], notices, forConfig: runsConfigHooks ? GIT_HOOKS : [] };
  }
  const files: FileChange[] = [];
  const notices: string[] = [];
  const forConfig: GitHook[] = [];
  for (const facts of hooks) {
    const left = reasonToLeave(folder, facts, packageRoot);
    if (left === undefined) {
      files.push(...planHook(facts, receipt, packageRoot));
    } else if (!callsUs(facts, packageRoot)) {
      if (runsConfigHooks) forConfig.push(facts.hook);
      notices.push(
        runsConfigHooks
          ? `${facts.path}: not changed, ${left.why}; git runs our hook through hook.${configHookName(facts.hook)} in its config`
          : `${facts.path}: left as it is, ${left.why}. ${left.advice}`,
      );
    }
  }
  if (folder.perWorktree && repository.worktreeGitDirs.length > 1) {
    notices.push(
      'core.hooksPath is relative: every worktree has hooks of its own, so run init in each of them',
    );
  }
  return { files, notices: [...new Set(notices)], forConfig };
}

function planHook(facts: HookFacts, receipt: Receipt, packageRoot: string): FileChange[] {
  const { hook, path, current } = facts;
  if (runsAsLegacy(facts)) return [];
  return planFile({
    role: 'git-hook',
    path,
    current,
    receipt,
    mode: 0o755,
    strip: (text) => withoutBlocks(text) ?? text,
    want: (base, text) => withBlock(text, base, hook, packageRoot),
  });
}

function reasonToLeave(folder: HooksFolder, facts: HookFacts, packageRoot: string) {
  const { kind, path, hidden, current, executable } = facts;
  const shim = shellQuote(shimPath(packageRoot, facts.hook));
  const line = `Add this line to the hook: [ ! -x ${shim} ] || ${shim} "$@" || exit`;
  const left = (why: string, advice = line) => ({ why: `because ${why}`, advice });
  if (folder.shared) return left('core.hooksPath leads outside this repository');
  if (kind === 'link')
    return left(
      `it is a symbolic link ${exists(path) ? 'to a file that others may use' : 'that leads nowhere'}`,
    );
  if (kind !== 'file' && kind !== 'none') return left('it is not a file');
  if (!hidden) return left('it belongs to the working tree (git does not ignore it)');
  if (current === undefined) return undefined;
  const text = current.toString('latin1');
  if (!executable)
    return left(
      'it is not executable (git does not run it)',
      'Make it executable or remove it, then run: git handoff init',
    );
  if (!isShellScript(text))
    return left(
      'no POSIX shell runs it',
      `At its end, run ${shim} with the hook's own arguments, and exit with that command's status`,
    );
  return withoutBlocks(text) === undefined ? left('the end of our block is missing') : undefined;
}

/** Whether the hook calls our shim already, because somebody followed our advice. */
function callsUs(facts: HookFacts, packageRoot: string): boolean {
  const shim = Buffer.from(shimPath(packageRoot, facts.hook), 'utf8');
  return facts.current?.includes(shim) ?? false;
}

/** Whether the program pre-commit renamed our hook to `<hook>.legacy` and runs it first. */
function runsAsLegacy({ current, legacy }: HookFacts): boolean {
  const text = current?.toString('latin1') ?? '';
  const isPreCommit = /pre[-_]commit\.com|pre_commit|generated by pre-commit/i.test(text);
  return isPreCommit && hasMarker(legacy?.toString('latin1') ?? '');
}
