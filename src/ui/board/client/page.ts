import type { Board } from '../shape.ts';
import { type Child, el, redraw, button, command, facts, glyph, note } from './dom.ts';
import { detailOf, type Detail } from './details.ts';
import { KIND_NAMES, type Kind, type Model, makeModel } from './model.ts';
import { eventTable, handoffTable, sessionTable } from './tables.ts';
import { full } from './time.ts';
import { timeline } from './timeline.ts';
import { makeToolbar } from './toolbar.ts';
import { type Stage, type View, defaultRange, type Shown } from './view.ts';

function buildPage(app: HTMLElement, board: Board): void {
  const model = makeModel(board);
  const view: View = { name: 'Timeline', range: defaultRange(model), query: '', page: 0 };
  const list = el('section', { class: 'list', 'aria-label': 'List' });
  const panel = makePanel((shown) => detailOf(stage, shown));
  const stage: Stage = {
    model,
    view,
    show: panel.show,
    turn(page) {
      view.page = page;
      draw();
      list.scrollIntoView({ block: 'start' });
    },
  };
  const draw = () => redraw(list, ...listOf(stage, list.clientWidth));
  const toolbar = makeToolbar(view, () => {
    view.page = 0;
    draw();
  });
  toolbar.hidden = isEmpty(model);
  const limits = [...board.limits, 'Session ids are not verified.'];
  app.append(headline(model), el('main', {}, toolbar, list), el('footer', {}, ...limits.map(note)));
  app.append(panel.element);
  draw();
  followWidth(list, draw);
}

function headline(model: Model): HTMLElement {
  const { repository, at } = model.board;
  const lines = isEmpty(model) ? [] : [...facts(model), `as of ${full(at)}`];
  return el(
    'header',
    {},
    el('h1', {}, repository, ' ', el('small', {}, 'git handoff board')),
    el('ul', { class: 'facts', hidden: lines.length === 0 }, ...lines.map((text) => el('li', {}, text))),
  );
}

const isEmpty = ({ board, items }: Model) =>
  board.sessions.length === 0 && items.length === 0 && board.topics.length === 0;

function listOf(stage: Stage, width: number): Child[] {
  const { model, view } = stage;
  if (isEmpty(model)) return [emptyState(model.board)];
  switch (view.name) {
    case 'Timeline':
      return [timeline(stage, width), legend()];
    case 'Sessions':
      return [sessionTable(stage)];
    case 'Handoffs':
      return [handoffTable(stage)];
    case 'Events':
      return [eventTable(stage)];
  }
}

function emptyState({ initialised }: Board): HTMLElement {
  return el(
    'div',
    { class: 'empty' },
    el('h2', {}, 'Nothing has happened here yet'),
    note('No session is on record and no handoff was written in this repository. To begin:'),
    ...(initialised ? [] : [command('git handoff init')]),
    command("git handoff write auth-refresh -m 'what the next session must know'"),
  );
}

function legend(): HTMLElement {
  const rows = Object.entries(KIND_NAMES).map(([kind, name]) =>
    el('li', { class: `k-${kind}` }, glyph(kind as Kind), el('span', {}, name)),
  );
  return el('ul', { class: 'legend', 'aria-label': 'Marks' }, ...rows);
}

/** Redraws when the width changes, because the width decides which marks are joined. */
function followWidth(list: HTMLElement, draw: () => void): void {
  let width = list.clientWidth;
  new ResizeObserver(() => {
    if (Math.abs(list.clientWidth - width) < 8) return;
    width = list.clientWidth;
    draw();
  }).observe(list);
}

/** The panel beside the list: a modal dialog, so that Escape closes it and the focus returns to where it was. */
function makePanel(detail: (shown: Shown) => Detail) {
  /** What the panel has shown since it was opened. The last of these is shown now. */
  const past: Shown[] = [];
  const title = el('h2', { id: 'detail-title', tabindex: -1 });
  const body = el('div', { class: 'body', tabindex: 0, role: 'region', 'aria-labelledby': 'detail-title' });
  const goBack = () => {
    past.pop();
    draw();
  };
  const back = button('d-back', goBack, {}, 'Back');
  const close = button('d-close', () => element.close(), {}, 'Close');
  const bar = el('div', { class: 'bar-top' }, back, close);
  const element = el('dialog', { 'aria-labelledby': 'detail-title' }, bar, title, body);
  const draw = () => {
    const shown = past.at(-1);
    if (shown === undefined) return;
    const found = detail(shown);
    back.hidden = past.length === 1;
    title.textContent = found.title;
    body.replaceChildren(...found.body.filter((child) => child !== undefined));
    body.scrollTop = 0;
    if (!element.open) element.showModal();
    title.focus({ preventScroll: true });
  };
  element.addEventListener('close', () => past.splice(0));
  element.addEventListener('click', ({ target }) => {
    if (target === element) element.close();
  });
  const show = (shown: Shown) => {
    past.push(shown);
    draw();
  };
  return { element, show };
}

const app = document.getElementById('app');
const data = document.getElementById('board')?.textContent;
if (app !== null) buildPage(app, JSON.parse(data ?? '') as Board);
