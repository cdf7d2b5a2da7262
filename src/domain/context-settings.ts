import { FALSE_WORDS, type SettingEntry, type UnknownValue, parseSize } from './settings.ts';

/** When to ask a session for a note. Separate from the other settings, which every hook call reads. */
interface ContextSettings {
  /** Percent of the context at which to ask; `undefined`: never. */
  readonly contextNudge: number | undefined;
  /** The size of the context in tokens, for clients that do not state it. */
  readonly contextWindow: number | undefined;
  readonly unknown: readonly UnknownValue[];
}

const DEFAULT_NUDGE = 75;

/** Reads them from git's `key value` pairs; the last value of a key wins. */
export function parseContextSettings(entries: readonly SettingEntry[]): ContextSettings {
  const last = (key: string) => entries.findLast(([name]) => name.toLowerCase() === key);
  const [nudge, window] = [last('handoff.contextnudge'), last('handoff.contextwindow')];
  const percent = nudge === undefined ? DEFAULT_NUDGE : percentOf(nudge[1]);
  const tokens = window === undefined ? undefined : parseSize(window[1] ?? '');
  const unknown = (entry: SettingEntry | undefined, value: number | undefined, known: string) =>
    entry === undefined || value !== undefined ? [] : [{ key: entry[0], value: entry[1] ?? '', known }];
  return {
    contextNudge: (percent ?? DEFAULT_NUDGE) || undefined,
    contextWindow: tokens || undefined,
    unknown: [
      ...unknown(nudge, percent, 'a percentage such as 75, or false'),
      ...unknown(window, tokens, 'a number of tokens such as 200000'),
    ],
  };
}

/** 0 for git's false values; a key without a value means true (git-config(1)). */
function percentOf(text = 'true'): number | undefined {
  if (/^(?:true|yes|on)$/i.test(text)) return DEFAULT_NUDGE;
  if (text === '' || FALSE_WORDS.includes(text.toLowerCase())) return 0;
  const percent = /^(\d{1,3}) ?%?$/.exec(text)?.[1];
  return percent === undefined || Number(percent) > 100 ? undefined : Number(percent);
}
