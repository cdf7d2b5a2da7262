import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { shells } from '../support/shells.ts';

const script = readFileSync(join(import.meta.dirname, '..', '..', 'git-hooks', 'session.sh'), 'utf8');
/** `limited` and what it needs; the launcher has the same. */
const functions = script.slice(script.indexOf('\nlimited()'), script.indexOf('\n# Sets $hung'));

/** A busy machine, on which everybody gets a turn after each signal; `sleep` is a hang. */
const busy = `kill() { command kill "$@"; case $1 in -0) ;; *) sleep 0.3 ;; esac; }`;

/** Waits at three places, and would go on at each. */
const command = '{ sleep 30; : >one; } | { cat; : >two; } & (sleep 31; : >three); : >four';

describe.each(shells)('in $name a command whose time is over', (shell) => {
  const folder = mkdtempSync(join(tmpdir(), 'limited-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('ends as it stands, and goes on nowhere', () => {
    const words = ['-c', `${functions}\n${busy}\nseconds=1\nlimited sh -c '${command}'\n[ $? -ge 124 ]`];
    const env = { PATH: process.env['PATH'], LC_ALL: 'C' };
    const done = spawnSync(shell.binary, words, { argv0: 'sh', cwd: folder, env, timeout: 60_000 });
    expect(done.status, String(done.stderr)).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });
});
