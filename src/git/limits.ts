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
