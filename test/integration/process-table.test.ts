import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { clientProcess, psTable } from '../../src/host/processes.ts';

const PATH = process.env['PATH'];
const psTells = (() => {
  try {
    return execFileSync('ps', ['-A', '-o', 'lstart='], { stdio: ['ignore', 'pipe', 'ignore'] }).length > 0;
  } catch {
    return false;
  }
})();

describe.skipIf(!psTells)('a process table without /proc', () => {
  it.each([
    { TZ: 'America/New_York' },
    { TZ: 'Asia/Kolkata', LC_ALL: 'C.UTF-8' },
    { LC_TIME: 'de_DE.UTF-8', PS_FORMAT: 'pid', PS_PERSONALITY: 'bsd', COLUMNS: '10' },
  ])('knows a process by the same start time with %j', (env) => {
    const own = psTable({ PATH, ...env });
    const other = psTable({ PATH, TZ: 'UTC' });
    expect(own.startOf(process.pid)).toMatch(/^\S+_\d\d:\d\d:\d\d_\d{4}$/);
    expect(own.startOf(process.pid)).toBe(other.startOf(process.pid));
    expect(own.parentOf(process.pid)).toBe(process.ppid);
    expect(own.bootId).toBe(other.bootId);
  });
});

it.each([
  ['Sat_Nov_28_09:59:59_2026', 'git’s parent', 7],
  ['Sat_Nov_28_09:59:58_2026', 'the parent itself', 8],
])('a client’s hook that git began at %s is known, a second later, as called by %s', (start, _, client) => {
  const own = 'Sat_Nov_28_10:00:00_2026';
  const table = {
    ...{ bootId: null, host: 'machine', pidNs: null, runningSince: () => undefined },
    startOf: (pid: number) => (pid === process.pid ? own : start),
    parentOf: () => 7,
  };
  expect(clientProcess(8, table)).toBe(client);
});
