import type { InstallResult } from './init.ts';
import { escapeText } from '../../domain/surfacing.ts';
import type { Rendered } from '../../ui/terminal.ts';

/**
 * What `init` or `uninstall` came to: the whole plan where only that was wanted, else what was done.
 *
 * @param summary by file, for who was not asked and has not read it yet
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
