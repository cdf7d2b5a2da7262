import type { BoardVersion } from '../shape.ts';
import {
  type Child,
  button,
  el,
  redraw,
  glyph,
  note,
  pager,
  sessionButton,
  sessionButtons,
  stateOf,
  styled,
  workText,
} from './dom.ts';
import { type Item, KIND_NAMES, byLife, nameOf, versionItem } from './model.ts';
import { full, short } from './time.ts';
import { type Stage, has, itemMatches, pageOf, sessionMatches } from './view.ts';

const ROWS = 50;

interface Column<T> {
  readonly title: string;
  /** Whether a narrow page leaves the column out. */
  readonly wide?: true;
  readonly number?: true;
  cell(row: T, key: string): Child;
}

/** A list as a table: the facts of the timeline, in a form that a screen reader can read, too. */
function table<T>(
  stage: Stage,
  what: string,
  rows: readonly T[],
  columns: readonly Column<T>[],
): HTMLElement {
  if (rows.length === 0) return note(`No ${what} here, or none that match the filter.`);
  const classes = ({ wide, number }: Column<T>) =>
    [wide === true ? 'wide' : '', number === true ? 'number' : ''].join(' ').trim() || undefined;
  const head = columns.map((column) => el('th', { scope: 'col', class: classes(column) }, column.title));
  const cell = (row: T, key: string) => (column: Column<T>, at: number) =>
    el('td', { class: classes(column) }, column.cell(row, `${key}-${at}`));
  const body = pageOf(rows, stage.view, ROWS).map((row, at) =>
    el('tr', {}, ...columns.map(cell(row, `t${at}`))),
  );
  const parts = [el('thead', {}, el('tr', {}, ...head)), el('tbody', {}, ...body)];
  const list = el('table', {}, el('caption', {}, what), ...parts);
  return el('div', { class: 'table' }, list, pager(stage, rows.length, ROWS, what));
}

const time = (at: number): HTMLElement =>
  el('time', { datetime: new Date(at).toISOString(), title: full(at) }, short(at));

export function sessionTable(stage: Stage): HTMLElement {
  const { model, view } = stage;
  const rows = model.board.sessions
    .map((session, index) => ({ session, index, items: model.lanes[index] ?? [] }))
    .filter(({ index }) => sessionMatches(model, index, view.query))
    .sort((a, b) => byLife(a.session, b.session));
  const count = (title: string, kind: Item['subject']['kind']): Column<(typeof rows)[number]> => ({
    title,
    wide: true,
    number: true,
    cell: ({ items }) => String(items.filter(({ subject }) => subject.kind === kind).length),
  });
  return table(stage, 'sessions', rows, [
    { title: 'Session', cell: ({ index }, key) => sessionButton(stage, index, key) },
    { title: 'State', cell: ({ session }) => stateOf(session) },
    { title: 'Branch', cell: ({ session }) => session.branch ?? '' },
    { title: 'Uncommitted', cell: ({ session }) => workText(session) },
    { title: 'Worktree', wide: true, cell: ({ session }) => session.worktree ?? '' },
    { title: 'Began', wide: true, cell: ({ session }) => time(session.from) },
    { title: 'Last seen', cell: ({ session }) => time(session.to) },
    count('Handoffs', 'version'),
    count('Commits', 'commit'),
    count('Refusals', 'refusal'),
  ]);
}

export function handoffTable(stage: Stage): HTMLElement {
  const { model, view } = stage;
  const rows = model.board.topics.flatMap((topic) => {
    const [tip] = topic.versions;
    if (tip === undefined) return [];
    const owner = model.board.sessions[tip.by ?? -1]?.id;
    return has(view.query, nameOf(topic), tip.summary, owner, stateText(tip)) ? [{ topic, tip }] : [];
  });
  return table(stage, 'handoffs', rows, [
    {
      title: 'Handoff',
      cell: ({ topic, tip }, key) => {
        const show = () => stage.show({ items: [versionItem(topic, tip)] });
        return button(key, show, { class: 'link' }, nameOf(topic));
      },
    },
    { title: 'State', cell: ({ tip }) => stateText(tip) },
    {
      title: 'Owner',
      cell: ({ tip }, key) => (tip.by === undefined ? '' : sessionButton(stage, tip.by, key)),
    },
    { title: 'Changed', cell: ({ tip }) => time(tip.at) },
    { title: 'Versions', wide: true, number: true, cell: ({ topic }) => String(topic.versions.length) },
    { title: 'Summary', wide: true, cell: ({ tip }) => tip.summary },
  ]);
}

function stateText({ closed, work }: BoardVersion): string {
  if (closed === true) return 'closed';
  return work === undefined ? 'open' : 'open, with work';
}

export function eventTable(stage: Stage): HTMLElement {
  const { model, view } = stage;
  const rows = model.items.filter(
    (item) =>
      itemMatches(item, view.query) || item.by.some((index) => sessionMatches(model, index, view.query)),
  );
  return eventRows(stage, rows);
}

/** A list of events that keeps its own page number. `isOwn`: all events belong to one session, which the title names. */
export function eventList(stage: Stage, rows: readonly Item[], isOwn: boolean): HTMLElement {
  const place = el('div');
  const draw = (page: number) => {
    const view = { ...stage.view, page };
    redraw(place, eventRows({ ...stage, view, turn: draw }, rows, isOwn));
  };
  draw(0);
  return place;
}

function eventRows(stage: Stage, rows: readonly Item[], isOwn = false): HTMLElement {
  const who: Column<Item> = {
    title: 'Session',
    cell: ({ by }, key) => sessionButtons(stage, by, key),
  };
  return table(stage, 'events', rows, [
    { title: 'Time', cell: ({ at }) => time(at) },
    {
      title: 'Kind',
      cell: ({ kind }) => styled('state', styled(`k-${kind}`, glyph(kind)), KIND_NAMES[kind]),
    },
    ...(isOwn ? [] : [who]),
    {
      title: 'What',
      cell(item, key) {
        const show = () => stage.show({ items: [item] });
        return button(key, show, { class: 'link what' }, item.label || '(no text)');
      },
    },
  ]);
}
