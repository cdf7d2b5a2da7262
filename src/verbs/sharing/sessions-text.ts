import type { AllowShape } from '../shapes.ts';
import type { SessionsValue } from './sessions.ts';
import { requestLines } from './requests.ts';
import { shortId, ownerName, peerName } from '../../domain/names.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { ago } from '../../domain/age.ts';
import { type Rendered, type TextContext, columns } from '../../ui/terminal.ts';

/** A line for each session; a star for the one that asks. */
export function renderSessions({ items, requests }: SessionsValue, { now }: TextContext): Rendered {
  if (items.length === 0) return 'no session is registered here\n';
  const client = (id: string) => items.find(({ session }) => session === id)?.client;
  const named = (id: string) => ownerName(id, { client: client(id) });
  const asked = requestLines(requests, named, ({ path }) => shellWord(path), now);
  const table = columns(
    items.map((item) => [
      item.self ? '*' : ' ',
      escapeLine(shortId(item.session)),
      item.liveness,
      escapeLine(item.client),
      escapeLine(item.branch ?? '-'),
      `since ${ago(Date.parse(item.startedAt), now)}`,
      escapeLine(item.worktree ?? '-'),
      uncommitted(item.uncommitted),
    ]),
  );
  return asked === '' ? table : `${table}\n${asked}`;
}

const MAX_NAMES = 5;

function uncommitted(paths: readonly string[]): string {
  if (paths.length === 0) return '';
  const names = paths.slice(0, MAX_NAMES).map(shellWord).join(' ');
  return `${paths.length} uncommitted: ${names}${paths.length > MAX_NAMES ? ' …' : ''}`;
}

/** Whose next refusal is let through, and until when. */
export function renderAllowed({ session, until }: AllowShape, { clients }: TextContext): Rendered {
  const who = session === null ? 'whichever session is refused first' : peerName(session, { clients });
  return `allowed once, for ${who}, until ${until}\n`;
}
