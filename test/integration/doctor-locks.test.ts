import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processTable } from '../../src/host/processes.ts';
import { type Json, TestRepository } from '../support/repository.ts';

const SESSION = 'aaaaaaaa-1111';
const REF = 'refs/handoffs/main/auth-refresh';
let repo: TestRepository;

beforeEach(() => {
  repo = new TestRepository();
  repo.ok(['init', '--yes']);
  repo.ok(['write', 'auth-refresh', '-m', 'x'], { session: SESSION });
});
afterEach(() => repo.remove());

const git = (name: string) => join(repo.path, '.git', name);

function leave(file: string, seconds: number, text = ''): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  const then = Date.now() / 1000 - seconds;
  utimesSync(file, then, then);
  return file;
}

const found = (answer: Json, check: string) => answer.items.filter((item) => item['check'] === check);
const doctor = (...words: string[]) => repo.json(['doctor', ...words]);

describe('a lock on our refs', () => {
  it.each([`${REF}.lock`, 'refs/handoffs-local/kept/main/auth-refresh.lock', 'packed-refs.lock'])(
    '%s that is ten minutes old is removed',
    (name) => {
      const lock = leave(git(name), 601);
      expect(repo.handoff(['doctor'])).toMatchObject({ status: 1 });
      const [told] = found(doctor(), 'locks');
      expect(told).toMatchObject({ status: 'problem', hint: 'git handoff doctor --fix' });
      expect(told?.['detail']).toBe(`${name} is 10 min old and blocks writes`);
      expect(existsSync(lock)).toBe(true);
      expect(found(doctor('--fix'), 'locks')).toMatchObject([{ status: 'fixed' }]);
      expect(existsSync(lock)).toBe(false);
      expect(repo.handoff(['doctor'])).toMatchObject({ status: 0 });
    },
  );

  it('that is younger stays, and is reported from a minute on', () => {
    const lock = leave(git(`${REF}.lock`), 590);
    for (const words of [[], ['--fix']]) {
      const [told] = found(doctor(...words), 'locks');
      expect(told?.['detail']).toContain('removes it when it is 10 minutes old');
    }
    expect(existsSync(lock)).toBe(true);
    leave(lock, 50);
    expect(found(doctor(), 'locks')).toEqual([]);
  });

  it('on the config, left by a killed init, is reported from a minute on, and removed when it is old', () => {
    const lock = leave(git('config.lock'), 61);
    const failed = repo.handoff(['uninstall', '--yes']);
    expect(failed).toMatchObject({ status: 7 });
    expect(failed.stderr).toContain('hint: git handoff doctor --fix');
    expect(found(doctor('--fix'), 'locks')).toMatchObject([{ status: 'problem' }]);
    expect(existsSync(lock)).toBe(true);
    leave(lock, 601);
    expect(found(doctor('--fix'), 'locks')).toMatchObject([{ status: 'fixed' }]);
    expect(existsSync(lock)).toBe(false);
    expect(repo.handoff(['uninstall', '--yes'])).toMatchObject({ status: 0 });
  });

  it('on somebody else’s refs is left alone', () => {
    const lock = leave(git('refs/heads/main.lock'), 7200);
    doctor('--fix');
    expect(existsSync(lock)).toBe(true);
  });
});

describe('what dead processes left', () => {
  const DEAD = 4_190_000;

  it('is removed: private indexes and commit locks, in every worktree', () => {
    repo.worktree('other');
    const folders = [git(''), git('worktrees/worktree-other')];
    const left = folders.flatMap((folder) => [
      leave(join(folder, `handoff-index.${DEAD}`), 700),
      leave(join(folder, `handoff-index.${DEAD}.lock`), 700),
      leave(join(folder, 'handoff-commit.lock'), 0, `${SESSION} ${DEAD} 12345\n`),
      leave(join(folder, 'handoff-commit.lock.abc'), 700, ''),
    ]);
    const kept = [
      leave(git(`handoff-index.${process.pid}`), 700),
      leave(git('handoff-index.4190001'), 10),
      leave(git('handoff-commit.lock.young'), 10, ''),
    ];
    expect(found(doctor(), 'leftovers')).toMatchObject([{ status: 'warning' }]);
    expect(repo.handoff(['doctor'])).toMatchObject({ status: 0 });
    expect(left.every((file) => existsSync(file))).toBe(true);
    expect(found(doctor('--fix'), 'leftovers')).toMatchObject([{ status: 'fixed' }]);
    expect(left.filter((file) => existsSync(file))).toEqual([]);
    expect(kept.filter((file) => !existsSync(file))).toEqual([]);
    expect(found(doctor(), 'leftovers')).toEqual([]);
  });

  it('keeps a running process’s lock, but not one whose pid now belongs to another process', () => {
    const start = processTable().startOf(process.pid);
    const lock = leave(git('handoff-commit.lock'), 7200, `${SESSION} ${process.pid} ${start}\n`);
    doctor('--fix');
    expect(existsSync(lock)).toBe(true);
    leave(lock, 7200, `${SESSION} ${process.pid} 1\n`);
    doctor('--fix');
    expect(existsSync(lock)).toBe(false);
  });
});
