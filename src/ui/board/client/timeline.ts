import { shortId } from '../../../domain/names.ts';
import type { BoardSession } from '../shape.ts';
import { button, el, glyph, note, pager, sessionName, stateDot, styled } from './dom.ts';
import { type Item, KIND_NAMES, type Kind, STATE_NAMES, byLife } from './model.ts';
import { duration, full, ticks } from './time.ts';
import { type Stage, itemMatches, pageOf, sessionMatches, windowOf } from './view.ts';

const LANES = 40;
/** Marks nearer to each other than this are joined, so that a finger or a mouse can hit them. Pixels. */
const MARK = 26;
/** The kinds, heaviest first: a mark for several events looks like the heaviest kind among them. */
const WEIGHT: readonly Kind[] = ['refusal', 'take', 'write', 'close', 'commit'];

interface Lane {
  readonly index: number;
  readonly session: BoardSession;
  readonly items: readonly Item[];
}

/** Sessions as lanes over time. */
export function timeline(stage: Stage, width: number): HTMLElement {
  const { model, view } = stage;
  const span = windowOf(model, view);
  const lanes = lanesIn(stage, span);
  const shown = pageOf(lanes, view, LANES);
  if (lanes.length === 0)
    return note('No session in this span of time. Choose a longer one, or clear the filter.');
  const narrow = width < 640;
  const track = Math.max(160, narrow ? width - 16 : width - 256);
  const percent = (at: number) => `${(((at - span.from) / (span.to - span.from)) * 100).toFixed(3)}%`;
  // A label at the very end would be cut off.
  const end = span.to - (span.to - span.from) / 25;
  const times = ticks(span.from, end, Math.floor(track / 90));
  const placed = (at: number, attributes: { readonly class?: string }, text?: string) => {
    const mark = el('span', attributes, text);
    mark.style.left = percent(at);
    return mark;
  };
  const labels = times.map(({ at, text }) => placed(at, { class: 'tick' }, text));
  const rules = el(
    'div',
    { class: 'rules', 'aria-hidden': 'true' },
    ...times.map(({ at }) => placed(at, {})),
  );
  const grid = el('div', {
    role: 'grid',
    class: 'lanes',
    'aria-label': 'Sessions over time',
    'aria-rowcount': lanes.length,
  });
  const axis = el('div', { class: 'axis', 'aria-hidden': 'true' }, el('div', { class: 'ticks' }, ...labels));
  for (const [row, lane] of shown.entries()) {
    grid.append(laneRow(stage, lane, { row, percent, buckets: Math.max(4, Math.floor(track / MARK)), span }));
  }
  roving(grid);
  const area = el('div', { class: 'area' }, rules, grid);
  return el('div', { class: 'timeline' }, axis, area, pager(stage, lanes.length, LANES, 'sessions'));
}

function lanesIn({ model, view }: Stage, span: { from: number; to: number }): Lane[] {
  const { query } = view;
  return model.board.sessions
    .flatMap((session, index): Lane[] => {
      if (session.to < span.from || session.from > span.to) return [];
      const all = (model.lanes[index] ?? []).filter(({ at }) => at >= span.from && at <= span.to);
      if (sessionMatches(model, index, query)) return [{ index, session, items: all }];
      const items = all.filter((item) => itemMatches(item, query));
      return items.length === 0 ? [] : [{ index, session, items }];
    })
    .sort((a, b) => byLife(a.session, b.session));
}

interface Frame {
  readonly row: number;
  readonly buckets: number;
  readonly span: { readonly from: number; readonly to: number };
  readonly percent: (at: number) => string;
}

function laneRow(stage: Stage, { index, session, items }: Lane, frame: Frame): HTMLElement {
  const { span, percent } = frame;
  const from = Math.max(session.from, span.from);
  const to = Math.min(session.to, span.to);
  const isPerson = session.client === 'person';
  const bar = styled(`bar ${session.state}`);
  bar.style.left = percent(from);
  bar.style.width = `calc(${percent(span.from + to - from)} + 2px)`;
  const head = button(
    `s${session.id}`,
    () => stage.show({ session: index }),
    { class: 'who' },
    stateDot(session.state),
    styled('id', styled('sr', 'Session '), isPerson ? sessionName(session) : shortId(session.id)),
    styled('client', session.client ?? ''),
    el('span', { class: 'branch', title: session.branch }, shownPlace(session)),
    styled('sr', unseen(session, items.length)),
  );
  const marks = clusters(items, frame).map(({ at, some }) => markButton(stage, at, some, frame));
  return el(
    'div',
    { role: 'row', class: 'lane', 'aria-rowindex': stage.view.page * LANES + frame.row + 1 },
    el('div', { role: 'rowheader' }, head),
    el('div', { role: 'gridcell', class: 'track' }, bar, ...marks),
  );
}

const shownPlace = ({ branch, worktree }: BoardSession) =>
  [branch, worktree].filter((text) => text !== undefined).join(' · ');

/** What a lane shows by its form and place, as a text for screen readers. */
function unseen({ state, from, to }: BoardSession, count: number): string {
  return `, ${STATE_NAMES[state]}, from ${full(from)}, ${duration(to - from)}, ${count} events`;
}

function clusters(items: readonly Item[], { buckets, span }: Frame): { at: number; some: Item[] }[] {
  const size = (span.to - span.from) / buckets;
  const found = new Map<number, Item[]>();
  for (const item of items) {
    const place = Math.floor((item.at - span.from) / size);
    const some = found.get(place);
    if (some === undefined) found.set(place, [item]);
    else some.push(item);
  }
  return [...found]
    .sort(([a], [b]) => a - b)
    .map(([place, some]) => ({ at: span.from + (place + 0.5) * size, some }));
}

function markButton(stage: Stage, at: number, some: Item[], { percent }: Frame): HTMLElement {
  const [first] = some;
  const kind = WEIGHT.find((one) => some.some((item) => item.kind === one)) ?? 'commit';
  const isOne = some.length === 1 && first !== undefined;
  const text = isOne ? `${KIND_NAMES[first.kind]}: ${first.label}, ${full(first.at)}` : summaryOf(some);
  const mark = button(
    `m${first?.key ?? ''}`,
    () => stage.show({ items: some }),
    { class: `mark ${isOne ? '' : 'many'} k-${kind}`, title: text, 'aria-label': text },
    isOne
      ? glyph(kind)
      : el('span', { 'aria-hidden': 'true' }, some.length > 99 ? '99+' : String(some.length)),
  );
  mark.style.left = percent(at);
  return mark;
}

function summaryOf(some: readonly Item[]): string {
  const parts = WEIGHT.flatMap((kind) => {
    const count = some.filter((item) => item.kind === kind).length;
    return count === 0 ? [] : [`${count} × ${KIND_NAMES[kind]}`];
  });
  return `${some.length} events: ${parts.join(', ')}, until ${full(some[0]?.at ?? 0)}`;
}

/** Makes the whole grid one stop for the tab key; arrow keys move between lanes and marks. */
function roving(grid: HTMLElement): void {
  const rows = [...grid.querySelectorAll<HTMLElement>('[role=row]')].map((row) => [
    ...row.querySelectorAll('button'),
  ]);
  let [row, column] = [0, 0];
  const enter = () => {
    const target = rows[row]?.[column];
    for (const one of rows.flat()) one.tabIndex = one === target ? 0 : -1;
    return target;
  };
  enter();
  grid.addEventListener('focusin', ({ target }) => {
    row = Math.max(
      0,
      rows.findIndex((one) => one.some((item) => item === target)),
    );
    column = Math.max(0, rows[row]?.findIndex((item) => item === target) ?? 0);
    enter();
  });
  grid.addEventListener('keydown', (event) => {
    const last = (rows[row]?.length ?? 1) - 1;
    const moves: Readonly<Record<string, readonly [number, number]>> = {
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      Home: event.ctrlKey ? [0, 0] : [row, 0],
      End: event.ctrlKey ? [rows.length - 1, 0] : [row, last],
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    row = Math.max(0, Math.min(rows.length - 1, move[0]));
    column = Math.max(0, Math.min((rows[row]?.length ?? 1) - 1, move[1]));
    enter()?.focus();
  });
}
