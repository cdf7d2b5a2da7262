import type { BoardShape } from '../shapes.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import type { Rendered } from '../../ui/terminal.ts';

const count = (number: number, one: string) => `${number} ${one}${number === 1 ? '' : 's'}`;

/** Where the board is, and how much it shows. */
export function renderBoard({ file, url, sessions, handoffs, refusals }: BoardShape): Rendered {
  const what = [count(sessions, 'session'), count(handoffs, 'handoff'), count(refusals, 'refusal')].join(
    ', ',
  );
  if (url !== null) return `${url}\n${what}; live until you press Ctrl-C\n`;
  return `${escapeLine(file ?? '-')}\n${what}\n`;
}
