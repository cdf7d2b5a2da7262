import type { DiffValue } from '../commands/diff.ts';
import type { PruneValue } from '../commands/prune.ts';
import type { HandoffShape } from '../commands/shapes.ts';
import { ago } from '../domain/age.ts';
import { shortId } from '../domain/names.ts';
import { escapeLine, escapeText } from '../domain/surfacing.ts';
import { type Rendered, columns } from './terminal.ts';

const name = (item: HandoffShape) => escapeLine(`${item.branch}/${item.topic}`);

/** A unified diff: two versions by object name, owner and time, then hunks. */
export function renderDiff({ from, to, diff }: DiffValue, now: number): Rendered {
  const version = (item: HandoffShape) =>
    `${name(item)}  ${item.oid.slice(0, 12)}  ${escapeLine(shortId(item.owner))}  ${ago(Date.parse(item.createdAt), now)}`;
  if (diff === '') return `${version(to)}: the note is the same\n`;
  const text = escapeText(diff);
  return `--- ${from === null ? 'nothing' : version(from)}\n+++ ${version(to)}\n${text.endsWith('\n') ? text : `${text}\n`}`;
}

/** What goes or has gone, each with the object name that brings it back until git collects it. */
export function renderPruned({ items, olderThan }: PruneValue, now: number): Rendered {
  if (items.length === 0) return `no closed handoff is older than ${escapeLine(olderThan)}\n`;
  const rows = items.map((item) => [
    item.deleted ? 'deleted' : 'closed',
    name(item),
    escapeLine(shortId(item.owner)),
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
