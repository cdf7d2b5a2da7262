import type { RemoteSummary } from '../domain/tracking/relation.ts';
import { escapeLine, shellWord } from '../domain/surfacing.ts';

/** A line for each remote that a sync would move something to or from; nothing where all is in sync. */
export function remoteLines(remotes: readonly RemoteSummary[]): string {
  return remotes.map(remoteLine).join('');
}

function remoteLine({ remote, toPush, toFetch, diverged }: RemoteSummary): string {
  const parts = [
    ...(toPush === 0 ? [] : [`${toPush} not pushed to ${escapeLine(remote)}`]),
    ...(toFetch === 0 ? [] : [`${toFetch} to fetch from ${escapeLine(remote)}`]),
    ...(diverged === 0 ? [] : [`${diverged} diverged from ${escapeLine(remote)}`]),
  ];
  return parts.length === 0 ? '' : `Handoffs: ${parts.join(', ')}: git handoff sync ${shellWord(remote)}\n`;
}
