let isLate = false;
let left: () => number | undefined = () => undefined;

/** Every git child that is given no limit of its own ends with this process, which has so many milliseconds left. */
export function limitGit(processTime: () => number | undefined): void {
  left = processTime;
}

/** Milliseconds, whole ones; `undefined`: it may take as long as it wants. */
export const gitTime = (): number | undefined => left();

/** A child had to be ended: those that follow are waited for a quarter of the rest each, so that there is an answer. */
export function noteLateGit(): void {
  isLate = true;
}

/** The limit of a child that was given this one. */
export function limitOf(given: number | undefined): number {
  const whole = gitTime() ?? Infinity;
  return Math.min(given ?? Infinity, isLate && whole < Infinity ? whole / 4 : whole);
}

/** How the git children of this process did: those that answered, and for each that had to be ended whether it hung. */
const answered = { count: 0 };
const ended: boolean[] = [];
/** Asks a child that still runs whether it hangs. */
export const waiting = new Set<() => boolean>();

/** A child ended by itself. */
export function noteAnswer(): void {
  answered.count += 1;
}

/** A child had to be ended. */
export function noteEnded(isHung: boolean): void {
  ended.push(isHung);
}

/** `hung` when all that was ended or is waited for hangs, `answers` when nothing was ended, else `busy`. */
export function gitState(): 'answers' | 'hung' | 'busy' | undefined {
  const all = [...ended, ...[...waiting].map((ask) => ask())];
  if (all.length === 0) return answered.count > 0 ? 'answers' : undefined;
  return all.every(Boolean) ? 'hung' : 'busy';
}
