import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { psTable } from '../../src/host/processes.ts';

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
