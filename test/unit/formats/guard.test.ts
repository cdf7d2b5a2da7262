import { describe, expect, it } from 'vitest';
import { guardOwner, guardPlace, withoutMarker } from '../../../src/domain/formats/texts.ts';
import type { BranchName } from '../../../src/domain/names.ts';

const branches = ['main', 'feature', 'feature/login', 'fix/Über-all', 'release/1.0'] as BranchName[];
const place = (name: string) => {
  const { branch, topic } = guardPlace(name, branches, 'main' as BranchName);
  return `${branch} ${topic}`;
};

describe('handoff-<branch>-<topic>.md', () => {
  it.each([
    ['handoff-main-auth-refresh.md', 'main auth-refresh'],
    ['handoff-feature-login-token-refresh.md', 'feature/login token-refresh'],
    // The branch feature/login would leave a topic of only one word, so the branch is `feature`.
    ['handoff-feature-login-tokens.md', 'feature login-tokens'],
    ['handoff-release-1-0-smoke-test.md', 'release/1.0 smoke-test'],
    ['handoff-fix-uber-all-the-things.md', 'fix/Über-all the-things'],
    // No such branch exists, so the first word is taken for the branch.
    ['handoff-gone-branch-notes.md', 'gone branch-notes'],
    ['handoff-mainline-branch-notes.md', 'mainline branch-notes'],
    // These names break the predecessor's grammar, which it did not enforce for them.
    ['handoff-main.md', 'main imported-note'],
    ['handoff-Main_auth.v2.md', 'main auth-v2'],
    ['handoff-notes.md', 'main notes-work'],
    ['handoff-.md', 'main imported-note'],
    ['handoff-main-fix-test.md', 'main fix-test-work'],
    [`handoff-main-${'x'.repeat(300)}-y.md`, `main ${'x'.repeat(60)}-work`],
  ])('%s is %s', (name, expected) => {
    expect(place(name)).toBe(expected);
  });

  it('is split after the longest branch that leaves a word, if none leaves a topic', () => {
    const only = ['feature/auth'] as BranchName[];
    expect(guardPlace('handoff-feature-auth-refresh.md', only, 'main' as BranchName)).toEqual({
      branch: 'feature/auth',
      topic: 'refresh-work',
    });
  });
});

describe('the marker', () => {
  it.each([
    ['<!-- claude-session: sess-1 -->\n# x\n', 'sess-1', '# x\n'],
    ['\uFEFF<!-- claude-session: sess-1 -->\r\n# x', 'sess-1', '# x'],
    ['<!-- claude-session: sess-1 -->', 'sess-1', ''],
    ['<!-- claude-session: unknown -->\nx', undefined, 'x'],
    ['<!-- claude-session: ../x -->\nx', undefined, 'x'],
    ['<!-- claude-session: person-0123456789ab -->\nx', undefined, 'x'],
    ['# x\n<!-- claude-session: sess-1 -->\n', undefined, '# x\n<!-- claude-session: sess-1 -->\n'],
  ])('%j is of %s', (text, owner, rest) => {
    expect(guardOwner(text)).toBe(owner);
    expect(withoutMarker(text)).toBe(rest);
  });
});
