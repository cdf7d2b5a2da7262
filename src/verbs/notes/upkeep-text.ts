import type { DiffValue } from './diff.ts';
import type { HandoffShape } from '../shapes.ts';
import { ago } from '../../domain/age.ts';
import { shortId } from '../../domain/names.ts';
import { escapeLine, escapeText } from '../../domain/surfacing.ts';
import type { Rendered } from '../../ui/terminal.ts';

const name = (item: HandoffShape) => escapeLine(`${item.branch}/${item.topic}`);

/** A unified diff: two versions by object name, owner and time, then hunks. */
export function renderDiff({ from, to, diff }: DiffValue, now: number): Rendered {
  const version = (item: HandoffShape) =>
    `${name(item)}  ${item.oid.slice(0, 12)}  ${escapeLine(shortId(item.owner))}  ${ago(Date.parse(item.createdAt), now)}`;
  if (diff === '') return `${version(to)}: the note is the same\n`;
  const text = escapeText(diff);
  return `--- ${from === null ? 'nothing' : version(from)}\n+++ ${version(to)}\n${text.endsWith('\n') ? text : `${text}\n`}`;
}
