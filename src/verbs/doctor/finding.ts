import type { CheckShape } from '../shapes.ts';

/** Makes one line of doctor's answer. */
export function doctorLine(
  name: string,
  status: CheckShape['status'],
  detail: string,
  hint: string | null = null,
): CheckShape {
  return { check: name, status, detail, hint };
}

/** The command that repairs what can be repaired. */
export const FIX = 'git handoff doctor --fix';
