import type { Limits } from '../../git/branches.ts';

/** What one look at the repository may cost: a check that takes longer is not made. */
export const LIMITS: Limits = { timeoutMs: 3000 };
