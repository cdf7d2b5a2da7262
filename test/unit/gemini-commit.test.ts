import { describe, expect, it } from 'vitest';
import { rawCommitVerdict } from '../../src/guard/checks/gemini-commit.ts';
import { sessionOf } from '../support/chain.ts';

const peer = sessionOf('a');
const call = (verb: string, ...words: (string | undefined)[]) => ({ verb, words });
const reason = (...words: (string | undefined)[]) => {
  const verdict = rawCommitVerdict([call('add', '-A'), call('commit', ...words)], [peer], 'git -C /r');
  return verdict?.kind === 'deny' ? verdict.reason : '';
};

describe('a raw commit in a shell without hooks', () => {
  it('is refused beside a peer, with its name and the same message', () => {
    expect(reason('-m', "it's done")).toContain(peer.slice(0, 8));
    expect(reason('-m', "it's done")).toMatch(/git -C \/r handoff commit -m 'it'\\''s done'$/);
    expect(reason('-am', 'a', '-m', 'b')).toMatch(/git -C \/r handoff commit -m a -m b$/);
  });

  it('leaves the message open when it is not known', () => {
    expect(reason()).toMatch(/-m '<message>'$/);
    expect(reason('-m', undefined)).toMatch(/-m '<message>'$/);
  });

  it('goes unchecked alone, and is no other verb', () => {
    expect(rawCommitVerdict([call('commit', '-m', 'x')], [], 'git')).toBeUndefined();
    expect(rawCommitVerdict([call('add', '-A')], [peer], 'git')).toBeUndefined();
  });
});
