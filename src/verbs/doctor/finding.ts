import type { CheckShape } from '../shapes.ts';

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
