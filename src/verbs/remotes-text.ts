import type { RemoteSummary } from '../domain/tracking/relation.ts';
import { escapeLine, shellWord } from '../domain/surfacing.ts';

/** A line for each remote that is not in sync. The command is for a person, who decides what leaves; an agent would obey it. */
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
