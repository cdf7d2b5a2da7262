import { counted } from './surfacing.ts';

const STEPS: readonly (readonly [seconds: number, unit: string])[] = [
  [7 * 86_400, 'week'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];

/** Returns an age such as "3 minutes ago"; "just now" for a time in the future. Takes milliseconds since the epoch. */
export function ago(then: number, now: number): string {
  const seconds = Math.floor((now - then) / 1000);
  for (const [size, unit] of STEPS) {
    const count = Math.floor(seconds / size);
    if (count >= 1) return `${counted(count, unit)} ago`;
  }
  return 'just now';
}

/** Formats milliseconds since the epoch as RFC 3339, with whole seconds. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z`;
}
