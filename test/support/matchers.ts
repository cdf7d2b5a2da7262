import { expect } from 'vitest';

/** vitest's matchers for a part of a text, typed as strings. */
export const containing = (part: string) => expect.stringContaining(part) as string;
export const lacking = (part: string) => expect.not.stringContaining(part) as string;
export const matching = (pattern: RegExp) => expect.stringMatching(pattern) as string;
export const notMatching = (pattern: RegExp) => expect.not.stringMatching(pattern) as string;
