import { type Item, KIND_NAMES, type Model, STATE_NAMES } from './model.ts';
import { RANGES } from './time.ts';

export const VIEWS = ['Timeline', 'Sessions', 'Handoffs', 'Events'] as const;

/** What the reader has chosen. */
export interface View {
  name: (typeof VIEWS)[number];
  /** The index in `RANGES`. */
  range: number;
  /** The filter's text, in lower case. */
  query: string;
  page: number;
}

/** What all parts of the page use: the data, the view, and ways to change what is shown. */
export interface Stage {
  readonly model: Model;
  readonly view: View;
  readonly show: (shown: Shown) => void;
  readonly turn: (page: number) => void;
}

/** What the panel can show: a session by its index, one event in detail, or a list of several. */
export type Shown = { readonly session: number } | { readonly items: readonly Item[] };

/** Whether one of the texts contains the query, which is in lower case; an empty query always matches. */
export const has = (query: string, ...texts: readonly (string | undefined)[]): boolean =>
  query === '' || texts.some((text) => text?.toLowerCase().includes(query) === true);

/** Whether the session itself matches the query. */
export function sessionMatches({ board }: Model, index: number, query: string): boolean {
  const session = board.sessions[index];
  if (session === undefined) return query === '';
  const { id, name, client, branch, worktree, state } = session;
  return has(query, id, name, client, branch, worktree, STATE_NAMES[state]);
}

export const itemMatches = ({ label, kind }: Item, query: string): boolean =>
  has(query, label, KIND_NAMES[kind]);

/** The shortest of `RANGES` in which twelve sessions began, or 70 % of all sessions if that is fewer. */
export function defaultRange({ board, to }: Model): number {
  const wanted = Math.min(12, Math.ceil(board.sessions.length * 0.7));
  const began = (span: number) => board.sessions.filter(({ from }) => from >= to - span).length;
  const at = RANGES.findIndex(({ span }) => began(span) >= wanted);
  return at < 0 ? RANGES.length - 1 : at;
}

/** The first and last time on the timeline, with a little room at the end. */
export function windowOf({ from, to }: Model, { range }: View): { from: number; to: number } {
  const span = Math.max(60_000, Math.min(RANGES[range]?.span ?? Infinity, to - from));
  return { from: to - span, to: to + span / 50 };
}

/** One page of a list. */
export const pageOf = <T>(list: readonly T[], { page }: View, size: number): readonly T[] =>
  list.slice(page * size, (page + 1) * size);
