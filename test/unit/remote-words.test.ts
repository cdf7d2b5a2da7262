import { describe, expect, it } from 'vitest';
import { remoteWords } from '../../src/git/config.ts';

const PROGRESS = `remote: Enumerating objects: 5, done.
remote: Counting objects:  20% (1/5)
remote: Total 5 (delta 0), reused 0 (delta 0), pack-reused 0
Receiving objects:  41% (2/5), 1.20 KiB | 1.20 MiB/s
`;

describe('why a remote could not be asked', () => {
  it.each([
    ['the fatal line', 'error: x\nfatal: no network\n', 'no network'],
    [
      'what ssh said before it',
      'ssh: no such host\nfatal: Could not read from remote repository.\n\nPlease make sure\n',
      'ssh: no such host',
    ],
    ['what the server said', 'remote: not you\n', 'remote: not you'],
    ['no progress before the fatal line', `${PROGRESS}fatal: write error\n`, 'write error'],
    ['no progress before an error', `${PROGRESS}error: it broke\n`, 'error: it broke'],
    [
      'no progress for what was said last',
      `oops\n${PROGRESS}fatal: Could not read from remote repository.`,
      'oops',
    ],
  ])('is %s', (_, stderr, said) => {
    expect(remoteWords(stderr)).toBe(said);
  });
});
