// The thread behind in-process.ts: runs the built program, one call after the other, each with an environment, a folder
// and streams of its own. What the launcher does before Node it does, too; what the launcher decides alone it does not.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { ENDLESS } from './endless.mjs';

const { port, done, packageRoot } = workerData;
const require = createRequire(import.meta.url);
const bundle = (name) => require(join(packageRoot, 'dist', name));

/** What bin/git-handoff reads while Node starts (`settings` there). */
const SETTINGS = /^guard_keys='([^']+)'/m.exec(
  readFileSync(join(packageRoot, 'bin', 'git-handoff'), 'utf8'),
)[1];

/** `undefined` where the launcher could not read them either: then the program asks git itself. */
function readSettings({ input, env }) {
  let cwd;
  try {
    ({ cwd } = JSON.parse(Buffer.from(input).toString('utf8')));
  } catch {
    return undefined;
  }
  if (typeof cwd !== 'string' || !cwd.startsWith('/')) return undefined;
  const args = ['-C', cwd, 'config', '--get-regexp', SETTINGS];
  const { status, stdout } = spawnSync('git', args, { env: { ...env, GIT_CONFIG: undefined } });
  return status !== null && status <= 1 ? stdout.toString('utf8') : undefined;
}

/** The bundle of a command line, and what the launcher would start it with. */
function startedAs(call) {
  const [verb, ...rest] = call.args;
  const client = ['--client-pid', String(process.pid)];
  if (verb === 'guard') {
    const settings = readSettings(call);
    const known = settings === undefined ? [] : ['--settings', settings];
    return { program: 'hook-main.cjs', argv: ['guard', ...client, ...known, ...rest] };
  }
  if (verb === 'hook') {
    const [name = '', ...words] = rest;
    return { program: 'hook-main.cjs', argv: ['hook', name, ...client, ...words] };
  }
  return { program: 'cli/main.cjs', argv: [...client, ...call.args] };
}

const outputTo = (chunks) => ({ write: async (data) => void chunks.push(Buffer.from(data)) });

function inputFrom(bytes) {
  let at = 0;
  return {
    read(chunk) {
      const length = bytes.copy(chunk, 0, at);
      at += length;
      return length;
    },
    readAll: async () => bytes.subarray(at, (at = bytes.length)),
  };
}

async function run(call) {
  const { env, cwd, input } = call;
  // src/git/ reads it there, and so do the children that are given no other.
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  const [stdout, stderr] = [[], []];
  const { program, argv } = startedAs(call);
  const status = await bundle(program).run(argv, {
    stdin: inputFrom(Buffer.from(input)),
    stdout: outputTo(stdout),
    stderr: outputTo(stderr),
    env,
    cwd,
    clock: () => Date.now(),
    budget: () => ENDLESS,
    parentPid: process.pid,
    piped: async () => undefined,
    program: join(packageRoot, 'dist', 'cli.cjs'),
  });
  // A process would be over now; what goes on must not meet the next call, nor the end of its repository.
  while (process.getActiveResourcesInfo().includes('ProcessWrap')) await pause(1);
  return { status, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) };
}

function answer(message) {
  port.postMessage(message);
  Atomics.store(done, 0, 1);
  Atomics.notify(done, 0);
}

port.on('message', (call) => {
  run(call).then(answer, (error) => answer({ error: String(error?.stack ?? error) }));
});
process.on('uncaughtException', (error) => {
  answer({ error: `outside of the call: ${error?.stack ?? error}` });
  process.exit(1);
});
