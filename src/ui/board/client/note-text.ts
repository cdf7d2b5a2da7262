import type { Board } from '../shape.ts';

const isServed = (): boolean => document.getElementById('app')?.hasAttribute('data-served') === true;

/** Texts that were asked for, by version. */
const fetched = new Map<string, string>();

/** A note's text: from the page, or from the server that gave it out; `undefined`: it is in neither. */
export async function noteText({ notes }: Board, oid: string): Promise<string | undefined> {
  const known = Object.hasOwn(notes, oid) ? notes[oid] : fetched.get(oid);
  if (known !== undefined || !isServed()) return known;
  const response = await fetch(`note/${oid}`).catch(() => undefined);
  if (response?.ok !== true) return undefined;
  const { text } = (await response.json()) as { text: string };
  fetched.set(oid, text);
  return text;
}

/** Follows the server that gave the page out: `changed` gets the board as it is now. */
export function follow(changed: (board: Board) => void, status: (isConnected: boolean) => void): void {
  if (!isServed()) return;
  const source = new EventSource('events');
  const read = async () => {
    const response = await fetch('data').catch(() => undefined);
    if (response?.ok === true) changed((await response.json()) as Board);
  };
  source.addEventListener('changed', () => void read());
  source.addEventListener('open', () => {
    status(true);
    // What changed between the page and this moment, or while the server was away.
    void read();
  });
  source.addEventListener('error', () => status(false));
}
