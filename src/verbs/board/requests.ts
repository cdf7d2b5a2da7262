import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** What of a request says whether it comes from the page that we gave out. */
export type Asked = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

export type RequestVerdict =
  | { readonly kind: 'page' | 'data' | 'events' }
  | { readonly kind: 'note'; readonly oid: string }
  | { readonly kind: 'refused'; readonly status: 403 | 404 | 405; readonly why: string };

const refused = (status: 403 | 404 | 405, why: string): RequestVerdict => ({ kind: 'refused', status, why });

/**
 * Decides what a request gets. Only who knows the token is answered, under the address that we listen at (a foreign name
 * that points here is how a page of the web would reach us), and no other page of the same browser.
 */
export function decideRequest(
  { method, url = '/', headers }: Asked,
  { port, token }: { readonly port: number; readonly token: string },
): RequestVerdict {
  if (headers.host !== `127.0.0.1:${port}` && headers.host !== `localhost:${port}`) {
    return refused(403, 'unknown host');
  }
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return refused(403, 'another site');
  const { origin } = headers;
  if (origin !== undefined && origin !== `http://${headers.host}`) return refused(403, 'another origin');
  if (method !== 'GET' && method !== 'HEAD') return refused(405, 'only GET');
  const [, given = '', what = '', ...rest] = url.split('?')[0]?.split('/') ?? [];
  if (!sameToken(given, token) || rest.length > 1) return refused(404, 'nothing here');
  const [oid = ''] = rest;
  if (what === 'note' && /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(oid)) return { kind: 'note', oid };
  if (rest.length > 0) return refused(404, 'nothing here');
  if (what === '') return { kind: 'page' };
  return what === 'data' || what === 'events' ? { kind: what } : refused(404, 'nothing here');
}

/** Compared in constant time, whatever its length. */
function sameToken(given: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}
