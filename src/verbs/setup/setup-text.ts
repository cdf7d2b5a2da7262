import type { InstallResult } from './init.ts';
import { escapeText } from '../../domain/surfacing.ts';
import type { Rendered } from '../../ui/terminal.ts';

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
