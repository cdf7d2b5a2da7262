import { ownerName } from '../../../domain/names.ts';
import type { BoardSession, LaneState } from '../shape.ts';
import { type Kind, type Model, STATE_NAMES } from './model.ts';
import type { Stage } from './view.ts';

/* The page makes elements only with these functions: texts become text nodes, never markup. */

export type Child = Node | string | undefined;

type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Makes an element. An attribute that is `undefined` or `false` is left out; `true` makes an empty one. */
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

/** Makes a span with a class. */
export const styled = (name: string, ...children: Child[]): HTMLElement =>
  el('span', { class: name }, ...children);

/** Makes a button. `key` finds the same button again after a redraw. */
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

/** Redraws an element, and puts the focus back on the same button. */
export function redraw(target: HTMLElement, ...children: Child[]): void {
  const key = document.activeElement instanceof HTMLElement ? document.activeElement.dataset['k'] : undefined;
  const inside = target.contains(document.activeElement);
  target.replaceChildren(...children.filter((child) => child !== undefined));
  if (key === undefined || !inside) return;
  target.querySelector<HTMLElement>(`[data-k="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

/** The mark of a kind. Kinds differ not only in colour but also in shape. */
export const glyph = (kind: Kind): HTMLElement =>
  el('span', { class: `glyph g-${kind}`, 'aria-hidden': 'true' });

export const stateDot = (state: LaneState): HTMLElement =>
  el('span', { class: `dot ${state}`, title: STATE_NAMES[state], 'aria-hidden': 'true' });

/** A session's state, and how it ended. */
export const stateOf = ({ state, reason }: BoardSession): HTMLElement =>
  styled('state', stateDot(state), STATE_NAMES[state] + (reason === undefined ? '' : ` (${reason})`));

export const note = (text: string): HTMLElement => el('p', { class: 'note' }, text);

/** A command to type. */
export const command = (text: string): HTMLElement => el('code', { class: 'command' }, text);

/** The name of a session, or of a person who wrote a note. */
export const sessionName = (session: BoardSession | undefined): string =>
  session === undefined ? '' : ownerName(session.id, session);

/** How much a session has changed and not committed. */
export const workText = ({ work = [] }: BoardSession): string =>
  work
    .map(({ files, added, removed }) => `${files} file${files === 1 ? '' : 's'} +${added} −${removed}`)
    .join(', ');

/** A button with a session's name, which shows the session. */
export function sessionButton(stage: Pick<Stage, 'model' | 'show'>, index: number, key: string): HTMLElement {
  const session = stage.model.board.sessions[index];
  const isPerson = session?.client === 'person';
  const show = () => stage.show({ session: index });
  return button(
    `${key}-s${index}`,
    show,
    { class: 'link id', title: isPerson ? '' : (session?.id ?? '') },
    sessionName(session),
  );
}

/** A button for each of several sessions. */
export const sessionButtons = (stage: Stage, by: readonly number[], key: string): HTMLElement =>
  styled('chips', ...by.map((index) => sessionButton(stage, index, key)));

/** Says which part of a list is shown, with buttons to the parts before and after it. */
export function pager(stage: Stage, total: number, size: number, what: string): HTMLElement | undefined {
  const { page } = stage.view;
  if (total <= size) return undefined;
  const last = Math.ceil(total / size) - 1;
  const to = (target: number, text: string) =>
    button(`p-${text}`, () => stage.turn(target), { disabled: target < 0 || target > last }, text);
  const first = page * size + 1;
  const place = `${first.toLocaleString('en')}–${Math.min(total, first + size - 1).toLocaleString('en')} of ${total.toLocaleString('en')} ${what}`;
  return el(
    'nav',
    { class: 'pager', 'aria-label': 'Pages' },
    to(page - 1, 'Previous'),
    el('span', { role: 'status' }, place),
    to(page + 1, 'Next'),
  );
}

/** The numbers in the head of the page: live sessions, all sessions, handoffs, commits, refusals. */
export function facts({ board }: Model): string[] {
  const live = board.sessions.filter(({ state }) => state === 'live').length;
  const open = board.topics.filter(({ versions }) => versions[0]?.closed !== true).length;
  const number = (count: number, one: string, many = `${one}s`) =>
    `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
  return [
    ...(live === 0 ? [] : [`${live} live`]),
    number(board.sessions.length, 'session'),
    `${number(board.topics.length, 'handoff')}, ${open.toLocaleString('en')} open`,
    number(board.commits.length, 'commit'),
    number(board.refusals.length, 'refusal'),
  ];
}
