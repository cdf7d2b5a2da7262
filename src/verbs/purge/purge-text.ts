import { ago } from '../../domain/age.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { type Rendered, type TextContext, columns } from '../../ui/terminal.ts';
import { ownerText } from '../owner-text.ts';
import type { PruneValue, PurgeValue } from './purge.ts';

/** What goes or has gone, what cannot be undone, and what a purge does not reach. */
export function renderPurged(value: PurgeValue): Rendered {
  const { items, remotes, purged, ownerText: owner } = value;
  const rows = [
    ...items.map(({ ref, oid, kind }) => [purged ? 'removed' : 'to remove', kind, oid, escapeLine(ref)]),
    ...remotes.map(({ remote, ref, oid }) => [
      oid === null ? 'nothing' : purged ? 'removed' : 'to remove',
      'remote',
      oid ?? '-',
      `${escapeLine(ref)} of ${escapeLine(remote)}`,
    ]),
  ];
  const whose = owner === null ? '' : `It belongs to ${owner}.\n`;
  const table = rows.length === 0 ? 'only a log without a ref\n' : columns(rows);
  const end = purged ? afterwards(value) : before(value);
  return `${table}\n${purged ? '' : whose}${end}${reach(value)}`;
}

function before({ command }: PurgeValue): string {
  return `Nothing was removed. This cannot be undone. To do it: ${escapeLine(command)}\n`;
}

function afterwards({ remains }: PurgeValue): string {
  const { objects, heldBy } = remains ?? { objects: 0, heldBy: [] };
  if (objects === 0) return 'No object of this repository holds its text any more.\n';
  const count = objects === 1 ? '1 object holds' : `${objects} objects hold`;
  if (heldBy === null) {
    return `${count} its text still; what else refers to them is unknown. To collect what nothing refers to: git gc --prune=now\n`;
  }
  if (heldBy.length > 0) {
    return `${count} its text still, and will: it is also in ${heldBy.map(escapeLine).join(', ')}.\n`;
  }
  return `${count} its text until git collects them: git gc --prune=now\nThat collects every other object that nothing refers to, too.\n`;
}

/** Said before and after: nobody should find out later. */
function reach({ stillOn, command }: PurgeValue): string {
  const [topic = ''] = /(?<=^git handoff purge )\S+/.exec(command) ?? [];
  const remotes = stillOn.map((remote) => `--remote ${shellWord(remote)}`).join(' ');
  const back = `${stillOn.map(escapeLine).join(', ')} had it when last asked; to remove it there`;
  return [
    ...(stillOn.length === 0 ? [] : [`${back}: git handoff purge ${escapeLine(topic)} ${remotes}\n`]),
    'Not reached: other clones and forks (whoever fetched it has it and can push it again: purge it there, too),\n',
    "a server's logs, backups and packs, files that it was copied to. Replace any secret that was in it.\n",
  ].join('');
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
