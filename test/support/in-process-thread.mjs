// The thread behind in-process.ts: runs the built program, one call after the other, each with an environment, a folder
// and streams of its own. It skips what the launcher decides by itself.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { ENDLESS } from './endless.mjs';

const { port, done, packageRoot } = workerData;
const require = createRequire(import.meta.url);
const bundle = (name) => require(join(packageRoot, 'dist', name));
/** A module that makes Node answer as on another system. */
const { GIT_HANDOFF_TEST_PRELOAD: preload } = process.env;
if (preload !== undefined) require(preload);

/** The arguments that start.cjs gets for a call, and the bundle that it loads. */
function startedAs({ args }) {
  const isHook = args[0] === 'guard' || args[0] === 'hook';
  return { program: isHook ? 'hook.cjs' : 'cli.cjs', argv: [String(process.pid), ...args] };
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
  // src/git/ reads process.env, and so do children that get no other environment.
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
    program: join(packageRoot, 'dist', 'start.cjs'),
  });
  // The call's child processes must end before the next call or the removal of the repository.
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
