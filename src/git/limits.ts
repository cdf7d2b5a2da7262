let left: () => number | undefined = () => undefined;

/** Every git child that is given no limit of its own ends with this process, which has so many milliseconds left. */
export function limitGit(processTime: () => number | undefined): void {
  left = processTime;
}

/** Milliseconds, whole ones; `undefined`: it may take as long as it wants. */
export const gitTime = (): number | undefined => left();
