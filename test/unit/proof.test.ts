import { describe, expect, it } from 'vitest';
import { judge } from '../../bench/proof/oracle.mjs';
import { plot } from '../../bench/proof/plot.mjs';
import { kinds } from '../../bench/proof/scenarios.mjs';
import { cell, tableLines } from '../../bench/proof/table.mjs';

type Facts = Parameters<typeof judge>[0];

const NOBODY = { session: 'an-id', disk: new Set<string>(), tips: new Set<string>() };
const on = (disk: readonly string[], tips: readonly string[] = [], session = 'an-id') => ({
  session,
  disk: new Set(disk),
  tips: new Set(tips),
});
const commit = (by: string, added: readonly string[], more: Partial<Facts['commits'][number]> = {}) => ({
  ...{ by, message: 'of theirs', removed: [], isOnOwnBranch: true, ...more },
  added: [...added],
});

/** The counts of a play in which A wrote a line `a`, unless `facts` says otherwise. */
function judged(facts: Partial<Facts>) {
  const counts = judge({
    lines: [{ text: 'a', by: 'a' }],
    removals: [],
    workers: { a: on(['a']), b: NOBODY, 'a/x': NOBODY, 'a/y': NOBODY },
    commits: [],
    kept: new Set<string>(),
    saved: new Set<string>(),
    notes: [],
    readable: new Set<string>(),
    calls: [],
    ...facts,
  });
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

describe('the oracle', () => {
  const gone = { a: NOBODY, b: NOBODY };
  it.each<[string, Partial<Facts>, Record<string, number>]>([
    ['finds nothing where a line is on its author’s disk', {}, {}],
    ['finds nothing where it is in the tip of its branch', { workers: { a: on([], ['a']) } }, {}],
    ['counts a line that is nowhere', { workers: gone }, { lost: 1 }],
    ['counts a line in a stash as carried off', { workers: gone, kept: new Set(['a']) }, { away: 1 }],
    ['counts one that the tool has saved so', { workers: gone, saved: new Set(['a']) }, { away: 1 }],
    ['counts one on another’s disk so', { workers: { a: NOBODY, b: on(['a']) } }, { away: 1 }],
    [
      'counts a committed line so that a later commit took out, though the file is still there',
      { commits: [commit('a', ['a'])], kept: new Set(['a']) },
      { away: 1 },
    ],
    ['counts another’s commit of the line as mixed', { commits: [commit('b', ['a'])] }, { mixed: 1 }],
    [
      'takes one that names the session for no mix',
      {
        workers: { a: on(['a'], [], 'id-of-a') },
        commits: [commit('b', ['a'], { message: 'with id-of-a' })],
      },
      {},
    ],
    [
      'takes a rebase of the commit for no mix',
      { workers: { a: on(['a'], ['a']) }, commits: [commit('a', ['a']), commit('b', ['a'])] },
      {},
    ],
    [
      'takes an amend under another message for one',
      {
        workers: { a: on(['a'], ['a']) },
        commits: [commit('a', ['a']), commit('b', ['a'], { message: 'mine' })],
      },
      { mixed: 1 },
    ],
    [
      'counts what sub-agents of one session mix, whatever is named',
      {
        lines: [{ text: 'x', by: 'a/x' }],
        workers: { 'a/x': on(['x'], [], 'id-of-a'), 'a/y': NOBODY },
        commits: [commit('a/y', ['x'], { message: 'with id-of-a' })],
      },
      { mixed: 1 },
    ],
    [
      'counts another’s commit of a removal as mixed',
      { removals: [{ text: 'old', by: 'a' }], commits: [commit('b', [], { removed: ['old'] })] },
      { mixed: 1 },
    ],
    [
      'counts a commit on another branch than its author was on',
      { workers: { a: on(['a'], ['a']) }, commits: [commit('a', ['a'], { isOnOwnBranch: false })] },
      { astray: 1 },
    ],
    [
      'counts a note of which a line cannot be read',
      { notes: [{ by: 'a', lines: ['one', 'two'] }], readable: new Set(['one']) },
      { notes: 1 },
    ],
    [
      'tells right refusals from wrong ones, and a failure of git from both',
      {
        calls: [
          { harms: true, outcome: 'refused' },
          { harms: false, outcome: 'refused' },
          { harms: false, outcome: 'refused' },
          { harms: false, outcome: 'failed' },
        ],
      },
      { wrong: 2, stopped: 1 },
    ],
  ])('%s', (_, facts, found) => {
    expect(judged(facts)).toEqual(found);
  });
});

const NONE = { lost: 0, away: 0, mixed: 0, astray: 0, notes: 0, wrong: 0, stopped: 0 };

describe('the table', () => {
  it('says in a cell what went wrong, and does not mention correct refusals', () => {
    expect(cell({ ...NONE, stopped: 3 })).toBe('-');
    expect(cell({ ...NONE, lost: 2, mixed: 1, notes: 2 })).toBe('2 lost, 1 mixed, 2 notes');
  });

  it('has a line for each scenario, and the sums for each tool', () => {
    const rows = [
      {
        report: 'a/b#1',
        title: '',
        counts: [
          { ...NONE, lost: 2 },
          { ...NONE, stopped: 1 },
        ],
      },
    ];
    expect(tableLines(['one', 'two'], [{ kind: 'commits', rows }])).toMatchInlineSnapshot(`
      [
        "                   one     two",
        "commits (1)",
        "  a/b#1            2 lost  -",
        "all 1 scenarios",
        "  lost lines       2       0",
        "  carried off      0       0",
        "  mixed commits    0       0",
        "  wrong branch     0       0",
        "  lost notes       0       0",
        "  wrongly refused  0       0",
        "  rightly refused  0       1",
      ]
    `);
  });
});

describe('the plot', () => {
  it('has a bar for each tool and count, with the count as its length and in words', () => {
    const svg = plot([
      { name: 'one & all', counts: { ...NONE, lost: 4 } },
      { name: 'git-handoff', counts: { ...NONE, lost: 2 } },
    ]);
    const widths = [...svg.matchAll(/<rect class="(\w+)".* width="([\d.]+)"/g)].map(([, kind, width]) => [
      kind,
      Number(width),
    ]);
    const [[, first = 0] = [], [, second = 0] = []] = widths.slice(1);
    expect(widths.slice(1, 3).map(([kind]) => kind)).toEqual(['bar', 'ours']);
    expect(first).toBe(2 * Number(second));
    expect(svg).toContain('<title>one &amp; all: 4 lost lines, 0 carried off');
  });
});

describe('the scenarios', async () => {
  const all = (await kinds()).flatMap(({ kind, scenarios }) => scenarios.map((one) => ({ kind, ...one })));

  it('are at least forty', () => {
    expect(all.length).toBeGreaterThanOrEqual(40);
  });

  it.each(all)('$report is a public thread with its own scenario: $title', ({ report, title }) => {
    expect(report).toMatch(/^[\w.-]+\/[\w.-]+#[1-9]\d*$/);
    expect(title).toMatch(/\w+ \w+/);
    expect(all.filter((other) => other.report === report)).toHaveLength(1);
  });

  it.each(all)('$report has two or three workers, and each worker’s lines once', ({ steps }) => {
    const workers = new Set(steps.map(({ who }) => who).filter((who) => who !== 'person'));
    expect([2, 3, 4]).toContain(workers.size);
    const written = steps.flatMap(({ act, text, to, adds = [] }) =>
      act === 'note' ? [] : [text?.trim(), to, ...adds],
    );
    const lines = written.filter((line) => line !== undefined);
    expect(new Set(lines).size).toBe(lines.length);
  });
});
