import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');

describe('npm run demo', () => {
  let folder = '';
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'git handoff demo test ')));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a command on a machine with only git and Node, without a HOME that could be read or written. */
  const run = (command: string, args: string[]) => {
    const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(':');
    const env = { PATH: path, HOME: join(folder, 'nobody'), TMPDIR: folder };
    return spawnSync(command, args, { cwd: folder, env, encoding: 'utf8' });
  };
  const demo = (root = ROOT) => run(process.execPath, [join(root, 'scripts', 'demo.mjs')]);
  const left = () => readdirSync(folder).filter((name) => name.startsWith('git-handoff-demo-'));

  it('plays the main job, and leaves a repository where the commands that it names work', () => {
    const { status, stdout, stderr } = demo();
    expect({ status, stderr, end: /^# (All as it should be\.|FAILED.*)$/m.exec(stdout)?.[1] }).toEqual({
      status: 0,
      stderr: '',
      end: 'All as it should be.',
    });
    for (const [, pid] of stdout.matchAll(/starts, process (\d+)/g)) {
      expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
    }
    const commands = stdout.slice(stdout.indexOf('Type:\n')).match(/^ {2}(?!rm ).+$/gm) ?? [];
    expect(commands.length).toBeGreaterThan(5);
    const typed = commands.map((command) => `${command.trim()}\necho "status $?"`).join('\n');
    const looked = run('/bin/sh', ['-c', typed]);
    expect(looked.stdout.match(/^status \d+$/gm)).toEqual(
      commands.map((command) => `status ${command.includes(' write ') ? 3 : 0}`),
    );
    expect(looked.stdout).toContain('take from claude a1f0c3d2');
    expect(existsSync(join(folder, 'nobody'))).toBe(false);
  });

  it('can be run twice, and keeps what the first run made', () => {
    expect([demo().status, demo().status]).toEqual([0, 0]);
    expect(left()).toHaveLength(2);
  });

  it('fails when the program does not do its job', () => {
    cpSync(join(ROOT, 'scripts'), join(folder, 'scripts'), { recursive: true });
    mkdirSync(join(folder, 'bin'));
    const launcher = join(folder, 'bin', 'git-handoff');
    const real = join(ROOT, 'bin', 'git-handoff');
    writeFileSync(launcher, `#!/bin/sh\n[ "$1" = take ] && exit 0\nexec '${real}' "$@"\n`);
    chmodSync(launcher, 0o755);
    const { status, stdout } = demo(folder);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^# FAILED: B writes as the owner$/m);
    expect(left()).toHaveLength(1);
  });
});
