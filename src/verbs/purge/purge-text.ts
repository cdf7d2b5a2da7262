import { ago } from '../../domain/age.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { type Rendered, type TextContext, columns } from '../../ui/terminal.ts';
import { ownerText } from '../owner-text.ts';
import type { PruneValue, PurgeValue } from './purge.ts';

/** What goes or has gone, what cannot be undone, and what a purge does not reach. */
export function renderPurged({ items, remotes, purged, ownerText: owner, command }: PurgeValue): Rendered {
  const rows = items.map(({ ref, oid, kind }) => [
    purged ? 'removed' : 'to remove',
    kind,
    oid,
    escapeLine(ref),
  ]);
  const before = [
    ...(owner === null ? [] : [`It belongs to ${owner}.`]),
    `Nothing was removed. This cannot be undone. To do it: ${escapeLine(command)}`,
  ];
  const lines = [
    ...(purged ? [] : before),
    'Its text stays in this repository until git collects what nothing refers to: git gc --prune=now',
    'That cannot collect what another note, a commit or a log of git has, too.',
    ...remotes.map(
      (one) =>
        `${escapeLine(one.remote)} had it when last asked. To remove it there: ${escapeLine(one.command)}`,
    ),
    ...(remotes.length === 0
      ? []
      : ['If the server refuses that, its administrator types there: git update-ref -d <ref>']),
    'Not reached: other clones and forks (whoever fetched it has it and can push it again: purge it there, too),',
    "a server's logs, backups and packs, files that it was copied to. Replace any secret that was in it.",
  ];
  return `${columns(rows)}\n${lines.join('\n')}\n`;
}

/** What goes or has gone, each with the object name that brings it back until git collects it. */
export function renderPruned({ items, olderThan }: PruneValue, { now }: TextContext): Rendered {
  if (items.length === 0) return `no closed handoff is older than ${escapeLine(olderThan)}\n`;
  const rows = items.map((item) => [
    item.deleted ? 'deleted' : 'closed',
    escapeLine(`${item.branch}/${item.topic}`),
    ownerText(item),
    ago(Date.parse(item.createdAt), now),
    item.oid,
  ]);
  const gone = items.find((item) => item.deleted);
  const next =
    gone === undefined
      ? `Nothing was deleted. To delete them: git handoff prune --older-than ${escapeLine(olderThan)} --yes`
      : `Until git collects it, one comes back by: git update-ref ${escapeLine(gone.ref)} ${gone.oid}`;
  return `${columns(rows)}\n${next}\n`;
}
