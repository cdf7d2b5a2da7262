import type { CheckValue } from '../commands/check.ts';
import { shortId } from '../domain/names.ts';
import { escapeLine } from '../domain/surfacing.ts';
import { type Rendered, columns } from './terminal.ts';

const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** What is wrong, a line each, and what to do; or that nothing is. */
export function renderCheck({ commits, handoffs, items, hints }: CheckValue): Rendered {
  const looked = `looked at ${counted(commits, 'commit')} and ${counted(handoffs, 'handoff')}`;
  if (items.length === 0) return `${looked}: no commit mixes sessions, no handoff was moved by hand\n`;
  const rows = items.map((item) =>
    item.kind === 'mixed'
      ? [
          'mixed',
          item.oid.slice(0, 7),
          item.sessions.map((id) => escapeLine(shortId(id))).join(' '),
          counted(item.paths, 'path'),
          escapeLine(item.summary),
        ]
      : [
          'illegal',
          item.oid?.slice(0, 7) ?? '-',
          escapeLine(`${item.branch}/${item.topic}`),
          '',
          item.reason,
        ],
  );
  return columns(rows) + hints.map((hint) => `hint: ${escapeLine(hint)}\n`).join('');
}
