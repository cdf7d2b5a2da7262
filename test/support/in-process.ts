import { join, resolve } from 'node:path';
import { MessageChannel, type MessagePort, Worker, receiveMessageOnPort } from 'node:worker_threads';
import type { Run } from './repository.ts';

const PACKAGE_ROOT = resolve(import.meta.dirname, '..', '..');

/** A call that takes longer, in milliseconds, hangs. */
const PATIENCE_MS = 100_000;

/** A call of `git handoff`, with all that a process for it would get. */
export interface Call {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Its standard input, which is no terminal. */
  readonly input: string | Uint8Array;
}

interface Answer {
  readonly status: number;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly error?: string;
}

interface Thread {
  readonly worker: Worker;
  readonly port: MessagePort;
  /** 1 once the answer to the last call has arrived. */
  readonly done: Int32Array;
}

let thread: Thread | undefined;

/**
 * Runs the built program in a thread beside the test, and waits for it. No Node process starts, and the program has no
 * time limits. It takes this process for its client, like the processes that the test starts.
 *
 * @throws Error when the program throws what it should catch, or hangs
 */
export function runInProcess(call: Call, patienceMs = PATIENCE_MS): Run {
  refuseLaunchersOwn(call);
  thread ??= startThread();
  const { port, done } = thread;
  Atomics.store(done, 0, 0);
  port.postMessage(call);
  let isLate = false;
  // `Atomics.notify` of the previous answer may come only now, before this answer.
  while (Atomics.load(done, 0) === 0 && !isLate) {
    isLate = Atomics.wait(done, 0, 0, patienceMs) === 'timed-out';
  }
  const answer = (receiveMessageOnPort(port) as { message: Answer } | undefined)?.message;
  if (isLate || answer === undefined || answer.error !== undefined) {
    void thread.worker.terminate();
    thread = undefined;
    const why = isLate ? `did not end within ${patienceMs / 1000} s` : (answer?.error ?? 'gave no answer');
    throw new Error(`git handoff ${call.args.join(' ')}: ${why}`);
  }
  return runOf(answer);
}

/**
 * Runs the built program in a thread of its own, beside the test and other such threads.
 *
 * @throws Error when the program throws what it should catch
 */
export async function runBeside(call: Call): Promise<Run> {
  refuseLaunchersOwn(call);
  const { worker, port } = startThread();
  try {
    const answer = await new Promise<Answer>((resolve, reject) => {
      port.once('message', resolve);
      worker.once('error', reject);
      port.postMessage(call);
    });
    if (answer.error !== undefined) throw new Error(`git handoff ${call.args.join(' ')}: ${answer.error}`);
    return runOf(answer);
  } finally {
    void worker.terminate();
  }
}

function runOf({ status, stdout, stderr }: Answer): Run {
  const [bytes, errors] = [Buffer.from(stdout), Buffer.from(stderr)];
  return { status, stdout: bytes.toString('utf8'), stderr: errors.toString('utf8'), bytes };
}

/** Refuses calls that the launcher ends by itself: run in a thread, they would test nothing. */
function refuseLaunchersOwn({ args: [verb], env }: Call): void {
  if (env['GIT_HANDOFF'] === 'off' && (verb === 'guard' || verb === 'hook')) {
    throw new Error('GIT_HANDOFF=off is the launcher’s to read: call it as a process');
  }
}

function startThread(): Thread {
  const done = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const { port1, port2 } = new MessageChannel();
  const worker = new Worker(join(import.meta.dirname, 'in-process-thread.mjs'), {
    workerData: { port: port2, done, packageRoot: PACKAGE_ROOT },
    transferList: [port2],
  });
  // The thread must not keep the test's process alive.
  worker.unref();
  port1.unref();
  return { worker, port: port1, done };
}
