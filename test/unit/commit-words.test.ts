import { describe, expect, it } from 'vitest';
import { parseCommitWords } from '../../src/shell/commit-words.ts';

const parse = (line: string, exact = true) => parseCommitWords(line.split(' '), exact);

describe('the words of a git commit', () => {
  it.each([
    'git commit --amend',
    'git commit --am',
    'git commit --ame --no-edit',
    '/usr/lib/git-core/git commit -a --amen -m x',
    'git-commit --amend',
    'git -c a.b=commit -C /x --no-pager commit --amend',
    'git --git-dir=.git --work-tree . commit -qm x --amend',
    'git commit --no-amend --amend',
    'git commit -S --amend',
    'git commit -uno --amend',
    'git commit --mess x --amend',
    'git commit --fixup=amend:HEAD --amend',
  ])('%s: amends', (line) => {
    expect(parse(line)?.amend).toBe(true);
  });

  it.each([
    'git commit',
    'git commit -m --amend',
    'git commit -am --amend',
    'git commit --message --amend',
    'git commit --mess --amend',
    'git commit -F --amend',
    'git commit --fixup amend:HEAD',
    'git commit --fixup=amend:HEAD',
    'git commit -C --amend',
    'git commit --trailer --amend',
    'git commit --amend --no-amend',
    'git commit -- --amend',
    'git commit --end-of-options --amend',
    'git commit --all --allow-empty',
    'git commit -m--amend',
    'git commit - x',
  ])('%s: does not', (line) => {
    expect(parse(line)?.amend).toBe(false);
  });

  it.each(['git', 'git rebase --amend', 'git -c commit', 'sh commit --amend', '', 'git log commit'])(
    '%j: is no commit',
    (line) => {
      expect(parse(line)).toBeUndefined();
    },
  );

  it('contain the messages', () => {
    const words = [
      'git',
      'commit',
      '-m',
      'one',
      '-amtwo words',
      '--message=three',
      '--message',
      '',
      '-F',
      'file',
    ];
    expect(parseCommitWords(words)?.messages).toEqual(['one', 'two words', 'three', '']);
  });

  it.each([
    ['git commit -am x', { all: true, messages: ['x'] }],
    ['git commit --all -F -', { all: true, file: '-' }],
    [
      'git commit -sn --author=me --date now',
      { kept: ['--signoff', '--no-verify', '--author=me', '--date=now'] },
    ],
    ['git commit -C HEAD~1 --reset-author', { kept: ['--reuse-message=HEAD~1', '--reset-author'] }],
    ['git commit -c HEAD', { kept: ['--reuse-message=HEAD'] }],
    ['git commit --auth me -Skey -q', { kept: ['--author=me', '--gpg-sign=key'] }],
    ['git commit -m x a -- -m y', { messages: ['x'] }],
  ])('%s: is told again in full', (line, words) => {
    expect(parse(line)).toMatchObject(words);
  });

  it('are not read after a value that was split at its blanks', () => {
    const cut = (line: string) => parse(line, false);
    expect(cut('git commit --amend -m a message')).toMatchObject({ amend: true, messages: [] });
    expect(cut('git commit -m say --amend to them')).toMatchObject({ amend: false, messages: [] });
    expect(cut('git commit -a --author A B <a@b> -s')).toMatchObject({ all: true, kept: [] });
    expect(cut('git commit -mfix the rate -a')).toMatchObject({ all: false, messages: [] });
    expect(cut('git commit -nam a message')).toMatchObject({ all: true, kept: ['--no-verify'] });
  });

  it('distinguish, once the message is known, an --amend after such a value from one in the message', () => {
    const amends = (line: string, message: string) =>
      parseCommitWords(line.split(' '), false, message)?.amend;
    expect(amends('git commit -m a message --amend', 'a message\n')).toBe(true);
    expect(amends('git commit -am x --amen -- a.ts', 'x\n')).toBe(true);
    expect(amends('git commit -m say --amend to them', 'say --amend to them\n')).toBe(false);
    expect(amends('git commit -m say --amend to them --amend', 'say --amend to them\n')).toBe(true);
    // The command line does not contain a message that comes from a file, a pipe or a commit.
    expect(amends('git commit -F - --amend', 'say --amend to them\n')).toBe(true);
    expect(amends('git commit -C HEAD --amend', 'say --amend to them\n')).toBe(true);
    expect(amends('git commit --author A B <a@b> --amend --no-edit', 'say --amend\n')).toBe(true);
    expect(amends('git commit -F - -s', 'say --amend to them\n')).toBe(false);
  });

  it('refer to git for the message if the split line does not contain it', () => {
    expect(parse('git commit -am a message', false)?.file).toBe('-');
    expect(parse('git commit -a', false)?.file).toBeUndefined();
  });
});
