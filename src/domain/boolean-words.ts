/** git's words for a boolean (git-config(1)), in any case of letters. */
export const TRUE_WORDS: readonly string[] = ['true', 'yes', 'on', '1'];
export const FALSE_WORDS: readonly string[] = ['false', 'no', 'off', '0'];
