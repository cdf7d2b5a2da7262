import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer as createWebServer } from 'node:http';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { type RepositoryOptions, type Run, type RunOptions, TestRepository } from './repository.ts';

const HOOKS = resolve(import.meta.dirname, '..', '..', 'git-hooks');
/** Far more than a server needs to start, in milliseconds. */
const START_MS = 10_000;

export const A = 'aaaaaaaa-1111-4111-8111-111111111111';
export const B = 'bbbbbbbb-2222-4222-8222-222222222222';

/** A handmade handoff commit, valid unless a field here makes it invalid. */
export interface Handmade {
  readonly parents?: readonly string[];
  readonly owner?: string;
  readonly branch?: string;
  readonly topic?: string;
  readonly version?: number;
  /** Further lines of the last paragraph. */
  readonly trailers?: readonly string[];
  /** Replaces the whole message. */
  readonly message?: string;
  readonly note?: string | null;
  readonly state?: string;
}

/** A pusher without our hooks, and a bare repository on a server with our hook. */
export class ServerWorld extends TestRepository {
  readonly server: string;

  constructor(hook: 'server-pre-receive' | 'server-update' | undefined, options: RepositoryOptions = {}) {
    super(options);
    this.server = join(this.root, 'srv', 'team.git');
    mkdirSync(join(this.root, 'srv'));
    const { objectFormat } = options;
    const format = objectFormat === undefined ? [] : [`--object-format=${objectFormat}`];
    this.git(['init', '-q', '--bare', '--initial-branch=main', ...format, this.server], { cwd: this.root });
    if (hook !== undefined) this.install(hook);
    this.git(['remote', 'add', 'origin', this.server]);
  }

  install(hook: 'server-pre-receive' | 'server-update', by: 'link' | 'copy' = 'link'): void {
    const path = join(this.server, 'hooks', hook.replace('server-', ''));
    rmSync(path, { force: true });
    if (by === 'link') symlinkSync(join(HOOKS, hook), path);
    else cpSync(join(HOOKS, hook), path);
  }

  /** Pushes past every hook on this side. */
  push(
    refspecs: readonly string[],
    options: RunOptions & { to?: string; flags?: readonly string[] } = {},
  ): Run {
    const { to = 'origin', flags = [], ...rest } = options;
    return this.run('git', ['push', '-q', '--no-verify', ...flags, to, ...refspecs], rest);
  }

  /** The value of a ref on the server. */
  there(ref: string): string | undefined {
    const run = this.run('git', ['rev-parse', '-q', '--verify', ref], { cwd: this.server });
    return run.status === 0 ? run.stdout.trim() : undefined;
  }

  handmade(made: Handmade = {}): string {
    const { parents = [], owner = A, branch = 'main', topic = 'auth-refresh', version = 1 } = made;
    const { trailers = [], note = 'a note\n', state } = made;
    const facts = {
      version,
      branch,
      topic,
      head: null,
      upstream: null,
      dirty: 0,
      client: null,
      worktree: null,
    };
    const blob = (input: string) => this.git(['hash-object', '-w', '--stdin'], { input });
    const entries = [
      ...(note === null ? [] : [`100644 blob ${blob(note)}\thandoff.md`]),
      `100644 blob ${blob(state ?? JSON.stringify(facts))}\tstate.json`,
    ];
    const tree = this.git(['mktree'], { input: `${entries.join('\n')}\n` });
    const lines = [`Claude-Session-Id: ${owner}`, 'Handoff-State: open', ...trailers].join('\n');
    const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'];
    return this.git(args, { input: made.message ?? `by hand\n\n${lines}\n` });
  }

  /** Serves the folder that holds the server's repository, with git-daemon(1) on 127.0.0.1. */
  async daemon(): Promise<{ url: string; stop: () => Promise<void> }> {
    const port = await freePort();
    const where = [`--base-path=${join(this.root, 'srv')}`, '--listen=127.0.0.1', `--port=${port}`];
    const pidFile = join(this.root, 'daemon.pid');
    const args = [
      'daemon',
      ...where,
      '--export-all',
      '--enable=receive-pack',
      '--reuseaddr',
      `--pid-file=${pidFile}`,
    ];
    // Like a service: without a home and an identity.
    const env = { PATH: this.env()['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_COUNT: '1' };
    const safe = { GIT_CONFIG_KEY_0: 'safe.directory', GIT_CONFIG_VALUE_0: '*' };
    const child = spawn('git', args, { cwd: this.root, env: { ...env, ...safe }, stdio: 'ignore' });
    const url = `git://127.0.0.1:${port}/team.git`;
    const end = Date.now() + START_MS;
    while (this.run('git', ['ls-remote', url]).status !== 0) {
      if (Date.now() > end) throw new Error('git daemon does not answer');
    }
    const stop = async () => {
      const gone = once(child, 'exit');
      // `git daemon` is a child of `git`, which forwards no signal.
      process.kill(Number(readFileSync(pidFile, 'utf8')));
      await gone;
    };
    return { url, stop };
  }
}

/** Serves a folder by `git http-backend`, as any web server with CGI does, on 127.0.0.1. */
export async function httpBackend(
  folder: string,
  path: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createWebServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://127.0.0.1');
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: path,
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: '1',
        // git refuses pushes from users without a name.
        REMOTE_USER: 'somebody',
        REQUEST_METHOD: request.method,
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        CONTENT_TYPE: request.headers['content-type'],
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      },
    });
    request.pipe(backend.stdin);
    const parts: Buffer[] = [];
    backend.stdout.on('data', (part: Buffer) => parts.push(part));
    backend.on('close', () => {
      const whole = Buffer.concat(parts);
      const end = whole.indexOf('\r\n\r\n');
      const headers = whole.toString('latin1', 0, Math.max(end, 0)).split('\r\n');
      for (const line of headers) {
        const [name = '', value = ''] = line.split(': ');
        if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
        else if (name !== '') response.setHeader(name, value);
      }
      response.end(whole.subarray(end + 4));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const stop = async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${address.port}/team.git`, stop };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** The output of the server's hook, without git's `remote: ` and trailing blanks. */
export function remoteLines({ stderr }: Run): string[] {
  return stderr.split('\n').flatMap((line) => (line.startsWith('remote: ') ? [line.slice(8).trimEnd()] : []));
}
