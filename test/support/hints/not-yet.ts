import type { Part } from './acts.ts';

/** What histories leave out as long as its refusals do not keep their promise. */
export const NOT_YET: readonly Part[] = ['formatter', 'merge', 'outside'];
