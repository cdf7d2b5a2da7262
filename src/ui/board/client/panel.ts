import { button, el } from './dom.ts';
import type { Detail } from './details.ts';
import type { Shown } from './view.ts';

/** The panel beside the list: a modal dialog, so that Escape closes it and the focus goes back to where it came from. */
export interface Panel {
  readonly element: HTMLDialogElement;
  readonly show: (shown: Shown) => void;
}

export function makePanel(detail: (shown: Shown) => Detail): Panel {
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
