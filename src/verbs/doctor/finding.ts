import type { CheckShape } from '../shapes.ts';
import type { DoctorValue } from './doctor.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { type Rendered, type TextContext, columns } from '../../ui/terminal.ts';

/** One line of doctor's answer. */
export function doctorLine(
  name: string,
  status: CheckShape['status'],
  detail: string,
  hint: string | null = null,
): CheckShape {
  return { check: name, status, detail, hint };
}

/** The command that mends what can be mended. */
export const FIX = 'git handoff doctor --fix';

/** A line for each finding, then the commands that mend. */
export function renderDoctor({ items }: DoctorValue, { paint }: TextContext): Rendered {
  const shades = { ok: paint.good, fixed: paint.good, warning: paint.mark, problem: paint.bad };
  const rows = columns(
    items.map((item) => [shades[item.status](item.status), item.check, escapeLine(item.detail)]),
  );
  const hints = items.flatMap((item) =>
    item.hint === null || item.status === 'ok' ? [] : [`hint (${item.check}): ${escapeLine(item.hint)}\n`],
  );
  return rows + hints.join('');
}
