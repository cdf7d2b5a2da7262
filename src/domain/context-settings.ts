import { FALSE_WORDS } from './shared-words.ts';
import { type SettingEntry, type UnknownValue, parseSize } from './settings.ts';

/** When a session is asked for a note; apart from the other settings, which every call of a hook reads. */
interface ContextSettings {
  /** From this many percent of its context on; `undefined`: never. */
  readonly contextNudge: number | undefined;
  /** How many tokens the context has, where the client does not say. */
  readonly contextWindow: number | undefined;
  readonly unknown: readonly UnknownValue[];
}

const DEFAULT_NUDGE = 75;

/** Builds them from `key value` pairs as git lists them; the last value of a key counts. */
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

/** 0 for any of git's words for no; a key without a value is one for yes (git-config(1)). */
function percentOf(text = 'true'): number | undefined {
  if (/^(?:true|yes|on)$/i.test(text)) return DEFAULT_NUDGE;
  if (text === '' || FALSE_WORDS.includes(text.toLowerCase())) return 0;
  const percent = /^(\d{1,3}) ?%?$/.exec(text)?.[1];
  return percent === undefined || Number(percent) > 100 ? undefined : Number(percent);
}
