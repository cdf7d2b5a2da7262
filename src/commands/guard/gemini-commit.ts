import type { Verdict } from '../../agents/dialect.ts';

/**
 * Gemini CLI's shell empties `core.hooksPath`: no hook of git's runs there, so nothing would look at what a raw
 * `git commit` takes along. Beside another live session that is refused; alone it goes unchecked.
 *
 * @param gitVerbs the git calls of the command, in order
 * @param hasPeer another live session works in that worktree
 */
export function rawCommitVerdict(
  gitVerbs: readonly { readonly verb: string; readonly cwd: string }[],
  hasPeer: boolean,
): Verdict | undefined {
  if (!hasPeer || !gitVerbs.some(({ verb }) => verb === 'commit')) return undefined;
  return {
    kind: 'deny',
    reason:
      "No git hook runs in this shell, so nothing would keep another live session's changes out of the commit, and " +
      'the repository’s own checks would be skipped. Nothing was run. Commit with this instead, which takes your own ' +
      "changes and runs the repository's hooks and signing: git handoff commit -m '<message>'",
  };
}
