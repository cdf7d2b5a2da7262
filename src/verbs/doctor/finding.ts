import type { CheckShape } from '../shapes.ts';

/** One line of doctor's answer. */
export function check(
  name: string,
  status: CheckShape['status'],
  detail: string,
  hint: string | null = null,
): CheckShape {
  return { check: name, status, detail, hint };
}

/** "1 line", "2 lines". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** The command that mends what can be mended. */
export const FIX = 'git handoff doctor --fix';
