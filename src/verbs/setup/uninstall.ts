import { Failure } from '../../domain/failure.ts';
import { applyChanges } from '../../install/apply.ts';
import { INSTALLERS } from '../../install/clients.ts';
import type { InstallContext } from '../../install/context.ts';
import { describeChanges } from '../../install/describe.ts';
import { planUninstall } from '../../install/plan-uninstall.ts';
import { type UninstallFacts, readUninstallFacts } from '../../install/uninstall-facts.ts';
import { type InstallResult, requireWritablePlaces, result } from './init.ts';
import { summarize } from './summary.ts';
import {
  type Belongings,
  describeBelongings,
  findBelongings,
  keepBelongings,
  removeBelongings,
  restoreCommand,
} from './erase.ts';

export interface UninstallOptions {
  /** Do not ask. Without a terminal nobody is asked either: what goes can be had again with `init`. */
  readonly yes: boolean;
  /** Only show the plan. */
  readonly diff?: boolean;
  /** Remove the hooks in the user's settings even when other repositories use them. */
  readonly user: boolean;
  /** Remove the notes and all else that git-handoff keeps in the repository, after a backup; asks for `yes` without a terminal. */
  readonly purge?: {
    /** Milliseconds since the epoch. */
    readonly now: number;
  };
}

/**
 * Takes back what `init` did in this repository, byte for byte where nobody edited the files since, else by
 * removing our entries alone. The notes under `refs/handoffs/` stay, unless they are to be purged: then they are put
 * into a file first.
 *
 * @throws Failure `environment` (no repository, not writable: then nothing is changed), `integrity`, `lost-race`
 */
export async function uninstall(options: UninstallOptions, context: InstallContext): Promise<InstallResult> {
  const facts = await readUninstallFacts(context, INSTALLERS, options.user);
  const belongings = options.purge === undefined ? undefined : await belongingsOf(facts, options.purge.now);
  const planned = planUninstall(facts, INSTALLERS, options.user);
  const { changes } = planned;
  const hasRefs = belongings !== undefined && belongings.refs.length > 0;
  const kept = hasRefs ? describeBelongings(belongings) : '';
  const plan = {
    text: kept + describeChanges(changes),
    summary: summarize(changes, context, facts.repository?.facts) + kept.replace(/^(?=.)/gm, '  '),
  };
  if (changes.length === 0 && !hasRefs) return result('unchanged', plan, [], planned.notices);
  if (options.diff === true) return result('planned', plan, [], planned.notices);
  await requireWritablePlaces(changes);
  if (!(await mayApply(options, context, plan.summary))) return result('declined', plan, [], planned.notices);
  if (belongings !== undefined) await keepBelongings(context.cwd, belongings);
  await applyChanges(changes);
  if (belongings !== undefined) await removeBelongings(context.cwd, belongings);
  const applied = result('applied', plan, changes, [...planned.notices, ...closing(belongings)]);
  return hasRefs ? { ...applied, changed: [...applied.changed, belongings.backup] } : applied;
}

async function mayApply(
  options: UninstallOptions,
  { confirm }: InstallContext,
  summary: string,
): Promise<boolean> {
  const { yes, user, purge } = options;
  if (yes) return true;
  if (confirm !== undefined) return confirm(question(summary, options));
  if (purge === undefined) return true;
  const message = 'uninstall asks before it removes notes, and there is no terminal to ask on';
  throw new Failure('usage', message, {
    hint: `git handoff uninstall --purge --yes${user ? ' --user' : ''}`,
  });
}

/** What a person reads before the answer. */
function question(summary: string, { user, purge }: UninstallOptions): string {
  const words = `${purge === undefined ? '' : ' --purge'}${user ? ' --user' : ''}`;
  return [
    `git handoff uninstall will change, ${summary.trimEnd()}`,
    purge === undefined
      ? 'Your own hooks and settings stay, and so do the notes.'
      : 'Your own hooks and settings stay.',
    `Every line: git handoff uninstall --diff${words}    Undo: git handoff init`,
  ].join('\n');
}

function belongingsOf({ repository }: UninstallFacts, now: number): Promise<Belongings> {
  if (repository !== undefined) {
    const { cwd, commonDir, worktreeGitDirs } = repository.facts;
    return findBelongings(cwd, commonDir, worktreeGitDirs, now);
  }
  throw new Failure('environment', 'not a git repository (or any of the parent directories)', {
    hint: 'cd into the repository whose notes are to go',
  });
}

function closing(belongings: Belongings | undefined): string[] {
  if (belongings === undefined) return ['handoffs stay in the repository, under refs/handoffs/'];
  if (belongings.refs.length === 0) return [];
  return [
    `all notes are in ${belongings.backup} now; to have them back: ${restoreCommand(belongings)}`,
    'their objects stay until git collects them: git gc --prune=now',
  ];
}
