import { join } from 'node:path';
import { type SettingEntry, parseSettings } from '../../domain/settings.ts';
import { escapeLine } from '../../domain/messages.ts';
import { type FoundRepository, discoverRepository } from '../../git/discover.ts';
import { realPath } from '../../host/disk.ts';
import { isInitialised, knownWorktreeId } from '../../host/folders.ts';
import type { GitVerbCall, ShellEffects } from '../../shell/effects.ts';
import { type ConfigChange, commitsBy, configChanges, isJudging } from '../../shell/git-verbs.ts';
import { type TreeCall, type Finding, type Refusal, refusedFor } from '../call.ts';
import type { CommandFacts, GitAnswers } from '../facts.ts';
import {
  areNamed,
  hookFile,
  hookRefusal,
  installedHooks,
  hooksFolder,
  isHookPath,
  looksAtCommits,
} from './hook-files.ts';
import { commitInstead } from './raw-commit.ts';

/** While another session is at work, refuses commits that our hooks do not check, and changes that would stop the hooks. */
export async function pastHooks(call: TreeCall, facts: CommandFacts): Promise<readonly Finding[]> {
  const { effects, people } = facts;
  for (const commit of call.dialect.runsGitHooks ? commitsBy(effects.gitCalls) : []) {
    const refusal = await refuseUnchecked(call, facts, commit);
    if (refusal !== undefined) return [refusal];
  }
  const refusal = await hookRefusal(call, hookChange(call, effects), people);
  return refusal === undefined ? [] : [refusal];
}

/** Refuses a commit that skips the hooks, in a worktree in which other sessions are at work. */
async function refuseUnchecked(
  call: TreeCall,
  { effects, people, git }: CommandFacts,
  commit: GitVerbCall,
): Promise<Refusal | undefined> {
  // If the commit's folder is unknown and the command makes a repository, the commit is most probably made in that repository.
  const isMade = effects.gitCalls.some(({ verb }) => verb === 'init' || verb === 'clone');
  if (commit.cwd === undefined && isMade) return undefined;
  const cwd = commit.cwd ?? call.cwd;
  const found = discoverRepository(realPath(cwd));
  if (found === undefined || !isInitialised(found.commonDir)) return undefined;
  const why = await whyUnchecked(call, commit, cwd, found, git);
  if (why === undefined) return undefined;
  const isOwn = found.commonDir === call.tree.commonDir;
  const beside = await (isOwn ? people() : git.people({ ...call, tree: { ...call.tree, ...found } }));
  const here = knownWorktreeId(found.gitDir);
  const owners = beside.live
    .filter(({ worktreeId }) => worktreeId === here)
    .map(({ record }) => record.session);
  if (owners.length === 0) return undefined;
  const text =
    `No hook of git-handoff would check this commit: ${escapeLine(why)}. The commit could include others' changes, ` +
    `because ${areNamed(owners, beside)} at work in this worktree. Nothing was run. Commit your own changes with this ` +
    `instead: ${commitInstead(call, commit, found)}`;
  return refusedFor(text, owners);
}

async function whyUnchecked(
  call: TreeCall,
  { words, overrides }: GitVerbCall,
  cwd: string,
  found: FoundRepository,
  git: GitAnswers,
): Promise<string | undefined> {
  const { home } = call.machine;
  const plain = found.gitDir === call.tree.gitDir ? call.entries : ((await git.settings(cwd)) ?? []);
  const how = {
    home,
    skips: words.some((word) => /^(?:--no-verify|-[a-zA-Z]*n[a-zA-Z]*)$/.test(word ?? '')),
  };
  const usually = looksAtCommits(plain, found, how);
  if (overrides === undefined || !usually) {
    const isLost = !usually && installedHooks(found.commonDir).length > 0;
    return isLost ? lostBy(plain, found, home) : undefined;
  }
  const seen = await git.settings(cwd, overrides);
  if (seen === undefined) return 'the command sets options for git that cannot be read';
  const changed = changedKey(plain, seen);
  if (changed !== undefined && changed !== 'core.hookspath') return `it changes ${changed}`;
  return looksAtCommits(seen, found, how) ? undefined : 'it changes core.hooksPath';
}

/** Tells why the hooks that `init` installed do not run. */
function lostBy(entries: readonly SettingEntry[], found: FoundRepository, home: string): string {
  const folder = hooksFolder(entries, found, home);
  if (folder === undefined) return 'core.hooksPath is empty';
  if (parseSettings(entries).enabled === false) return 'handoff.enabled is false';
  return folder === join(found.commonDir, 'hooks')
    ? `the hooks in ${folder} are missing, changed or not executable (git handoff doctor)`
    : `core.hooksPath is ${folder} (git handoff doctor)`;
}

/** Returns the first setting that matters to git-handoff's checks and differs between the two lists. */
function changedKey(plain: readonly SettingEntry[], seen: readonly SettingEntry[]): string | undefined {
  const last = (entries: readonly SettingEntry[], key: string) =>
    entries.findLast(([name]) => name === key)?.[1];
  const keys = new Set([...plain, ...seen].map(([key]) => key).filter((key) => key.startsWith('handoff.')));
  return [...keys].find((key) => isJudging(key) && last(plain, key) !== last(seen, key));
}

/** Describes the part of a command that changes the hooks, or settings on which they depend. */
function hookChange(call: TreeCall, effects: ShellEffects): string | undefined {
  const { tree, entries, cwd } = call;
  if (effects.handoffCalls.some(({ verb, words }) => verb === 'uninstall' && !reads(words)))
    return '`git handoff uninstall`';
  for (const gitCall of effects.gitCalls) {
    const isOurs = discoverRepository(realPath(gitCall.cwd ?? cwd))?.commonDir === tree.commonDir;
    const change = configChanges(gitCall).find(
      (one) => (isOurs || one.isGlobal) && changesSetting(one, entries),
    );
    if (change !== undefined) return `\`git config ${escapeLine(change.key)}\``;
  }
  const written = hookFile(call, effects.paths);
  if (written !== undefined) return `${escapeLine(written.by)} on ${escapeLine(written.path)}`;
  const folder = hooksFolder(entries, tree, call.machine.home);
  const hooks = folder === undefined ? undefined : realPath(folder);
  const isHook = (path: string) => hooks !== undefined && isHookPath(realPath(path), hooks, true);
  const mode = effects.modes.find(({ path, grants }) => !grants && isHook(path));
  return mode === undefined ? undefined : `a change of the mode of ${escapeLine(mode.path)}`;
}

const reads = (words: readonly (string | undefined)[]) =>
  words.some((word) => word === '--dry-run' || word === '-h' || word === '--help');

/** Whether a change of a setting matters: the value differs, and does not switch git-handoff on. */
function changesSetting({ key, value }: ConfigChange, entries: readonly SettingEntry[]): boolean {
  const name = key.toLowerCase();
  const present = entries.findLast(([known]) => known === name);
  if (value === undefined) return present !== undefined || !name.includes('.');
  return present?.[1] !== value && !(name === 'handoff.enabled' && /^(?:true|yes|on|1)$/i.test(value));
}
