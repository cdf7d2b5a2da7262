import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type FindingCode,
  RULES,
  type Situation,
  finding,
  siblingFindings,
  treeFindings,
  triedFindings,
} from '../../src/domain/verification/findings.ts';
import { oidOf } from '../support/chain.ts';

const NO_RECORDS = { clients: new Map<string, string>() };
const shown = (findings: readonly { code: string; text: string }[]) =>
  findings.map(({ code, text }) => `${code}: ${text}`);

describe('the working tree against a note', () => {
  const tree = (now: number, then: number, more: object = {}) =>
    shown(treeFindings({ now, then, others: [], operation: undefined, ...more }, NO_RECORDS));

  it.each([
    [0, 0, 'tree-clean: the working tree is clean, as it was'],
    [3, 3, 'tree-as-then: 3 paths uncommitted, as many as when the note was written'],
    [3, 1, 'tree-more: 3 paths uncommitted; 1 when the note was written'],
    [1, 0, 'tree-more: 1 path uncommitted; none when the note was written'],
    [0, 2, 'tree-fewer: the working tree is clean; 2 paths uncommitted when the note was written'],
    [1, 2, 'tree-fewer: 1 path uncommitted; 2 paths uncommitted when the note was written'],
  ])('with %i uncommitted paths, and %i then', (now, then, text) => {
    expect(tree(now, then)).toEqual([text]);
  });

  it('has others’ work and an unfinished merge in the way', () => {
    const others = [
      { session: 'bbbbbbbb-2222', paths: 2 },
      { session: 'cccccccc-3333', paths: 1 },
    ];
    expect(tree(3, 3, { others, operation: 'merge' }).slice(1)).toEqual([
      'tree-operation: an unfinished merge is in the way',
      'tree-others: 2 paths are uncommitted work of session bbbbbbbb, which is live',
      'tree-others: 1 path is uncommitted work of session cccccccc, which is live',
    ]);
  });
});

describe('what the session of a note tried', () => {
  it.each([
    [0, true, 'tests-proven: proven on this tree: npm test'],
    [2, true, 'tests-failed: npm test failed (2) on this tree'],
    [0, false, 'tests-outdated: outdated: npm test passed on another tree'],
    [2, false, 'tests-outdated: outdated: npm test failed (2) on another tree'],
  ])('with status %i, on the tree that is here %s', (status, isHere, text) => {
    const tree = oidOf(1);
    const tried = [{ command: 'npm test', status, tree }];
    expect(shown(triedFindings(tried, new Set(isHere ? [tree] : [])))).toEqual([text]);
  });

  it('is not proven if it tried nothing', () => {
    expect(shown(triedFindings([], new Set()))).toEqual([
      'tests-none: not proven: the session of the note tried nothing',
    ]);
  });
});

describe('another open note', () => {
  it.each<[string, object, FindingCode[]]>([
    ['that is newer', { newer: true }, ['sibling-newer']],
    ['that is newer and of the same work', { newer: true, overlaps: true }, ['sibling-replaces']],
    [
      'that is newer, automatic and of the same work',
      { newer: true, overlaps: true, automatic: true },
      ['sibling-newer'],
    ],
    ['that is older and of the same work', { overlaps: true }, ['sibling-overlap']],
    ['that is older', {}, []],
  ])('%s', (_title, more, codes) => {
    const note = { name: 'feature/login-flow', who: 'session bbbbbbbb' };
    const found = siblingFindings({ ...note, newer: false, overlaps: false, automatic: false, ...more });
    expect(found.map(({ code }) => code)).toEqual(codes);
    for (const { text } of found) expect(text).toMatch(/^feature\/login-flow of session bbbbbbbb is \w+/);
  });
});

describe('every rule', () => {
  const evil = 'x\u001b[2J\n\u202etxt';
  it.each(Object.entries(RULES))('%s has one sentence, in which no name is raw', (code, rule) => {
    const [axis, verdict, sentence] = rule;
    expect(sentence).toMatch(/[^.\n]$/);
    const names = [...sentence.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, evil.repeat(500)]);
    const found = finding({ code, ...Object.fromEntries(names) } as Situation<FindingCode>, 'src/a.ts');
    expect(found).toMatchObject({ code, axis, verdict, subject: 'src/a.ts' });
    // eslint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(found.text).not.toMatch(/[\u0000-\u001f\u202e]/);
    expect(found.text.length).toBeLessThan(800);
  });

  it('stands in the manual, and no other does', () => {
    const page = readFileSync(new URL('../../docs/git-handoff.1', import.meta.url), 'utf8');
    const [, section = ''] = /^\.SH "STALE NOTES"\n(.*?)^\.SH /ms.exec(page) ?? [];
    const rows = section.split(/^\.SS /m).flatMap((part) => {
      const axis = part.split('\n')[0]?.toLowerCase();
      const rules = part.matchAll(/^\.BR (\S+) " \(([a-z]+)\)"$/gm);
      return [...rules].map(([, code = '', verdict]) => [code.replaceAll('\\-', '-'), axis, verdict]);
    });
    expect(rows).toEqual(Object.entries(RULES).map(([code, [axis, verdict]]) => [code, axis, verdict]));
  });
});
