import type { Board } from '../shape.ts';
import { type Child, el, redraw, button } from './dom.ts';
import { detailOf, type Detail } from './details.ts';
import { KIND_NAMES, type Kind, type Model, makeModel } from './model.ts';
import { command, facts, glyph, note } from './parts.ts';
import { eventTable, handoffTable, sessionTable } from './tables.ts';
import { full } from './time.ts';
import { timeline } from './timeline.ts';
import { type Toolbar, makeToolbar } from './toolbar.ts';
import { type Stage, type View, defaultRange, type Shown } from './view.ts';

/** Builds the page; what a choice of the reader changes is redrawn. */
export function buildPage(app: HTMLElement, board: Board): void {
  const model = makeModel(board);
  const view: View = {
    name: 'timeline',
    range: defaultRange(model),
    query: '',
    liveOnly: false,
    openOnly: false,
    kinds: 'all',
    page: 0,
    isPrinting: false,
  };
  const title = el('header', {});
  const list = el('section', { class: 'list', 'aria-label': 'List' });
  const footer = el('footer', {});
  const panel: Panel = makePanel((shown) => detailOf(stage(), shown));
  const stage = (): Stage => ({
    model,
    view,
    show: panel.show,
    turn(page) {
      view.page = page;
      draw();
      list.scrollIntoView({ block: 'start' });
    },
  });
  const draw = () => redraw(list, ...listOf(stage(), list.clientWidth));
  const toolbar: Toolbar = makeToolbar(view, () => {
    view.page = 0;
    draw();
  });
  app.append(title, el('main', {}, toolbar.element, list), footer, panel.element);
  redraw(title, ...headline(model));
  redraw(footer, ...footnotes(model));
  toolbar.element.hidden = isEmpty(model);
  draw();
  followWidth(list, draw);
  followPrinting(view, draw);
}

function headline(model: Model): Child[] {
  const { repository, at } = model.board;
  return [
    el('h1', {}, repository, ' ', el('small', {}, 'git handoff board')),
    isEmpty(model)
      ? undefined
      : el(
          'ul',
          { class: 'facts' },
          ...facts(model).map((text) => el('li', {}, text)),
          el('li', {}, `as of ${full(at)}`),
        ),
  ];
}

const isEmpty = ({ board, items }: Model) =>
  board.sessions.length === 0 && items.length === 0 && board.topics.length === 0;

function listOf(stage: Stage, width: number): Child[] {
  const { model, view } = stage;
  if (isEmpty(model)) return [emptyState(model.board)];
  switch (view.name) {
    case 'timeline':
      return [timeline(stage, width), legend()];
    case 'sessions':
      return [sessionTable(stage)];
    case 'handoffs':
      return [handoffTable(stage)];
    case 'events':
      return [eventTable(stage)];
  }
}

function emptyState({ initialised }: Board): HTMLElement {
  return el(
    'div',
    { class: 'empty' },
    el('h2', {}, 'Nothing has happened here yet'),
    note('No session is on record and no handoff was written in this repository.'),
    ...(initialised
      ? []
      : [note('Switch the guard on, so that sessions are known:'), command('git handoff init')]),
    note('Leave the first note:'),
    command("git handoff write auth-refresh -m 'what the next session must know'"),
  );
}

function legend(): HTMLElement {
  const kinds: readonly Kind[] = ['write', 'take', 'close', 'commit', 'refusal'];
  const rows = kinds.map((kind) =>
    el('li', { class: `k-${kind}` }, glyph(kind), el('span', {}, KIND_NAMES[kind])),
  );
  return el('ul', { class: 'legend', 'aria-label': 'Marks' }, ...rows);
}

const footnotes = ({ board }: Model): Child[] => [
  ...board.limits.map(note),
  note('A session is who it says it is: ids are claims, not proofs.'),
];

/** Marks are joined by the room that there is. */
function followWidth(list: HTMLElement, draw: () => void): void {
  let width = list.clientWidth;
  new ResizeObserver(() => {
    if (Math.abs(list.clientWidth - width) < 8) return;
    width = list.clientWidth;
    draw();
  }).observe(list);
}

function followPrinting(view: View, draw: () => void): void {
  const print = matchMedia('print');
  const set = (isPrinting: boolean) => {
    if (view.isPrinting === isPrinting) return;
    view.isPrinting = isPrinting;
    draw();
  };
  addEventListener('beforeprint', () => set(true));
  addEventListener('afterprint', () => set(false));
  print.addEventListener('change', ({ matches }) => set(matches));
}

/** The panel beside the list: a modal dialog, so that Escape closes it and the focus goes back to where it came from. */
interface Panel {
  readonly element: HTMLDialogElement;
  readonly show: (shown: Shown) => void;
}

function makePanel(detail: (shown: Shown) => Detail): Panel {
  const past: Shown[] = [];
  const title = el('h2', { id: 'detail-title', tabindex: -1 });
  const body = el('div', { class: 'body', tabindex: 0, role: 'region', 'aria-labelledby': 'detail-title' });
  const back = button('d-back', () => goBack(), {}, 'Back');
  const close = button('d-close', () => element.close(), {}, 'Close');
  const bar = el('div', { class: 'bar-top' }, back, close);
  const element = el('dialog', { 'aria-labelledby': 'detail-title' }, bar, title, body);
  let current: Shown | undefined;
  const draw = (shown: Shown) => {
    const found = detail(shown);
    current = shown;
    back.hidden = past.length === 0;
    title.textContent = found.title;
    body.replaceChildren(...found.body.filter((child) => child !== undefined));
    body.scrollTop = 0;
    if (!element.open) element.showModal();
    title.focus({ preventScroll: true });
  };
  const goBack = () => {
    const former = past.pop();
    if (former !== undefined) draw(former);
  };
  element.addEventListener('close', () => {
    past.length = 0;
    current = undefined;
  });
  // A click beside it.
  element.addEventListener('click', ({ target }) => {
    if (target === element) element.close();
  });
  return {
    element,
    show(shown) {
      if (current !== undefined) past.push(current);
      draw(shown);
    },
  };
}
