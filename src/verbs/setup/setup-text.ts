import type { InstallResult } from './init.ts';
import { escapeText } from '../../domain/surfacing.ts';
import type { Rendered } from '../../ui/terminal.ts';

/** The plan that was applied, and what it came to. */
export function renderInstall(result: InstallResult): Rendered {
  const closing = {
    applied: 'done',
    unchanged: 'nothing to do',
    declined: 'nothing was changed',
  }[result.outcome];
  return `${result.plan === '' ? '' : `${escapeText(result.plan).trimEnd()}\n`}${closing}\n`;
}
