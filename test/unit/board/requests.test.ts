import { describe, expect, it } from 'vitest';
import { type Asked, decideRequest } from '../../../src/verbs/board/requests.ts';

const HERE = { port: 4711, token: 'token-of-this-run' };
const OID = 'a'.repeat(40);

const ask = (url: string, headers: Asked['headers'] = {}, method = 'GET') =>
  decideRequest({ method, url, headers: { host: '127.0.0.1:4711', ...headers } }, HERE);

describe('a request to the board', () => {
  it.each([
    ['/token-of-this-run/', { kind: 'page' }],
    ['/token-of-this-run/?x=1', { kind: 'page' }],
    ['/token-of-this-run/data', { kind: 'data' }],
    ['/token-of-this-run/events', { kind: 'events' }],
    [`/token-of-this-run/note/${OID}`, { kind: 'note', oid: OID }],
  ])('%s gets %j', (url, expected) => {
    expect(ask(url)).toEqual(expected);
    expect(ask(url, { host: 'localhost:4711' })).toEqual(expected);
  });

  it.each([
    ['/', 404],
    ['/data', 404],
    ['/favicon.ico', 404],
    ['/token-of-this-ru/', 404],
    ['/token-of-this-runn/', 404],
    ['//token-of-this-run/', 404],
    ['/token-of-this-run/nothing', 404],
    ['/token-of-this-run/data/more', 404],
    ['/token-of-this-run/note/HEAD', 404],
    [`/token-of-this-run/note/${OID}/x`, 404],
    ['/token-of-this-run/../../etc/passwd', 404],
  ])('%s is refused', (url, status) => {
    expect(ask(url)).toMatchObject({ kind: 'refused', status });
  });

  it.each([
    ['a name that was bent to point here', { host: 'evil.example:4711' }],
    ['no port', { host: '127.0.0.1' }],
    ['another port', { host: '127.0.0.1:80' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port of this machine', { 'sec-fetch-site': 'same-site' }],
    ['another origin', { origin: 'http://evil.example' }],
    ['a file', { origin: 'null' }],
  ])('with the token but from %s is refused', (_what, headers) => {
    expect(ask('/token-of-this-run/', headers)).toMatchObject({ kind: 'refused', status: 403 });
  });

  it('without a host is refused', () => {
    const asked = { method: 'GET', url: '/token-of-this-run/', headers: {} };
    expect(decideRequest(asked, HERE)).toMatchObject({ kind: 'refused', status: 403 });
  });

  it('that would change something is refused', () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect(ask('/token-of-this-run/data', {}, method)).toMatchObject({ status: 405 });
    }
  });
});
