/** A path that a tool call is about to change. */
export interface Touch {
  readonly path: string;
  /** Everything below it, too. */
  readonly whole: boolean;
  /** What stands there would be thrown away. */
  readonly discards?: boolean;
}

/** Whether a call changes a path. */
export function isTouched(path: string, touch: Touch): boolean {
  if (path === touch.path) return true;
  return touch.whole && (touch.path === '' || path.startsWith(`${touch.path}/`));
}
