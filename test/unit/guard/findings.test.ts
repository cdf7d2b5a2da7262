import { describe, expect, it } from 'vitest';
import { type Finding, isRefused, verdict } from '../../../src/guard/call.ts';

const tell: Finding = { kind: 'tell', text: 'told' };
const show: Finding = { kind: 'show', text: 'shown' };
const rewrite: Finding = { kind: 'rewrite', content: 'x' };
const refuse: Finding = { kind: 'refuse', text: 'refused', allowedBy: 'person' };
const effect: Finding = { kind: 'do', when: 'allowed', run: () => Promise.resolve([]) };

describe('one answer from all findings', () => {
  it('is a refusal, wherever it is in the list', () => {
    for (const others of [[], [tell], [show], [rewrite], [tell, rewrite, show, effect]]) {
      expect(verdict([refuse, ...others])).toEqual({ kind: 'deny', reason: 'refused' });
      expect(verdict([...others, refuse])).toEqual({ kind: 'deny', reason: 'refused' });
    }
  });

  it('is the first of several refusals', () => {
    expect(verdict([refuse, { ...refuse, text: 'later' }])).toEqual({ kind: 'deny', reason: 'refused' });
  });

  it('keeps a rewrite and all texts', () => {
    expect(verdict([rewrite])).toEqual({ kind: 'rewrite', content: 'x' });
    expect(verdict([tell, rewrite, tell])).toEqual({
      kind: 'rewrite',
      content: 'x',
      context: 'told\ntold',
    });
  });

  it('tells the model rather than showing the person', () => {
    expect(verdict([show, tell])).toEqual({ kind: 'context', text: 'told' });
    expect(verdict([tell, show])).toEqual({ kind: 'context', text: 'told' });
    expect(verdict([show, show])).toEqual({ kind: 'notice', text: 'shown\nshown' });
  });

  it('is silence if no finding has a text', () => {
    expect(verdict([])).toEqual({ kind: 'allow' });
    expect(verdict([effect])).toEqual({ kind: 'allow' });
  });
});

it('only a refusal refuses a call', () => {
  expect(isRefused([tell, show, rewrite, effect])).toBe(false);
  expect(isRefused([tell, refuse])).toBe(true);
});
