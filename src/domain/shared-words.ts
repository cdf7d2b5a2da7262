/** Words that the program and the scripts of sh go by alike. */

/** The settings that the guard goes by, as an extended regular expression over git's keys. */
export const GUARD_KEYS =
  '^(handoff|alias)\\.|^hook\\.handoff-|^core\\.hookspath$|^(rebase|merge)\\.autostash$|^clean\\.requireforce$';

/** git's words for a boolean (git-config(1)), in any case of letters. */
export const TRUE_WORDS: readonly string[] = ['true', 'yes', 'on', '1'];
export const FALSE_WORDS: readonly string[] = ['false', 'no', 'off', '0'];
