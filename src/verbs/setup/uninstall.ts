import { rmSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { escapeLine, Failure, shellWord } from '../../domain/messages.ts';
import { type SessionId, peerNames } from '../../domain/names.ts';
import { createBundle } from '../../git/bundle.ts';
import { readSettings } from '../../git/config.ts';
import { HANDOFFS, LOCAL, REMOTE } from '../../git/namespace.ts';
import { listRefNames, type RefValue, updateRefs } from '../../git/refs.ts';
import { entries, exists, quietly } from '../../host/disk.ts';
import { applyChanges } from '../../install/changes.ts';
import type { InstallContext } from '../../install/client.ts';
import { describeChanges } from '../../install/describe.ts';
import { planUninstall } from '../../install/plan-uninstall.ts';
import type { RepositoryFacts } from '../../install/repository-facts.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import { clientsOf } from '../../sessions/records.ts';
import { judgedSessions, openWorkspace } from '../workspace.ts';
import { type InstallResult, pathsOfPlan, requireWritablePlaces } from './init.ts';
import { summarize } from './summary.ts';

export interface UninstallOptions {
  /** Whether to skip the question. Without a terminal nothing is asked, either, since `init` can restore what is removed. */
  readonly yes: boolean;
  readonly diff?: boolean;
  /** Whether to remove the hooks in the user's settings even if other repositories use them. */
  readonly user: boolean;
  /** If set, removes all that git-handoff keeps in the repository, even notes, after a backup; needs `yes` or a terminal. */
  readonly purge?: {
    /** Milliseconds since the epoch. */
    readonly now: number;
  };
}

/**
 * Undoes what `init` did in this repository: byte for byte if nobody has edited the files since, or else by removing
 * only our entries. The notes under `refs/handoffs/` stay unless `purge` is set, which first saves them in a file.
 *
 * @throws Failure `environment` (no repository, not writable: then nothing is changed), `integrity`, `lost-race`
 */
export async function uninstall(options: UninstallOptions, context: InstallContext): Promise<InstallResult> {
  const planned = await planUninstall(context, options.user);
  const { repository, changes } = planned;
  const belongings = options.purge && (await findBelongings(repository, options.purge.now));
  const hasRefs = belongings !== undefined && belongings.refs.length > 0;
  const kept = hasRefs ? describeBelongings(belongings) : '';
  const plan = {
    plan: kept + describeChanges(changes),
    summary: summarize(changes, context, repository) + kept.replace(/^(?=.)/gm, '  '),
    changed: [],
    notices: planned.notices.map(escapeLine),
  };
  if (changes.length === 0 && !hasRefs) return { outcome: 'unchanged', ...plan };
  if (options.diff === true) return { outcome: 'planned', ...plan };
  await requireWritablePlaces(changes);
  if (!(await mayApply(options, context, question(plan.summary, options, hasRefs))))
    return { outcome: 'declined', ...plan };
  if (hasRefs) await createBundle(context.cwd, belongings.backup, belongings.refs);
  await applyChanges(changes);
  if (belongings !== undefined) await removeBelongings(context.cwd, belongings);
  return {
    outcome: 'applied',
    ...plan,
    changed: [...pathsOfPlan(changes), ...(hasRefs ? [belongings.backup] : [])],
    notices: [...plan.notices, ...closing(repository, belongings).map(escapeLine)],
  };
}

/**
 * Names the sessions at work in the repository, because from now on nothing protects their work from each other.
 *
 * @throws Failure `not-owner` when one session would switch git-handoff off for others
 */
export async function unguardedSessions(context: Context): Promise<string[]> {
  // Outside of a repository only the user's settings are removed.
  const found = await Promise.all([openWorkspace(context), readSettings(context.cwd)]).catch(() => undefined);
  if (found === undefined) return [];
  const judged = judgedSessions(...found, context.now);
  const live = judged.filter(({ liveness }) => liveness === 'live').map(({ record }) => record.session);
  if (live.length === 0) return [];
  const names = (ids: readonly SessionId[]) => peerNames(ids, { clients: clientsOf(judged) });
  const self = findSession(context, judged, undefined)?.id;
  const others = live.filter((session) => session !== self);
  if (self !== undefined && others.length > 0) {
    throw new Failure('not-owner', `nothing would protect the work of ${names(others)} any more`, {
      hint: 'ask the user to type: git handoff uninstall',
    });
  }
  return [`still at work here, without git-handoff from now on: ${names(live)}`];
}

async function mayApply(
  { yes, user, purge }: UninstallOptions,
  { confirm }: InstallContext,
  question: string,
): Promise<boolean> {
  if (yes) return true;
  if (confirm !== undefined) return confirm(question);
  if (purge === undefined) return true;
  const message = 'uninstall asks before it removes notes, and there is no terminal to ask on';
  throw new Failure('usage', message, {
    hint: `git handoff uninstall --purge --yes${user ? ' --user' : ''}`,
  });
}

function question(summary: string, { user, purge }: UninstallOptions, hasRefs: boolean): string {
  const words = `${purge === undefined ? '' : ' --purge'}${user ? ' --user' : ''}`;
  return [
    `git handoff uninstall will change, ${summary.trimEnd()}`,
    hasRefs
      ? 'Your own hooks and settings stay. At the end you get the command that brings the notes back.'
      : `Your own hooks and settings stay${purge === undefined ? ', and so do the notes' : ''}. Undo: git handoff init`,
    `To see every line: git handoff uninstall --diff${words}`,
  ].join('\n');
}

function closing(repository: RepositoryFacts | undefined, belongings: Belongings | undefined): string[] {
  if (repository === undefined || belongings?.refs.length === 0) return [];
  if (belongings === undefined)
    return ['notes and records stay under refs/handoffs*; to remove them: git handoff uninstall --purge'];
  return [
    `all notes are in ${belongings.backup} now; to have them back: ${restoreCommand(belongings)}`,
    'their objects stay until git collects them (git gc --prune=now), and what was pushed stays on the remotes',
  ];
}

/** What git-handoff has written into a repository, besides the changes of `init`. */
interface Belongings {
  readonly refs: readonly RefValue[];
  /** The folders of our reflogs, and our files in the git folders of worktrees; absolute paths. */
  readonly files: readonly string[];
  /** Folders that git leaves behind after their last ref is deleted; absolute paths. */
  readonly folders: readonly string[];
  /** The file that will keep the refs; an absolute path. */
  readonly backup: string;
}

const FOLDERS = [HANDOFFS, LOCAL, REMOTE];

/**
 * Finds what git-handoff has written; changes nothing.
 *
 * @param now milliseconds since the epoch
 * @throws Failure `environment` outside of a repository
 */
async function findBelongings(repository: RepositoryFacts | undefined, now: number): Promise<Belongings> {
  if (repository === undefined)
    throw new Failure('environment', 'not a git repository (or any of the parent directories)', {
      hint: 'cd into the repository whose notes to remove',
    });
  const { cwd, commonDir, worktreeGitDirs } = repository;
  const stamp = new Date(now).toISOString().replace(/\.\d+/, '').replaceAll(/[-:]/g, '');
  return {
    refs: await listRefNames({ cwd }, FOLDERS),
    folders: FOLDERS.map((prefix) => join(commonDir, prefix)),
    files: [
      ...FOLDERS.map((prefix) => join(commonDir, 'logs', prefix)),
      ...worktreeGitDirs.flatMap((dir) =>
        entries(dir)
          .filter((name) => name.startsWith('handoff-'))
          .map((name) => join(dir, name)),
      ),
    ],
    // The name must not begin with `handoff-`, or the next purge would remove the file.
    backup: freeName(join(commonDir, `git-handoff-backup-${stamp}`)),
  };
}

function freeName(path: string, number = 1): string {
  const name = `${path}${number === 1 ? '' : `-${number}`}.bundle`;
  return exists(name) ? freeName(path, number + 1) : name;
}

function describeBelongings({ refs, backup }: Belongings): string {
  const counts = FOLDERS.flatMap((prefix) => {
    const count = refs.filter(({ name }) => name.startsWith(prefix)).length;
    return count === 0 ? [] : [`remove ${count} ${count === 1 ? 'ref' : 'refs'} under ${prefix}`];
  });
  return [`create ${escapeLine(backup)} (git bundle), with all that is removed`, ...counts, ''].join('\n');
}

function restoreCommand({ backup }: Belongings): string {
  return `git fetch --no-tags ${shellWord(backup)} 'refs/*:refs/*'`;
}

/**
 * Removes the refs, which the backup holds, in one transaction by compare-and-swap; then our files and folders.
 *
 * @throws Failure `lost-race` when a ref was written meanwhile: then none is removed
 */
async function removeBelongings(cwd: string, { refs, files, folders }: Belongings): Promise<void> {
  const again = 'git handoff uninstall --purge';
  const updates = refs.map(({ name, oid }) => ({ ref: name, next: undefined, old: oid }));
  const result = await updateRefs({ cwd }, updates);
  if (result.kind === 'locked') {
    throw new Failure('environment', `a lock is in the way; nothing was removed: ${result.detail}`, {
      hint: again,
    });
  }
  if (result.kind !== 'done') {
    throw new Failure('lost-race', 'a session wrote a note meanwhile; nothing was removed', { hint: again });
  }
  for (const file of files) rmSync(file, { recursive: true, force: true });
  // This fails for a folder that is missing, or in which somebody has just written a handoff.
  for (const folder of folders) quietly(() => rmdirSync(folder));
}
