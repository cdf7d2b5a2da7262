const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-GB', options);
const CLOCK = format({ hour: '2-digit', minute: '2-digit' });
const DATE = format({ day: 'numeric', month: 'short' });
const FULL = format({ dateStyle: 'medium', timeStyle: 'medium' });

/** Day, month and time of day. */
export const short = (at: number): string => `${DATE.format(at)} ${CLOCK.format(at)}`;
export const full = (at: number): string => FULL.format(at);

/** `12 min`, `3 h`, `2 d`. */
export function duration(milliseconds: number): string {
  if (milliseconds < HOUR) return `${Math.max(0, Math.round(milliseconds / MINUTE))} min`;
  if (milliseconds < 2 * DAY) return `${Math.round(milliseconds / HOUR)} h`;
  return `${Math.round(milliseconds / DAY)} d`;
}

export const RANGES = [
  { name: '1 hour', span: HOUR },
  { name: '6 hours', span: 6 * HOUR },
  { name: '24 hours', span: DAY },
  { name: '7 days', span: 7 * DAY },
  { name: '30 days', span: 30 * DAY },
  { name: 'everything', span: Infinity },
] as const;

const STEPS = [1, 2, 5, 10, 15, 30].map((n) => n * MINUTE);
STEPS.push(...[1, 2, 3, 6, 12].map((n) => n * HOUR), ...[1, 2, 5, 10, 30, 90, 365].map((n) => n * DAY));

/** Returns at most `most` round times between `from` and `to`. */
export function ticks(from: number, to: number, most: number): { at: number; text: string }[] {
  const step = STEPS.find((one) => (to - from) / one <= most) ?? (to - from) / most;
  // The times are round in the reader's own time zone.
  const offset = new Date(to).getTimezoneOffset() * MINUTE;
  const found: { at: number; text: string }[] = [];
  for (let at = Math.ceil((from - offset) / step) * step + offset; at <= to; at += step) {
    const midnight = CLOCK.format(at) === '00:00';
    found.push({ at, text: step >= DAY || midnight ? DATE.format(at) : CLOCK.format(at) });
  }
  return found;
}
