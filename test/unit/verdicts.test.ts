import { describe, expect, it } from 'vitest';
import type { Verdict } from '../../src/agents/dialect.ts';
import { firstRefusal, combined } from '../../src/guard/verdicts.ts';

const allow: Verdict = { kind: 'allow' };
const notice: Verdict = { kind: 'notice', text: 'n' };
const deny: Verdict = { kind: 'deny', reason: 'r' };
const context: Verdict = { kind: 'context', text: 'c' };
const rewrite: Verdict = { kind: 'rewrite', content: 'x' };

describe('one answer about several files', () => {
  it('is the refusal, wherever it stands', () => {
    expect(firstRefusal([allow, notice, deny])).toBe(deny);
    expect(firstRefusal([deny, notice])).toBe(deny);
  });

  it('is what says anything when nothing is refused, else silence', () => {
    expect(firstRefusal([allow, notice, context])).toBe(notice);
    expect(firstRefusal([allow, allow])).toEqual(allow);
    expect(firstRefusal([])).toEqual(allow);
  });
});

describe('one answer of two looks', () => {
  it('keeps a rewrite and all that is told', () => {
    expect(combined(rewrite, context)).toEqual({ ...rewrite, context: 'c' });
    expect(combined({ ...rewrite, context: 'a' }, context)).toEqual({ ...rewrite, context: 'a\nc' });
    expect(combined(context, context)).toEqual({ kind: 'context', text: 'c\nc' });
  });

  it('is the first where the second says nothing, and a refusal whatever the first says', () => {
    for (const verdict of [allow, notice, context, rewrite]) {
      expect(combined(verdict, undefined)).toBe(verdict);
      expect(combined(verdict, allow)).toBe(verdict);
      expect(combined(verdict, deny)).toBe(deny);
    }
  });
});
