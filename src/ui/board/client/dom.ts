/** The only way that elements come into being here: texts become text nodes, never markup. */

export type Child = Node | string | undefined;

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Makes an element. An attribute that is `undefined` or `false` is left out; `true` is an empty one. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/** A button; `key` finds it again after the page was redrawn. */
export function button(
  key: string,
  act: () => void,
  attributes: Attributes,
  ...children: Child[]
): HTMLButtonElement {
  const element = el('button', { type: 'button', 'data-k': key, ...attributes }, ...children);
  element.addEventListener('click', act);
  return element;
}

/** Redraws something without losing the place of the keyboard. */
export function redraw(target: HTMLElement, ...children: Child[]): void {
  const key = document.activeElement instanceof HTMLElement ? document.activeElement.dataset['k'] : undefined;
  const inside = target.contains(document.activeElement);
  target.replaceChildren(...children.filter((child) => child !== undefined));
  if (key === undefined || !inside) return;
  target.querySelector<HTMLElement>(`[data-k="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}
