// Starts programs in process groups of their own, and ends them all when the runner is ended.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** What a process that was asked to end gets before it is ended. Milliseconds. */
const GRACE_MS = 5000;

/** The process groups that run now. */
const running = new Set();

/** Signals a process group; one that is gone already is none. */
function signalGroup(pid, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // Gone already.
  }
}

export function endAll() {
  for (const pid of running) signalGroup(pid, 'SIGKILL');
}

/** Runs a program in a process group of its own, which is ended past the time. `status` is null then. */
export function run(program, args, cwd, patience) {
  return new Promise((resolve, reject) => {
    // In the tests' eyes nobody's session runs them.
    const hidden = /^(?:CLAUDE|CODEX|GEMINI|GIT_HANDOFF)_|^GIT_/;
    const kept = Object.entries(process.env).filter(([name]) => !hidden.test(name));
    // A test that is ended leaves its repositories behind: in a folder that goes with the copy.
    const env = { ...Object.fromEntries(kept), TMPDIR: join(cwd, '..', 'tmp') };
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const output = [];
    let late = false;
    if (child.pid !== undefined) running.add(child.pid);
    const end = (signal) => signalGroup(child.pid, signal);
    const timers = [
      setTimeout(() => {
        late = true;
        end('SIGTERM');
        timers.push(setTimeout(() => end('SIGKILL'), GRACE_MS));
      }, patience),
    ];
    child.stdout.on('data', (chunk) => output.push(chunk));
    child.stderr.on('data', (chunk) => output.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      timers.forEach(clearTimeout);
      // What a killed test left running.
      end('SIGKILL');
      running.delete(child.pid);
      resolve({ status: late ? null : (code ?? 128), output: Buffer.concat(output).toString('utf8') });
    });
  });
}
