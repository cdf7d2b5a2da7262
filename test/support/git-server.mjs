// Serves bare repositories on 127.0.0.1 until its stdin is closed: `node git-server.mjs daemon|http <folder>`.
// Prints the port. It is a process of its own because tests block their event loop while they wait for git.
import { execFileSync, spawn } from 'node:child_process';
import { createServer as createHttp } from 'node:http';
import { connect, createServer as createSocket } from 'node:net';
import { join } from 'node:path';

const [kind, folder] = process.argv.slice(2);
const programs = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim();

process.stdin.resume();
const untilClosed = (end) => process.stdin.once('end', end).once('error', end);

const freePort = () =>
  new Promise((done) => {
    const probe = createSocket().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });

const isOpen = (port) =>
  new Promise((done) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(() => done(true)));
    socket.once('error', () => done(false));
  });

async function serveDaemon() {
  const port = await freePort();
  const words = ['--export-all', '--enable=receive-pack', '--reuseaddr', `--base-path=${folder}`];
  // We start git-daemon itself: `git daemon` would be another process around it, which forwards no signal.
  const daemon = spawn(join(programs, 'git-daemon'), [
    ...words,
    '--listen=127.0.0.1',
    `--port=${port}`,
    folder,
  ]);
  daemon.once('exit', (code) => process.exit(code ?? 0));
  untilClosed(() => daemon.kill('SIGTERM'));
  for (let tries = 0; tries < 500 && !(await isOpen(port)); tries++)
    await new Promise((next) => setTimeout(next, 10));
  process.stdout.write(`${port}\n`);
}

function serveHttp() {
  const server = createHttp((request, response) => answer(request, response)).listen(0, '127.0.0.1', () =>
    process.stdout.write(`${server.address().port}\n`),
  );
  untilClosed(() => process.exit(0));
}

/** Answers a request by CGI (RFC 3875), like a web server that starts git-http-backend. */
function answer(request, response) {
  const { pathname, search } = new URL(request.url, 'http://127.0.0.1');
  const backend = spawn(join(programs, 'git-http-backend'), [], {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: '1',
      // git refuses pushes from users without a name.
      REMOTE_USER: 'somebody',
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: request.headers['git-protocol'] ?? '',
      REMOTE_ADDR: '127.0.0.1',
    },
  });
  backend.stdin.on('error', () => undefined);
  request.pipe(backend.stdin);
  let head = Buffer.alloc(0);
  const onHead = (chunk) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    backend.stdout.off('data', onHead);
    for (const line of head.subarray(0, end).toString('latin1').split('\r\n')) {
      const colon = line.indexOf(':');
      const [name, value] = [line.slice(0, colon), line.slice(colon + 1).trim()];
      if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.write(head.subarray(end + 4));
    backend.stdout.pipe(response);
  };
  backend.stdout.on('data', onHead);
  backend.stdout.once('end', () => response.end());
  response.once('close', () => backend.stdin.destroy());
}

await (kind === 'daemon' ? serveDaemon() : serveHttp());
