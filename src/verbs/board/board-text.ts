import type { BoardShape } from '../shapes.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { type Rendered, counted } from '../../ui/terminal.ts';

/** Where the board is, and how much it shows. */
export function renderBoard({ file, sessions, handoffs, refusals }: BoardShape): Rendered {
  const what = `${counted(sessions, 'session')}, ${counted(handoffs, 'handoff')}, ${counted(refusals, 'refusal')}`;
  return `${escapeLine(file ?? '-')}\n${what}\n`;
}
