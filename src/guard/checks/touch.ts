/** A path that a tool call is about to change. */
export interface Touch {
  readonly path: string;
  /** Whether the change includes everything under the path. */
  readonly whole: boolean;
  /** Whether the change throws the content away. */
  readonly discards?: boolean;
}

/** Whether a call changes a path. */
export function isTouched(path: string, touch: Touch): boolean {
  if (path === touch.path) return true;
  return touch.whole && (touch.path === '' || path.startsWith(`${touch.path}/`));
}
