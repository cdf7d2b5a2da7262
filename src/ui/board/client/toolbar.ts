import { button, el } from './dom.ts';
import { RANGES } from './time.ts';
import { VIEWS, type View } from './view.ts';

const TYPING_MS = 120;

/** The controls above the list, drawn once to keep what the reader types. They change `view`, then call `changed`. */
export function makeToolbar(view: View, changed: () => void): HTMLElement {
  const range = el('select', {}, ...RANGES.map(({ name }, at) => el('option', { value: at }, name)));
  range.value = String(view.range);
  range.addEventListener('change', () => {
    view.range = Number(range.value);
    changed();
  });
  const span = el('label', {}, el('span', {}, 'Span'), range);
  const buttons = VIEWS.map((name) => {
    const choose = () => {
      view.name = name;
      for (const one of buttons) one.setAttribute('aria-pressed', String(one.textContent === name));
      span.hidden = name !== 'Timeline';
      changed();
    };
    return button(`view-${name}`, choose, { 'aria-pressed': String(name === view.name) }, name);
  });
  return el(
    'div',
    { class: 'toolbar', role: 'group', 'aria-label': 'View' },
    el('div', { class: 'views' }, ...buttons),
    span,
    filter(view, changed),
  );
}

function filter(view: View, changed: () => void): HTMLElement {
  const input = el('input', {
    type: 'search',
    placeholder: 'session, branch, topic, state, text',
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
