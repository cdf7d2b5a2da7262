import type { SyncAction, SyncShape } from '../shapes.ts';
import type { SyncValue } from './sync.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { type Rendered, columns } from '../../ui/terminal.ts';

/** A line for each handoff that moved or could not, and one for each remote. */
export function renderSync({ items, remotes, dryRun }: SyncValue): Rendered {
  return remotes
    .map(({ remote, url, same }) => {
      const own = items.filter((item) => item.remote === remote);
      const rows = own.map((item) => [item.action, place(item), remark(item)]);
      return `${columns(rows)}${escapeLine(remote)} (${escapeLine(url)}): ${sum(own, same, dryRun)}\n`;
    })
    .join('');
}

const place = ({ branch, topic, ref }: SyncShape) =>
  escapeLine(branch === null || topic === null ? ref : `${branch}/${topic}`);

const typed = ({ branch, topic }: SyncShape) => escapeLine(shellWord(`${branch}/${topic}`));

/** What the action means for whoever reads it, with the next command where there is one. */
function remark(item: SyncShape): string {
  const why = item.why === null ? '' : escapeLine(item.why);
  const remote = escapeLine(shellWord(item.remote));
  switch (item.action) {
    case 'set-aside':
      return `both sides wrote; the note belongs to ${item.newOwnerText ?? 'the other side'} now, yours is kept, print it with: git handoff show ${typed(item)} --lost=${item.lost ?? 1}`;
    case 'followed':
      return `${item.newOwnerText ?? 'somebody'} was first, ${item.ownerText ?? 'its owner'} no longer owns it: git handoff take ${typed(item)}`;
    case 'deleted-there':
      return `yours stays; put it back: git handoff push --restore ${remote}, or remove yours, too: git handoff purge ${typed(item)}`;
    case 'behind':
      return `the remote has moved on: git handoff sync ${remote}`;
    case 'moved':
      return `others pushed first each time: git handoff sync ${remote}`;
    default:
      return why;
  }
}

const FETCHED: readonly SyncAction[] = ['created', 'forwarded', 'followed', 'set-aside'];

function sum(items: readonly SyncShape[], same: number, dryRun: boolean): string {
  const count = (...actions: readonly SyncAction[]) =>
    items.filter(({ action }) => actions.includes(action)).length;
  const parts = dryRun
    ? [`${count('to-fetch')} to fetch`, `${count('to-push')} to push`]
    : [`${count(...FETCHED)} fetched`, `${count('pushed')} pushed`];
  return [...parts, `${same} unchanged`].join(', ');
}
