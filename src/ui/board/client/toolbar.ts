import { button, el } from './dom.ts';
import { RANGES } from './time.ts';
import type { View, ViewName } from './view.ts';

/** The choices above the list; drawn once, because they keep the reader's typing. */
export interface Toolbar {
  readonly element: HTMLElement;
}

const VIEWS: readonly (readonly [ViewName, string])[] = [
  ['timeline', 'Timeline'],
  ['sessions', 'Sessions'],
  ['handoffs', 'Handoffs'],
  ['events', 'Events'],
];

const KINDS: readonly (readonly [View['kinds'], string])[] = [
  ['all', 'all'],
  ['handoffs', 'handoffs'],
  ['commit', 'commits'],
  ['refusal', 'refusals'],
];

const TYPING_MS = 120;

/** `changed` is called after `view` was changed. */
export function makeToolbar(view: View, changed: () => void): Toolbar {
  const range = choice(
    'Span',
    RANGES.map(({ name }, at) => [String(at), name] as const),
    String(view.range),
    (value) => {
      view.range = Number(value);
      changed();
    },
  );
  const kinds = choice('Kind', KINDS, view.kinds, (value) => {
    view.kinds = KINDS.find(([name]) => name === value)?.[0] ?? 'all';
    changed();
  });
  const live = check('live only', (on) => {
    view.liveOnly = on;
    changed();
  });
  const open = check('open only', (on) => {
    view.openOnly = on;
    changed();
  });
  const parts = { timeline: [range, live], sessions: [live], handoffs: [open], events: [kinds] };
  const buttons = VIEWS.map(([name, text]) => {
    const one = button(`view-${name}`, () => choose(name), { 'aria-pressed': 'false' }, text);
    return [name, one] as const;
  });
  const choose = (name: ViewName) => {
    view.name = name;
    for (const [other, one] of buttons) one.setAttribute('aria-pressed', String(other === name));
    for (const part of [range, kinds, live, open]) part.hidden = !parts[name].includes(part);
    changed();
  };
  const element = el(
    'div',
    { class: 'toolbar', role: 'group', 'aria-label': 'View' },
    el('div', { class: 'views' }, ...buttons.map(([, one]) => one)),
    range,
    kinds,
    live,
    open,
    filter(view, changed),
  );
  const isShown = parts[view.name];
  for (const part of [range, kinds, live, open]) part.hidden = !isShown.includes(part);
  buttons[0]?.[1].setAttribute('aria-pressed', 'true');
  return { element };
}

function choice(
  name: string,
  values: readonly (readonly [string, string])[],
  value: string,
  chosen: (value: string) => void,
): HTMLElement {
  const select = el('select', {}, ...values.map(([key, text]) => el('option', { value: key }, text)));
  select.value = value;
  select.addEventListener('change', () => chosen(select.value));
  return el('label', {}, el('span', {}, name), select);
}

function check(name: string, changed: (on: boolean) => void): HTMLElement {
  const input = el('input', { type: 'checkbox' });
  input.addEventListener('change', () => changed(input.checked));
  return el('label', {}, input, el('span', {}, name));
}

function filter(view: View, changed: () => void): HTMLElement {
  const input = el('input', {
    type: 'search',
    placeholder: 'session, branch, topic, text',
    spellcheck: 'false',
  });
  let timer = 0;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      view.query = input.value.trim().toLowerCase();
      changed();
    }, TYPING_MS);
  });
  return el('label', { class: 'filter' }, el('span', {}, 'Filter'), input);
}
