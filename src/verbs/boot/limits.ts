import type { Limits } from '../../git/branches.ts';
import type { Budget } from '../../host/io.ts';

const LOOKING_MS = 3000;

/** What one look at the repository may cost: a check that takes longer is not made. */
export function bootLimits(budget: Budget): Limits {
  return { timeoutMs: budget.part(LOOKING_MS).left() };
}
