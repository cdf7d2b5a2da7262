import { spawnSync } from 'node:child_process';

/** Parsing takes a shell milliseconds. */
const TIMEOUT_MS = 5_000;

/** What a shell says against a script that it cannot parse, on one line; it runs nothing of it. Undefined: it can. */
export function parseComplaint(script: string, shell = '/bin/sh'): string | undefined {
  const { status, stderr } = spawnSync(shell, ['-n', '--', script], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  // Without a status there was no answer, and so no complaint.
  if (status === 0 || status === null) return undefined;
  return stderr.split('\n', 1)[0]?.trim() || `exit status ${status}`;
}
