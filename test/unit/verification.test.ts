import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type BranchPlace,
  type FileFact,
  type HeadRelation,
  type TreeFact,
  type VerificationFacts,
  type FindingCode,
  RULES,
} from '../../src/domain/verification/facts.ts';
import { verify } from '../../src/domain/verification/verify.ts';

const tree = (now: number, then: number, more: object = {}): TreeFact => ({
  kind: 'here',
  now,
  then,
  others: [],
  operation: undefined,
  ...more,
});
const rewritten = (sameTree: boolean): HeadRelation => ({ kind: 'diverged', ours: 4, theirs: 3, sameTree });
const file = (state: FileFact['state'], path = 'src/a.ts'): FileFact => ({ path, state });
const sibling = (more: object) => ({
  name: 'feature/login-flow',
  owner: 'bbbbbbbb-2222',
  newer: false,
  overlaps: false,
  automatic: false,
  ...more,
});

/** A note that is sound in every respect. */
const SOUND: VerificationFacts = {
  branch: 'feature',
  closed: false,
  automatic: undefined,
  movedByHand: undefined,
  place: { kind: 'here' },
  merged: undefined,
  head: { kind: 'equal' },
  files: [file({ kind: 'present' })],
  filesLeft: 0,
  tree: tree(0, 0),
  tried: [{ command: 'npm test', status: 0, isHere: true }],
  liveOwner: undefined,
  siblings: [],
};

const PLACES = {
  here: { kind: 'here' },
  elsewhere: { kind: 'elsewhere', current: 'main', worktree: undefined },
  elsewhereDetached: { kind: 'elsewhere', current: 'HEAD', worktree: '/w' },
  renamed: { kind: 'renamed', to: 'feature-2', current: 'feature-2' },
  remote: { kind: 'remote', remote: 'origin/feature' },
  deleted: { kind: 'deleted' },
  unborn: { kind: 'unborn' },
  detached: { kind: 'detached-still' },
  wasDetached: { kind: 'detached-then', current: 'main' },
} satisfies Record<string, BranchPlace>;
const HEADS = {
  equal: { kind: 'equal' },
  ahead: { kind: 'ahead', by: 2 },
  behind: { kind: 'behind', by: 2 },
  reworded: rewritten(true),
  diverged: rewritten(false),
  missing: { kind: 'base-missing' },
  shallow: { kind: 'base-shallow' },
  first: { kind: 'first' },
  unborn: { kind: 'unborn' },
  none: { kind: 'none' },
} satisfies Record<string, HeadRelation>;
const FILES = {
  none: [],
  present: [file({ kind: 'present' })],
  committed: [file({ kind: 'changed', committed: true, uncommitted: false })],
  edited: [file({ kind: 'changed', committed: false, uncommitted: true })],
  moved: [file({ kind: 'moved', to: 'src/b.ts' })],
  missing: [file({ kind: 'missing', known: true })],
  never: [file({ kind: 'missing', known: false })],
  unsafe: [file({ kind: 'unsafe' }, '../../etc/passwd')],
  uncompared: [file({ kind: 'uncompared' })],
} satisfies Record<string, FileFact[]>;
const TREES = {
  clean: tree(0, 0),
  asThen: tree(3, 3),
  more: tree(3, 1),
  fewer: tree(0, 2),
  others: tree(3, 3, { others: [{ session: 'bbbbbbbb-2222', paths: 2 }] }),
  merging: tree(1, 1, { operation: 'merge' }),
  elsewhere: { kind: 'elsewhere', worktree: 'other' },
  bare: { kind: 'none' },
} satisfies Record<string, TreeFact>;

type Row = readonly [
  place: keyof typeof PLACES,
  head: keyof typeof HEADS,
  files: keyof typeof FILES,
  tree: keyof typeof TREES,
  stale: boolean,
  /** Everything that is not `ok`. */
  codes: readonly FindingCode[],
];

/** Branch × HEAD × files × tree. */
const SITUATIONS: readonly Row[] = [
  // Nothing has happened, except what the note's own session did afterwards.
  ['here', 'equal', 'present', 'clean', false, []],
  ['here', 'equal', 'none', 'clean', false, []],
  ['here', 'equal', 'present', 'asThen', false, []],
  ['here', 'ahead', 'present', 'clean', false, ['head-ahead']],
  ['here', 'ahead', 'committed', 'clean', false, ['head-ahead', 'file-changed']],
  ['here', 'ahead', 'committed', 'fewer', false, ['head-ahead', 'file-changed', 'tree-fewer']],
  ['here', 'ahead', 'moved', 'clean', false, ['head-ahead', 'file-moved']],
  ['here', 'equal', 'edited', 'more', false, ['file-changed', 'tree-more']],
  ['here', 'equal', 'edited', 'asThen', false, ['file-changed']],
  ['here', 'equal', 'present', 'fewer', false, ['tree-fewer']],
  ['here', 'reworded', 'present', 'clean', false, ['head-reworded']],
  ['unborn', 'unborn', 'none', 'clean', false, []],
  ['unborn', 'unborn', 'never', 'more', true, ['file-missing', 'tree-more']],
  ['here', 'first', 'uncompared', 'fewer', false, ['head-first', 'file-uncompared', 'tree-fewer']],
  ['detached', 'equal', 'present', 'clean', false, []],
  ['detached', 'ahead', 'present', 'clean', false, ['head-ahead']],
  // The branch is elsewhere, and the note is still good.
  ['elsewhere', 'equal', 'present', 'elsewhere', false, ['branch-elsewhere', 'tree-elsewhere']],
  ['elsewhere', 'ahead', 'present', 'elsewhere', false, ['branch-elsewhere', 'head-ahead', 'tree-elsewhere']],
  ['elsewhereDetached', 'equal', 'present', 'elsewhere', false, ['branch-elsewhere', 'tree-elsewhere']],
  ['renamed', 'equal', 'present', 'clean', false, ['branch-renamed']],
  ['renamed', 'ahead', 'committed', 'clean', false, ['branch-renamed', 'head-ahead', 'file-changed']],
  ['remote', 'ahead', 'present', 'elsewhere', false, ['branch-remote', 'head-ahead', 'tree-elsewhere']],
  ['wasDetached', 'equal', 'present', 'clean', false, ['detached-then']],
  ['here', 'equal', 'present', 'bare', false, ['tree-none']],
  // Unknown facts are no reason to call a note stale.
  ['here', 'missing', 'uncompared', 'clean', false, ['base-missing', 'file-uncompared']],
  ['here', 'shallow', 'uncompared', 'clean', false, ['base-shallow', 'file-uncompared']],
  ['here', 'equal', 'unsafe', 'clean', false, ['file-unsafe']],
  // Obstacles that do not make the note stale.
  ['here', 'equal', 'present', 'others', false, ['tree-others']],
  ['here', 'equal', 'present', 'merging', false, ['tree-operation']],
  ['here', 'ahead', 'present', 'merging', false, ['head-ahead', 'tree-operation']],
  // The note's base is no longer in the branch.
  ['here', 'behind', 'present', 'clean', true, ['head-behind']],
  ['here', 'behind', 'missing', 'more', true, ['head-behind', 'file-missing', 'tree-more']],
  ['here', 'diverged', 'committed', 'clean', true, ['head-diverged', 'file-changed']],
  ['here', 'diverged', 'missing', 'clean', true, ['head-diverged', 'file-missing']],
  ['here', 'diverged', 'present', 'asThen', true, ['head-diverged']],
  ['renamed', 'diverged', 'present', 'clean', true, ['branch-renamed', 'head-diverged']],
  [
    'elsewhere',
    'diverged',
    'present',
    'elsewhere',
    true,
    ['branch-elsewhere', 'head-diverged', 'tree-elsewhere'],
  ],
  ['detached', 'behind', 'present', 'clean', true, ['head-behind']],
  ['wasDetached', 'diverged', 'present', 'clean', true, ['detached-then', 'head-diverged']],
  // The note's branch is gone.
  ['deleted', 'none', 'present', 'elsewhere', true, ['branch-deleted', 'head-none', 'tree-elsewhere']],
  [
    'deleted',
    'none',
    'missing',
    'elsewhere',
    true,
    ['branch-deleted', 'head-none', 'file-missing', 'tree-elsewhere'],
  ],
  ['deleted', 'none', 'none', 'bare', true, ['branch-deleted', 'head-none', 'tree-none']],
  // Important files are gone, whatever else is true.
  ['here', 'equal', 'missing', 'clean', true, ['file-missing']],
  ['here', 'equal', 'never', 'fewer', true, ['file-missing', 'tree-fewer']],
  ['here', 'ahead', 'missing', 'asThen', true, ['head-ahead', 'file-missing']],
  ['renamed', 'equal', 'missing', 'clean', true, ['branch-renamed', 'file-missing']],
];

const factsOf = ([place, head, files, treeNow]: Row): VerificationFacts => ({
  ...SOUND,
  place: PLACES[place],
  head: HEADS[head],
  files: FILES[files],
  tree: TREES[treeNow],
});
const notOk = (facts: VerificationFacts) =>
  verify(facts)
    .findings.filter(({ verdict }) => verdict !== 'ok')
    .map(({ code }) => code);

describe('a note against its repository', () => {
  it.each(SITUATIONS)('%s, %s, files %s, tree %s: stale %s %j', (...row) => {
    expect(notOk(factsOf(row))).toEqual(row[5]);
    expect(verify(factsOf(row)).stale).toBe(row[4]);
  });

  it('is tested with every place, relation, file and tree', () => {
    const column = (at: number) => new Set(SITUATIONS.map((row) => row[at]));
    expect([0, 1, 2, 3].map((at) => [...column(at)].sort())).toEqual(
      [PLACES, HEADS, FILES, TREES].map((all) => Object.keys(all).sort()),
    );
    expect(SITUATIONS.length).toBeGreaterThanOrEqual(40);
  });

  it('has an answer for every combination, and is stale exactly when a rule says so', () => {
    let count = 0;
    for (const place of Object.values(PLACES))
      for (const head of Object.values(HEADS))
        for (const files of Object.values(FILES))
          for (const treeNow of Object.values(TREES)) {
            const { stale, findings } = verify({ ...SOUND, place, head, files, tree: treeNow });
            count++;
            expect(stale).toBe(findings.some(({ code }) => RULES[code][1] === 'stale'));
            for (const { code, axis, verdict, text } of findings) {
              expect(RULES[code]).toEqual([axis, verdict]);
              expect(text).toMatch(/^[^\n]+[^.\n]$/);
            }
          }
    expect(count).toBe(9 * 10 * 9 * 8);
  });
});

describe('beside the repository', () => {
  const OTHERS: readonly (readonly [string, Partial<VerificationFacts>, boolean, FindingCode[]])[] = [
    ['closed', { closed: true }, true, ['note-closed']],
    ['left automatically', { automatic: 'death' }, false, ['note-automatic']],
    ['moved by hand', { movedByHand: 'not a descendant' }, false, ['note-moved']],
    ['merged', { merged: { into: 'main', squashed: false } }, true, ['branch-merged']],
    ['squashed', { merged: { into: 'main', squashed: true } }, true, ['branch-squashed']],
    ['its owner at work', { liveOwner: 'aaaaaaaa-1111' }, false, ['owner-live']],
    ['a newer note', { siblings: [sibling({ newer: true })] }, false, ['sibling-newer']],
    [
      'a newer note of the same work',
      { siblings: [sibling({ newer: true, overlaps: true })] },
      true,
      ['sibling-replaces'],
    ],
    [
      'a newer automatic one of the same work',
      { siblings: [sibling({ newer: true, overlaps: true, automatic: true })] },
      false,
      ['sibling-newer'],
    ],
    [
      'an older note of the same work',
      { siblings: [sibling({ overlaps: true })] },
      false,
      ['sibling-overlap'],
    ],
    ['an older note', { siblings: [sibling({})] }, false, []],
    ['more files than are looked at', { filesLeft: 3 }, false, ['files-left']],
  ];
  it.each(OTHERS)('%s', (_title, facts, stale, codes) => {
    expect(notOk({ ...SOUND, ...facts })).toEqual(codes);
    expect(verify({ ...SOUND, ...facts }).stale).toBe(stale);
  });
});

describe('the report', () => {
  const texts = (facts: Partial<VerificationFacts>) =>
    verify({ ...SOUND, ...facts })
      .findings.map(({ text }) => text)
      .join('\n');

  it('has singular and plural forms', () => {
    expect(texts({ head: { kind: 'ahead', by: 1 } })).toContain('has 1 commit more');
    expect(texts({ head: { kind: 'behind', by: 2 } })).toContain('lacks 2 commits');
    expect(texts({ head: rewritten(false) })).toContain(
      "lacks 3 commits of the note's base and has 4 that the base lacks",
    );
    expect(texts({ tree: tree(1, 0) })).toContain('1 path uncommitted; none when the note was written');
  });

  it('contains no unescaped name', () => {
    const evil = 'x\u001b[2J\n\u202etxt';
    const shown = texts({
      branch: evil,
      place: { kind: 'renamed', to: evil, current: evil },
      merged: { into: evil, squashed: false },
      files: [
        file({ kind: 'moved', to: evil }, evil),
        file({ kind: 'missing', known: true }, evil.repeat(500)),
      ],
      liveOwner: evil,
      movedByHand: evil,
      siblings: [sibling({ name: evil, owner: evil, newer: true })],
      tree: tree(1, 1, { others: [{ session: evil, paths: 1 }] }),
    });
    // eslint-disable-next-line no-control-regex -- control characters are what must not be there
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(Math.max(...shown.split('\n').map((line) => line.length))).toBeLessThan(600);
  });
});

it('the manual lists every rule for a stale note and no other', () => {
  const page = readFileSync(new URL('../../docs/git-handoff.1', import.meta.url), 'utf8');
  const [, section = ''] = /^\.SH "STALE NOTES"\n(.*?)^\.SH /ms.exec(page) ?? [];
  const rows = section.split(/^\.SS /m).flatMap((part) => {
    const axis = part.split('\n')[0]?.toLowerCase();
    const rules = part.matchAll(/^\.BR (\S+) " \(([a-z]+)\)"$/gm);
    return [...rules].map(([, code = '', verdict]) => [code.replaceAll('\\-', '-'), [axis, verdict]]);
  });
  expect(rows).toEqual(Object.entries(RULES));
});
