import { readFileSync, utimesSync } from 'node:fs';
import { expect } from 'vitest';
import { type Run, type RunOptions, TestRepository } from '../repository.ts';
import { amount } from './seed.ts';

export const TOPIC = 'auth-refresh';
export const REF = `refs/handoffs/main/${TOPIC}`;
export const KEPT = `refs/handoffs-local/kept/main/${TOPIC}`;
const LOST = `refs/handoffs-local/lost/main/${TOPIC}`;

/** Old enough for `doctor --fix`, which keeps locks younger than ten minutes. */
const STALE_SECONDS = 660;

/** Where a text is after a write: at the tip, or kept in a ref or a file because the write failed. */
export type Whereabouts = 'tip' | 'lost' | 'file';

/** A repository in which writes fail or are killed, with checks of what must hold afterwards. */
export class FaultWorld extends TestRepository {
  readonly session = 'sess-fault-1';
  #patience = amount(3, Infinity);

  write(text: string, options: RunOptions = {}): Run {
    return this.handoff(['write', TOPIC], { session: this.session, input: text, ...options });
  }

  /** A write that must succeed; returns the new tip. */
  mustWrite(text: string): string {
    const done = this.write(text);
    expect(done, done.stderr).toMatchObject({ status: 0 });
    return this.tip();
  }

  tip(): string {
    return this.ref(REF) ?? 'missing';
  }

  /** The note of a commit or of a kept text, byte for byte. */
  noteOf(treeish: string): string {
    const { status, stdout } = this.run('git', ['cat-file', 'blob', `${treeish}:handoff.md`]);
    return status === 0 ? stdout : `unreadable: ${treeish}`;
  }

  /**
   * Expects one of the two results that even a killed write may have: the refs are as before, or its commit follows the
   * former tip. Of the two refs, the public one moves first. Returns whether the commit is there.
   */
  expectOldOrNew(before: string, text: string, stdout: string): boolean {
    const tip = this.tip();
    if (tip === before) {
      expect(this.ref(KEPT)).toBe(before);
      expect(stdout, 'a write that is not there was reported').toBe('');
      return false;
    }
    expect(this.ref(`${tip}~1`)).toBe(before);
    expect(this.noteOf(tip)).toBe(text);
    expect([before, tip]).toContain(this.ref(KEPT));
    if (stdout !== '') expect(stdout).toContain(`(${tip.slice(0, 7)})\n`);
    return true;
  }

  /** Where the text is after a write that was not killed. */
  whereabouts(text: string, stderr: string): Whereabouts | undefined {
    if (this.noteOf(REF) === text) return 'tip';
    const file = /your text is kept in (\S+)/.exec(stderr)?.[1];
    if (file !== undefined) return readFileSync(file, 'utf8') === text ? 'file' : undefined;
    return this.refs(LOST).some((ref) => this.noteOf(ref) === text) ? 'lost' : undefined;
  }

  /**
   * Writes after a killed write. Either the write succeeds, or it keeps its text and names a lock, which `doctor --fix`
   * removes once the lock is old. Returns whether the doctor was needed. A write waits seconds for a lock, so a short run
   * lets only some writes wait, and calls the doctor before the others.
   */
  writeAgain(text: string): boolean {
    const isLocked = this.locks().length > 0;
    if (isLocked && this.#patience-- <= 0) {
      this.mendLocks();
      this.mustWrite(text);
      return true;
    }
    const first = this.write(text);
    if (first.status === 0) return false;
    expect(first.status, first.stderr).toBe(7);
    expect(this.locks().some((lock) => first.stderr.includes(lock))).toBe(true);
    expect(['lost', 'file']).toContain(this.whereabouts(text, first.stderr));
    this.mendLocks();
    this.mustWrite(text);
    return true;
  }

  /** Makes every lock old enough to count as forgotten, and calls the doctor. */
  mendLocks(): void {
    const then = Date.now() / 1000 - STALE_SECONDS;
    for (const lock of this.locks()) utimesSync(lock, then, then);
    this.handoff(['doctor', '--fix'], { session: this.session });
    expect(this.locks()).toEqual([]);
  }

  /** Expects git to find every object that a ref needs, undamaged. */
  expectSound(): void {
    const { status, stdout, stderr } = this.run('git', ['fsck', '--strict', '--no-dangling']);
    expect({ status, stdout, stderr: stderr.replace(/^notice: .*\n/gm, '') }).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    });
  }
}
