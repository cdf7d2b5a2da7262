import { Failure } from '../failure.ts';
import { parseBranchName } from '../names.ts';
import { escapeLine } from '../surfacing.ts';

/**
 * A remote's address as it may be shown. A password stays unsaid, and so does the name before it where it is often the
 * secret itself: `https://<token>@host/`. What follows a `?` may be one, too.
 */
export function shownAddress(url: string): string {
  const [, scheme = '', before = '', rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/is.exec(url) ?? [];
  if (scheme === '') return url;
  const at = before.lastIndexOf('@');
  const colon = before.indexOf(':');
  const name = scheme.toLowerCase().endsWith('ssh') ? before.slice(0, at) : '***';
  const user = at < 0 ? '' : colon >= 0 && colon < at ? `${name.split(':')[0] ?? ''}:***@` : `${name}@`;
  const query = rest.indexOf('?');
  return `${scheme}://${user}${before.slice(at + 1)}${query < 0 ? rest : `${rest.slice(0, query)}?***`}`;
}

/**
 * Checks the setting `handoff.remotePrefix`.
 *
 * @throws Failure `usage` when no ref could stand below it
 */
export function checkRemotePrefix(text: string): string {
  const isPrefix = /^refs\/.*\/$/.test(text) && parseBranchName(text.slice(0, -1)) !== undefined;
  // Handoffs may not be mixed with branches, tags, git's notes or our own bookkeeping.
  const isTaken = /^refs\/(?:(?:heads|tags|remotes|notes)\/$|handoffs-)/.test(text);
  if (isPrefix && !isTaken) return text;
  throw new Failure(
    'usage',
    `handoff.remotePrefix is not a valid prefix of refs: ${escapeLine(JSON.stringify(text))}`,
    {
      hint: 'git config handoff.remotePrefix refs/heads/handoffs/',
    },
  );
}
