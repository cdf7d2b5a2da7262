import { describe, expect, it } from 'vitest';
import { isLeased, parsePushWords } from '../../src/shell/push-words.ts';

const TIP = '1234567890123456789012345678901234567890';
const parse = (line: string, exact = true) => parsePushWords(line.split(' '), exact);
const leased = (line: string, ref = 'refs/heads/feature') => {
  const words = parse(`git push ${line}`);
  return words !== undefined && isLeased(words, ref, TIP);
};

describe('a push that names the commit up to which a branch was seen', () => {
  it.each([
    [`--force-with-lease=feature:${TIP} origin feature`],
    [`-q origin +feature --force-with-lease=heads/feature:${TIP}`],
    [`--force-with-lease=refs/heads/feature:${TIP.slice(0, 7)}`],
    [`--force-with-lease=other:${'0'.repeat(40)} --force-with-lease=feature:${TIP}`],
  ])('%s', (line) => expect(leased(line)).toBe(true));

  it.each([
    ['--force-with-lease'],
    ['--force-with-lease=feature'],
    ['--force-with-lease=feature:'],
    ['--force-with-lease=feature:origin/feature'],
    [`--force-with-lease=feature:${TIP.slice(0, 6)}`],
    [`--force-with-lease=feature:${TIP}0`],
    [`--force-with-lease=other/feature:${TIP}`],
    [`--force-with-lease=tags/feature:${TIP}`],
    [`--force-with-lease feature:${TIP}`],
    [`-o --force-with-lease= feature:${TIP}`],
  ])('%s: does not', (line) => expect(leased(line)).toBe(false));

  it('matches names of several parts', () => {
    expect(leased(`--force-with-lease=a/b:${TIP}`, 'refs/heads/a/b')).toBe(true);
    expect(leased(`--force-with-lease=heads/a:${TIP}`, 'refs/heads/heads/a')).toBe(true);
  });
});

describe('whether a push may be forced', () => {
  it.each([
    ['-f'],
    ['-qf origin'],
    ['--force'],
    ['--for'],
    ['--force-with-lease'],
    ['--mirror origin'],
    ['origin +main'],
    ['origin :main'],
    ['-d origin main'],
    ['--delete origin main'],
    ['--prune origin'],
  ])('%s: yes', (line) => expect(parse(`git push ${line}`)?.isForced).toBe(true));

  it.each([
    ['origin'],
    ['-q origin main:main'],
    ['--follow-tags --progress --porcelain'],
    ['-u origin HEAD'],
  ])('%s: no', (line) => expect(parse(`git push ${line}`)?.isForced).toBe(false));
});

describe('other command lines', () => {
  it.each(['git', 'git log push', 'git -c push', 'sh push -f', '', 'git pushf', 'git commit -m push'])(
    '%j: no push',
    (line) => expect(parse(line)).toBeUndefined(),
  );

  it.each([
    ['/usr/lib/git-core/git -C /x -c a.b=c push -f', true],
    ['git-push -f', true],
    ['git -C /a b push -f', false],
    ['/Volumes/my disk/bin/git push -f', false],
  ])('%s: is one (known word by word: %s)', (line, exact) => {
    expect(parse(line, exact)?.isForced).toBe(true);
  });

  it('are no push without that word, however the line was split', () => {
    expect(parse('git -C /a b fetch -f', false)).toBeUndefined();
  });
});
