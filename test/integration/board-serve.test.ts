import { type OutgoingHttpHeaders, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Board } from '../../src/ui/board/shape.ts';
import { type ServedBoard, dataOf, serveBoard } from '../support/board.ts';
import { TestRepository } from '../support/repository.ts';
import { A } from '../support/sharing-world.ts';

interface Answered {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

function get(url: string, headers: OutgoingHttpHeaders = {}, method = 'GET'): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers, method }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** Waits for the next event of a stream. */
function nextEvent(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(url, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (!text.includes('event: changed')) return;
        asked.destroy();
        resolve(text);
      });
    });
    asked.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' ? undefined : reject(error),
    );
    asked.end();
  });
}

let repo: TestRepository;
let served: ServedBoard;
beforeAll(async () => {
  repo = new TestRepository();
  repo.ok(['write', 'auth-refresh', '-m', 'one'], { session: A });
  served = await serveBoard(repo);
});
afterAll(async () => {
  await served.stop('SIGTERM');
  repo.remove();
});

describe('a served board', () => {
  it('is at a random path of 127.0.0.1', () => {
    expect(served.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/$/);
  });

  it('answers with the page and the data, for nobody else to use', async () => {
    const { status, headers, body } = await get(served.url);
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
    expect(dataOf(body).topics).toHaveLength(1);
    const data = await get(`${served.url}data`);
    expect((JSON.parse(data.body) as Board).topics).toHaveLength(1);
  });

  it('gives notes, and no other object of the repository', async () => {
    const oid = repo.git(['rev-parse', 'refs/handoffs/main/auth-refresh']);
    expect((await get(`${served.url}note/${oid}`)).body).toBe('{"text":"one\\n"}');
    const head = repo.commit('a file of that name', { 'handoff.md': 'secret\n' });
    expect((await get(`${served.url}note/${head}`)).status).toBe(404);
  });

  it('answers nobody without the token, under another name, or from another page', async () => {
    const { origin, host } = new URL(served.url);
    expect((await get(`${origin}/`)).status).toBe(404);
    expect((await get(`${origin}/data`)).status).toBe(404);
    const rebound = await get(served.url, { host: 'evil.example' });
    expect([rebound.status, rebound.body]).toEqual([403, 'unknown host\n']);
    expect((await get(served.url, { host, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await get(`${served.url}data`, { origin: 'http://evil.example' })).status).toBe(403);
    expect((await get(served.url, {}, 'POST')).status).toBe(405);
  });

  it('listens at no other address', async () => {
    const { port } = new URL(served.url);
    const open = repo.run('sh', ['-c', `ss -ltnH 2>/dev/null | awk '{print $4}' | grep ':${port}$' || true`]);
    if (open.stdout !== '') expect(open.stdout.trim()).toBe(`127.0.0.1:${port}`);
    await expect(get(`http://[::1]:${port}/`)).rejects.toThrow(/ECONNREFUSED|EADDRNOTAVAIL|EAFNOSUPPORT/);
  });

  it('tells pages that are open of a new note', async () => {
    // The first one is for what changed before anybody listened.
    await nextEvent(`${served.url}events`);
    const event = nextEvent(`${served.url}events`);
    await new Promise((resolve) => setTimeout(resolve, 500));
    repo.ok(['write', 'other-work', '-m', 'two'], { session: A });
    expect(await event).toContain('event: changed');
    const { body } = await get(`${served.url}data`);
    expect((JSON.parse(body) as Board).topics.map(({ topic }) => topic)).toContain('other-work');
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('ends at once and well by %s, with a page open', async (signal) => {
    const own = await serveBoard(repo);
    onTestFinished(() => void own.child.kill('SIGKILL'));
    const open = request(`${own.url}events`);
    open.on('error', () => undefined);
    open.end();
    await new Promise((resolve) => open.once('response', resolve));
    const started = Date.now();
    expect(await own.stop(signal)).toBe(0);
    expect(Date.now() - started).toBeLessThan(5000);
  });

  it('does not start at a port that is taken, or at what is none', () => {
    const { port } = new URL(served.url);
    const taken = repo.handoff(['board', '--serve', '--port', port]);
    expect([taken.status, taken.stderr]).toEqual([
      7,
      `error: cannot listen at 127.0.0.1:${port} (EADDRINUSE)\nhint: git handoff board --serve\n`,
    ]);
    expect(repo.handoff(['board', '--serve', '--port', '70000']).status).toBe(2);
    expect(repo.handoff(['board', '--serve', '--port=']).status).toBe(2);
    expect(repo.handoff(['board', '--port', '80']).status).toBe(2);
    expect(repo.handoff(['board', '--serve', '-o', 'x.html']).status).toBe(2);
  });
});
