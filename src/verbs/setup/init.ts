import { dirname } from 'node:path';
import { escapeLine, escapeText, Failure } from '../../domain/messages.ts';
import { type Change, applyChanges } from '../../install/changes.ts';
import type { InstallContext } from '../../install/client.ts';
import { describeChanges } from '../../install/describe.ts';
import { requireWritable } from '../../install/disk.ts';
import { type InitGoal, planInit } from '../../install/plan-init.ts';
import { repositoryFolder, shareAll } from '../../host/folders.ts';
import type { Rendered } from '../../ui/terminal.ts';
import { summarize } from './summary.ts';

export interface InitOptions extends InitGoal {
  readonly yes: boolean;
  readonly diff?: boolean;
}

/** What `init` or `uninstall` did. */
export interface InstallResult {
  /** `unchanged`: there was nothing to do; `planned`: only the plan was asked for; `declined`: the person said no. */
  readonly outcome: 'applied' | 'unchanged' | 'planned' | 'declined';
  /** The plan as text, with a diff of every file that is not git-handoff's alone. */
  readonly plan: string;
  /** The plan by file, one line each. */
  readonly summary: string;
  /** The absolute paths that were made, changed or removed. */
  readonly changed: readonly string[];
  /** What the person must know or do by hand. */
  readonly notices: readonly string[];
}

/**
 * Switches git-handoff on in this repository: sets `handoff.enabled`, and installs hooks for the clients and for git. Shows its
 * plan by file before it asks. Running it again changes nothing.
 *
 * @throws Failure `usage` (settings that cannot be edited, nobody to ask), `environment` (Windows, no repository, not
 *   writable: then nothing is changed), `integrity` (damaged receipt)
 */
export async function init(options: InitOptions, context: InstallContext): Promise<InstallResult> {
  if (context.platform === 'win32') {
    throw new Failure('environment', 'git-handoff does not run on Windows; install and run it inside WSL');
  }
  const { changes, notices, repository } = await planInit(context, options);
  const plan = {
    plan: describeChanges(changes),
    summary: summarize(changes, context, repository),
    changed: [],
    // Notices contain paths, which may hold control characters.
    notices: notices.map(escapeLine),
  };
  if (options.diff === true) return { outcome: changes.length > 0 ? 'planned' : 'unchanged', ...plan };
  await requireWritablePlaces(changes);
  if (changes.length > 0 && !options.yes) {
    if (context.confirm === undefined) {
      throw new Failure('usage', 'init asks before it changes files, and there is no terminal to ask on', {
        hint: sameAgain(options, '--yes'),
      });
    }
    if (!(await context.confirm(question(plan.summary, options)))) return { outcome: 'declined', ...plan };
  }
  await applyChanges(changes);
  shareAll(repositoryFolder(repository.commonDir));
  return { outcome: changes.length > 0 ? 'applied' : 'unchanged', ...plan, changed: pathsOfPlan(changes) };
}

/** Returns the paths of changes, each once. */
export const pathsOfPlan = (changes: readonly Change[]): string[] => [
  ...new Set(changes.map(({ path }) => path)),
];

function question(summary: string, options: InitOptions): string {
  return [
    `git handoff init will change, ${summary.trimEnd()}`,
    'Your own hooks and settings stay. Nothing leaves this machine.',
    `Every line: ${sameAgain(options, '--diff')}    Undo: git handoff uninstall`,
  ].join('\n');
}

/** Returns the command line that repeats this one with `--yes` or `--diff`. */
function sameAgain(
  { scope, clients, instructions, skill, contextNudge }: InitOptions,
  word: '--yes' | '--diff',
): string {
  const words = [
    ...(scope === 'user' ? [] : [`--${scope}`]),
    ...(clients.length === 0 ? [] : ['--client', clients.join(',')]),
    ...(instructions === true ? ['--instructions'] : []),
    ...(skill === true ? ['--skill'] : []),
    ...(contextNudge === true ? ['--context-nudge'] : []),
  ];
  return ['git handoff init', word, ...words].join(' ');
}

/** Checks that every folder of a plan is writable, before the first change. */
export async function requireWritablePlaces(changes: readonly Change[]): Promise<void> {
  for (const folder of new Set(changes.map((change) => dirname(change.path)))) await requireWritable(folder);
}

/**
 * Tells what `init` or `uninstall` did, or shows the whole plan if only that was asked for.
 *
 * @param summary the plan by file, for a person who was not asked and so has not read it yet
 */
export function renderInstall(
  { outcome, plan }: InstallResult,
  verb: 'init' | 'uninstall',
  summary: string | undefined,
): Rendered {
  if (outcome === 'planned') return `${escapeText(plan).trimEnd()}\n`;
  if (outcome === 'unchanged') return 'nothing to do\n';
  if (outcome === 'declined') return 'nothing was changed\n';
  return summary === undefined ? 'done\n' : `git handoff ${verb} changes, ${escapeText(summary)}done\n`;
}
