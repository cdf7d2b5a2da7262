import type { Item, Model } from './model.ts';
import { RANGES } from './time.ts';

export type ViewName = 'timeline' | 'sessions' | 'handoffs' | 'events';

/** What the reader has chosen. */
export interface View {
  name: ViewName;
  /** Place in `RANGES`. */
  range: number;
  /** In lower case. */
  query: string;
  liveOnly: boolean;
  openOnly: boolean;
  kinds: 'all' | 'handoffs' | 'commit' | 'refusal';
  page: number;
  isPrinting: boolean;
}

/** What the parts of the page need of each other. */
export interface Stage {
  readonly model: Model;
  readonly view: View;
  readonly show: (shown: Shown) => void;
  readonly turn: (page: number) => void;
}

/** What the panel can show. */
export type Shown =
  | { readonly kind: 'session'; readonly index: number }
  | { readonly kind: 'item'; readonly item: Item }
  | { readonly kind: 'items'; readonly items: readonly Item[] };

const has = (query: string, ...texts: (string | undefined)[]) =>
  texts.some((text) => text?.toLowerCase().includes(query) === true);

/** Whether the session itself is what is looked for. */
export function sessionMatches({ board }: Model, index: number, query: string): boolean {
  const session = board.sessions[index];
  if (query === '' || session === undefined) return query === '';
  return has(
    query,
    session.id,
    session.name,
    session.client,
    session.branch,
    session.worktree,
    session.state,
  );
}

export const itemMatches = ({ label }: Item, query: string): boolean => query === '' || has(query, label);

/** The shortest span in which a dozen sessions began, or most of them. */
export function defaultRange({ board, to }: Model): number {
  const wanted = Math.min(12, Math.ceil(board.sessions.length * 0.7));
  const began = (span: number) => board.sessions.filter(({ from }) => from >= to - span).length;
  const at = RANGES.findIndex(({ span }) => began(span) >= wanted);
  return at < 0 ? RANGES.length - 1 : at;
}

/** Beginning and end of what the timeline shows, with a little room at the end. */
export function windowOf({ from, to }: Model, { range }: View): { from: number; to: number } {
  const span = Math.max(60_000, Math.min(RANGES[range]?.span ?? Infinity, to - from));
  return { from: to - span, to: to + span / 50 };
}

/** One page of a list. */
export function pageOf<T>(list: readonly T[], { page, isPrinting }: View, size: number): readonly T[] {
  return isPrinting ? list.slice(0, MAX_PRINTED) : list.slice(page * size, (page + 1) * size);
}

/** A printed page shows no more: paper has no next button. */
export const MAX_PRINTED = 200;
