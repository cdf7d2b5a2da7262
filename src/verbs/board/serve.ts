import { randomBytes } from 'node:crypto';
import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Failure } from '../../domain/failure.ts';
import { NOTE_FILE } from '../../domain/handoff.ts';
import { escapeText } from '../../domain/surfacing.ts';
import { readObjects } from '../../git/objects.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CommandResult } from '../result.ts';
import type { BoardShape } from '../shapes.ts';
import { boardCounts } from './board.ts';
import { collectBoard } from './collect.ts';
import { boardFingerprint } from './fingerprint.ts';
import { type RequestVerdict, decideRequest } from './requests.ts';
import type { Board } from '../../ui/board/shape.ts';

interface ServeOptions {
  /** 0: any that is free. */
  readonly port: number;
  readonly compose: (board: Board) => string;
  /** Content-Security-Policy of a page. */
  readonly policy: string;
  /** Ends the server. */
  readonly signal: AbortSignal;
}

const LOOK_EVERY_MS = 1500;
const ADDRESS = '127.0.0.1';

/** Nobody but the page itself may use, frame, keep or guess what is answered. */
const HEADERS = {
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * Serves the board on 127.0.0.1 under a random path, until `signal` says so; returns when it can be opened.
 *
 * @throws Failure `environment` when the port cannot be listened at
 */
export async function serveBoard(
  options: ServeOptions,
  context: Context,
): Promise<CommandResult<BoardShape>> {
  const { cwd } = context;
  const token = randomBytes(24).toString('base64url');
  const first = await collectBoard(cwd, context.now);
  const live = new LiveBoard(context, first);
  const server = createServer((request, response) => {
    const verdict = decideRequest(request, { port: portOf(server), token });
    void respond(verdict, response, live, options).catch(() => response.destroy());
  });
  await listen(server, options.port);
  const stop = () => {
    live.stop();
    server.close();
    server.closeAllConnections();
  };
  options.signal.addEventListener('abort', stop, { once: true });
  const port = portOf(server);
  const bytes = Buffer.byteLength(options.compose(first));
  const url = `http://${ADDRESS}:${port}/${token}/`;
  return { value: { ...boardCounts(first), bytes, file: null, url, port } };
}

const portOf = (server: Server) => (server.address() as AddressInfo | null)?.port ?? 0;

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const message = `cannot listen at ${ADDRESS}:${port} (${error.code ?? 'error'})`;
      reject(new Failure('environment', message, { hint: 'git handoff board --serve', cause: error }));
    });
    server.listen(port, ADDRESS, () => resolve());
  });
}

/** What the pages that are open are told of: the repository is looked at only while there are any. */
class LiveBoard {
  readonly context: Context;
  #board: Board;
  #fingerprint = '';
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  readonly #listeners = new Set<ServerResponse>();

  constructor(context: Context, board: Board) {
    this.context = context;
    this.#board = board;
  }

  async read(): Promise<Board> {
    this.#board = await collectBoard(this.context.cwd, this.context.clock());
    return this.#board;
  }

  knows(oid: string): boolean {
    return this.#board.topics.some(({ versions }) => versions.some((version) => version.oid === oid));
  }

  listen(response: ServerResponse): void {
    this.#listeners.add(response);
    response.once('close', () => this.#listeners.delete(response));
    if (!this.#isLooking) void this.#look();
  }

  /** Ends the looking, too: it goes on only while somebody listens. */
  stop(): void {
    this.#listeners.clear();
    clearTimeout(this.#timer);
  }

  /** One look after the other, however long one takes. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    const { cwd, clock } = this.context;
    const found = await boardFingerprint(cwd, clock()).catch(() => this.#fingerprint);
    if (found !== this.#fingerprint) {
      this.#fingerprint = found;
      for (const response of this.#listeners) response.write('event: changed\ndata: 1\n\n');
    }
    this.#isLooking = this.#listeners.size > 0;
    if (this.#isLooking) this.#timer = setTimeout(() => void this.#look(), LOOK_EVERY_MS);
  }
}

async function respond(
  verdict: RequestVerdict,
  response: ServerResponse,
  live: LiveBoard,
  { compose, policy }: ServeOptions,
): Promise<void> {
  const send = (status: number, type: string, body: string, more: Record<string, string> = {}) =>
    response.writeHead(status, { ...HEADERS, 'content-type': `${type}; charset=utf-8`, ...more }).end(body);
  switch (verdict.kind) {
    case 'refused':
      send(verdict.status, 'text/plain', `${verdict.why}\n`);
      return;
    case 'page':
      send(200, 'text/html', compose(await live.read()), {
        'content-security-policy': `${policy}; frame-ancestors 'none'`,
      });
      return;
    case 'data':
      send(200, 'application/json', JSON.stringify(await live.read()));
      return;
    case 'note': {
      const text = live.knows(verdict.oid) ? await noteText(live.context.cwd, verdict.oid) : undefined;
      if (text === undefined) send(404, 'text/plain', 'nothing here\n');
      else send(200, 'application/json', JSON.stringify({ text }));
      return;
    }
    case 'events':
      response.writeHead(200, { ...HEADERS, 'content-type': 'text/event-stream; charset=utf-8' });
      response.write('retry: 2000\n\n');
      live.listen(response);
  }
}

async function noteText(cwd: string, oid: string): Promise<string | undefined> {
  const [note] = await readObjects({ cwd }, [{ name: `${oid}:${NOTE_FILE}` }]);
  return note?.type === 'blob' ? escapeText(note.content.toString('utf8')) : undefined;
}
