import { describe, expect, it } from 'vitest';
import { type MergeReport, extentOf, mayMeet, overlapsOf, stopsMerge } from '../../src/domain/overlap.ts';
import { parseReports } from '../../src/git/merge-trees.ts';

const TREE = '8712e0b12d727ae537241b3ba457999566720767';
const BLOB = '535d2b01d3397c2228490875defc92370602ca46';
/** An answer of git-merge-tree(1), with `|` for NUL. */
const parsed = (text: string) => parseReports(text.replaceAll('|', '\0'));
const kinds = (report: MergeReport | undefined, driven: readonly string[] = []) =>
  report === undefined
    ? undefined
    : overlapsOf(report, (path) => driven.includes(path)).map(({ path, kind, deletedBy }) =>
        [kind, path, ...(deletedBy === undefined ? [] : [deletedBy])].join(' '),
      );

const entries = (path: string, ...stages: number[]) =>
  stages.map((stage) => `100644 ${BLOB} ${stage}\t${path}|`).join('');

describe('a tried merge', () => {
  it.each<[string, string, string[]]>([
    ['of separate files is no overlap', `1|${TREE}|||`, []],
    ['of one file that merges', `1|${TREE}||1|b|Auto-merging|Auto-merging b\n||`, ['same-file b']],
    [
      'of one that does not',
      `0|${TREE}|${entries('a', 1, 2, 3)}|1|a|Auto-merging|Auto-merging a\n|1|a|CONFLICT (contents)|CONFLICT …\n||`,
      ['conflict a'],
    ],
    [
      'of one that the first side deleted',
      `0|${TREE}|${entries('c', 1, 3)}|1|c|CONFLICT (modify/delete)|c deleted …\n||`,
      ['deleted c one'],
    ],
    [
      'of one that the second side deleted',
      `0|${TREE}|${entries('c', 1, 2)}|1|c|CONFLICT (modify/delete)|c deleted …\n||`,
      ['deleted c other'],
    ],
    [
      'of a file in a folder that was renamed',
      `0|${TREE}|${entries('e/new', 3)}|2|e/new|d/new|CONFLICT (directory rename suggested)|…\n||`,
      ['conflict e/new'],
    ],
    [
      'of folders that went to several places, which leaves no entry',
      `0|${TREE}||1|d|CONFLICT (directory rename unclear split)|…\n||`,
      ['conflict d'],
    ],
    [
      'lists the worst first',
      `0|${TREE}|${entries('z', 1, 2, 3)}|1|a|Auto-merging|…\n|1|z|CONFLICT (contents)|…\n||`,
      ['conflict z', 'same-file a'],
    ],
  ])('%s', (_, text, expected) => {
    expect(kinds(parsed(text)[0])).toEqual(expected);
  });

  it('by a program is not judged, whatever git made of it', () => {
    const [report] = parsed(
      `0|${TREE}|${entries('a', 1, 2, 3)}|1|a|Auto-merging|…\n|1|a|CONFLICT (contents)|…\n||`,
    );
    expect(kinds(report, ['a'])).toEqual(['not-judged a']);
  });
});

describe('the answers of one process', () => {
  const one = `1|${TREE}||1|b|Auto-merging|Auto-merging b\n||`;
  const two = `0|${TREE}|${entries('a\nb', 1, 2, 3)}|1|a\nb|CONFLICT (contents)|…\n||`;

  it('are told apart', () => {
    expect(parsed(one + two + one)).toHaveLength(3);
    expect(parsed(two)[0]?.unmerged.map(({ path }) => path)).toEqual(['a\nb', 'a\nb', 'a\nb']);
  });

  it('count only when they are whole, wherever git stopped', () => {
    const text = one + two;
    for (let at = 0; at < text.length; at++) {
      expect(parsed(text.slice(0, at)).length).toBe(at < one.length ? 0 : 1);
    }
    expect(parsed(text)).toHaveLength(2);
  });
});

it('conflicts and deletions stop a merge, and nothing else does', () => {
  const all = ['conflict', 'deleted', 'not-judged', 'same-tree', 'same-file'] as const;
  expect(all.filter((kind) => stopsMerge({ kind }))).toEqual(['conflict', 'deleted']);
});

describe('changes of one commit', () => {
  /** `+` is new, `-` is gone. */
  const reach = (...paths: string[]) =>
    extentOf(
      paths.map((path) => ({
        path: path.replace(/^[+-]/, ''),
        isNew: path.startsWith('+'),
        isGone: path.startsWith('-'),
      })),
    );

  it.each<[string, string[], string[], boolean]>([
    ['of one path', ['a'], ['b', 'a'], true],
    ['of other paths', ['a/b', '+a/c'], ['a/d', '-a/e'], false],
    ['of a file and of what is below it', ['+a'], ['+a/b/c'], true],
    ['of nothing and of a rename', [], ['-a', '+b'], false],
    ['of a rename and of any other path', ['-a', '+b'], ['c'], true],
    ['of names that only begin alike', ['ab'], ['a/b'], false],
  ])('%s: whether they may meet', (_, one, other, expected) => {
    expect(mayMeet(reach(...one), reach(...other))).toBe(expected);
    expect(mayMeet(reach(...other), reach(...one))).toBe(expected);
  });
});
