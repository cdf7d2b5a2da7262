import type { CheckValue } from './check.ts';
import type { IllegalMoveShape, MixedCommitShape } from '../shapes.ts';
import { shortId } from '../../domain/names.ts';
import { peerNames } from '../../domain/owner-name.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { type Rendered, type TextContext, columns, counted } from '../../ui/terminal.ts';

/** What is wrong, a line each, and what to do; or that nothing is. */
export function renderCheck(
  { commits, handoffs, items, hints }: CheckValue,
  { clients }: TextContext,
): Rendered {
  const looked = `looked at ${counted(commits, 'commit')} and ${counted(handoffs, 'handoff')}`;
  if (items.length === 0) return `${looked}: no commit mixes sessions, no handoff was moved by hand\n`;
  const rows = items.map((item) =>
    item.kind === 'mixed'
      ? [
          'mixed',
          item.oid.slice(0, 7),
          peerNames(item.sessions, { clients }),
          counted(item.paths, 'path'),
          escapeLine(item.summary),
        ]
      : ['illegal', item.oid?.slice(0, 7) ?? '-', escapeLine(placeOf(item)), '', item.reason],
  );
  return columns(rows) + hints.map((hint) => `hint: ${escapeLine(hint)}\n`).join('');
}

const placeOf = ({ ref, branch, topic }: IllegalMoveShape) =>
  branch === null || topic === null ? ref : `${branch}/${topic}`;

/** How much of what a push is refused for is told: it passes over a wire, and is read by a person. */
const MAX_NAMED = 20;
const MAX_IDS = 5;

/** Why a push is refused, in the words of a refusal; nothing when it is not. git puts `remote:` before each line. */
export function renderPushed({ items, hints }: CheckValue): Rendered {
  const lines = items
    .slice(0, MAX_NAMED)
    .map((item) => `error: ${item.kind === 'mixed' ? mixedText(item) : illegalText(item)}`);
  const more = items.length - lines.length;
  if (more > 0) lines.push(`error: and ${more} more`);
  return [...lines, ...hints.map((hint) => `hint: ${escapeLine(hint)}`)].map((line) => `${line}\n`).join('');
}

const illegalText = ({ ref, reason }: IllegalMoveShape) => `${escapeLine(ref)}: ${reason}`;

function mixedText({ oid, summary, sessions }: MixedCommitShape): string {
  const ids = sessions.slice(0, MAX_IDS).map((id) => escapeLine(shortId(id)));
  const more = sessions.length > ids.length ? ` and ${sessions.length - ids.length} more` : '';
  return `${oid.slice(0, 7)} "${escapeLine(summary).slice(0, 60)}" mixes the work of sessions ${ids.join(', ')}${more}`;
}
