import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { beforeAnswer, budgetUntil, inTime } from '../../src/host/io.ts';
import { ENDLESS } from '../support/endless.mjs';

let now: number;
const clock = () => now;
beforeEach(() => {
  now = 100;
});

describe('a budget', () => {
  it('counts down to its end, but always leaves at least a little', () => {
    const budget = budgetUntil(800, clock);
    expect(budget.left()).toBe(700);
    now = 900;
    expect(budget.left()).toBe(1);
  });

  it('reserves a part of what is left for the answer, at most a second', () => {
    const budget = budgetUntil(8100, clock);
    expect(beforeAnswer(budget)).toBe(7000);
    now = 7300;
    expect(beforeAnswer(budget)).toBe(600);
    expect(beforeAnswer(ENDLESS)).toBe(Infinity);
  });

  it('gives parts that end at their own time, or with the whole', () => {
    const budget = budgetUntil(800, clock);
    const [short, long] = [budget.part(300), budget.part(5000)];
    expect([short.left(), long.left()]).toEqual([300, 700]);
    now = 500;
    expect([short.left(), long.left()]).toEqual([1, 300]);
  });

  it('has parts that end even if the whole does not', () => {
    const budget = budgetUntil(Infinity, clock);
    expect([budget.left(), budget.part(3000).left()]).toEqual([Infinity, 3000]);
  });

  it('can be endless in every part, for tests that are not about limits', () => {
    expect([ENDLESS.left(), ENDLESS.part(300).part(1).left()]).toEqual([Infinity, Infinity]);
  });
});

describe('work in time', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const pass = async (ms: number) => {
    now += ms;
    await vi.advanceTimersByTimeAsync(ms);
  };
  const after = (ms: number) => new Promise<string>((resolve) => setTimeout(() => resolve('done'), ms));

  it('returns its result', async () => {
    const result = inTime(after(699), budgetUntil(800, clock));
    await pass(699);
    expect(await result).toBe('done');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is late at the end of the budget', async () => {
    const budget = budgetUntil(800, clock);
    const results = [inTime(after(650), budget), inTime(after(650), budget.part(600))];
    await pass(600);
    await pass(100);
    expect(await Promise.all(results)).toEqual(['done', 'late']);
  });

  it('fails if the work fails', async () => {
    await expect(inTime(Promise.reject(new Error('broken')), budgetUntil(800, clock))).rejects.toThrow(
      'broken',
    );
  });

  it('is never late with an endless budget, and starts no timer', () => {
    void inTime(new Promise(() => undefined), ENDLESS);
    expect(vi.getTimerCount()).toBe(0);
  });
});
