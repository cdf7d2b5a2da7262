const STEPS: readonly (readonly [seconds: number, unit: string])[] = [
  [7 * 86_400, 'week'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];

/** "3 minutes ago"; a time in the future is "just now". Milliseconds since the epoch in. */
export function ago(then: number, now: number): string {
  const seconds = Math.floor((now - then) / 1000);
  for (const [size, unit] of STEPS) {
    const count = Math.floor(seconds / size);
    if (count >= 1) return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
  }
  return 'just now';
}

/** RFC 3339 with seconds; milliseconds since the epoch in. */
export function timestamp(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length)}Z`;
}
