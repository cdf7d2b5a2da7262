// Starts programs in their own process groups, and ends them all when the runner is ended.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** How many milliseconds a process gets to end by itself before it is killed. */
const GRACE_MS = 5000;

/** The running process groups. */
const running = new Set();

/** Signals a process group, unless it is already gone. */
function signalGroup(pid, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It is already gone.
  }
}

export function endAll() {
  for (const pid of running) signalGroup(pid, 'SIGKILL');
}

/** Runs a program in its own process group; `status` is null if the program was ended after `patience` milliseconds. */
export function run(program, args, cwd, patience) {
  return new Promise((resolve, reject) => {
    // The tests must not see the session that runs this script.
    const hidden = /^(?:CLAUDE|CODEX|GEMINI|GIT_HANDOFF)_|^GIT_/;
    const kept = Object.entries(process.env).filter(([name]) => !hidden.test(name));
    // A test that is ended leaves its repositories behind, in a folder that is removed with the copy.
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
      // Ends what a killed test left running.
      end('SIGKILL');
      running.delete(child.pid);
      resolve({ status: late ? null : (code ?? 128), output: Buffer.concat(output).toString('utf8') });
    });
  });
}
