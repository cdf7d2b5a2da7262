/** What a child that had to be ended did while it was waited for. */
export interface ChildUse {
  readonly waitedMs: number;
  /** It ran, or stood in the queue of those that want to; with its children. */
  readonly activeMs: number;
  /** It read something in the second half of the time. */
  readonly hasRead: boolean;
}

/** Of the time; a child that hangs comes to a thousandth, one on a busy machine to nearly all. */
const ACTIVE_SHARE = 0.1;

/** Whether it hung: a machine that is merely busy lets it queue, a slow disk lets it read. */
export function isHung({ waitedMs, activeMs, hasRead }: ChildUse, share = ACTIVE_SHARE): boolean {
  return !hasRead && activeMs < waitedMs * share;
}
