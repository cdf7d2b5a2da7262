import type { RemoteSummary } from '../domain/tracking/relation.ts';
import { escapeLine, shellWord } from '../domain/surfacing.ts';

/** Prints a line for each remote that is out of sync. Only a person sees the command: an agent would obey it. */
export function remoteLines(remotes: readonly RemoteSummary[], isAtTerminal: boolean): string {
  return remotes.map((one) => remoteLine(one, isAtTerminal)).join('');
}

function remoteLine({ remote, toPush, toFetch, diverged }: RemoteSummary, isAtTerminal: boolean): string {
  const parts = [
    ...(toPush === 0 ? [] : [`${toPush} not pushed to ${escapeLine(remote)}`]),
    ...(toFetch === 0 ? [] : [`${toFetch} to fetch from ${escapeLine(remote)}`]),
    ...(diverged === 0 ? [] : [`${diverged} diverged from ${escapeLine(remote)}`]),
  ];
  const command = isAtTerminal ? `: git handoff sync ${shellWord(remote)}` : '';
  return parts.length === 0 ? '' : `Handoffs: ${parts.join(', ')}${command}\n`;
}
