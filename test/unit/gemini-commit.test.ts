import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { rawCommitVerdict } from '../../src/guard/checks/gemini-commit.ts';
import type { GitVerbCall } from '../../src/shell/effects.ts';
import { sessionOf } from '../support/chain.ts';

const peer = sessionOf('a');
const commit = (...words: (string | undefined)[]) => ({ cwd: '/r', verb: 'commit', words });
const how = { git: 'git -C /r', commonDir: '/r/.git', folder: '/r/sub' };
const reason = (call: GitVerbCall) => {
  const verdict = rawCommitVerdict(call, [peer], how);
  return verdict?.kind === 'deny' ? verdict.reason : '';
};
const hint = (...words: (string | undefined)[]) => reason(commit(...words)).replace(/^.*: (?=git)/s, '');

describe('a raw commit in a shell without hooks', () => {
  it('is refused beside a peer, by its name', () => {
    expect(reason(commit('-m', 'x'))).toContain(peer.slice(0, 8));
  });

  it.each([
    [['-m', "it's done"], "-m 'it'\\''s done'"],
    [['-am', 'a', '-m', 'b'], '-m a -m b'],
    [['-m', 'what\n\nwhy'], "-m 'what\n\nwhy'"],
    [['-s', '--author=A <a@b.c>', '-m', 'x'], "-m x --signoff --author='A <a@b.c>'"],
    [['-F', 'message.txt'], '-F /r/sub/message.txt'],
    [['--amend', '--no-edit'], '--amend --no-edit'],
    [['--amend', '-m', 'x'], '--amend -m x'],
    [[], "-m '<message>'"],
    [['-m', undefined], "-m '<message>'"],
    [['-F', '-'], "-m '<message>'"],
  ])('%j is typed again as git handoff commit %s', (words, typed) => {
    expect(hint(...words)).toBe(`git -C /r handoff commit ${typed}`);
  });

  it('keeps a message that git would have read from a pipe', () => {
    const commonDir = mkdtempSync(join(tmpdir(), 'gemini-commit-'));
    onTestFinished(() => rmSync(commonDir, { recursive: true }));
    const verdict = rawCommitVerdict({ ...commit('-F', '-'), input: 'what\n' }, [peer], {
      ...how,
      commonDir,
    });
    const [, file = ''] = /-F (\S+)$/.exec(verdict?.kind === 'deny' ? verdict.reason : '') ?? [];
    expect(readFileSync(file, 'utf8')).toBe('what\n');
  });

  it('goes unchecked alone', () => {
    expect(rawCommitVerdict(commit('-m', 'x'), [], how)).toBeUndefined();
  });
});
