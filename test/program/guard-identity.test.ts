import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CALLER, GuardWorld, OWNER } from '../support/guard.ts';
import { matching } from '../support/matchers.ts';

/** Commands that change a session's identity, so that the session would write in another's name. */

const REFUSED = [
  `CLAUDE_CODE_SESSION_ID=${OWNER} git handoff write auth-refresh -m x`,
  `GIT_HANDOFF_SESSION=${OWNER} git handoff list`,
  `export CLAUDE_CODE_SESSION_ID=${OWNER}; git handoff close auth-refresh`,
  `CLAUDE_CODE_SESSION_ID= git handoff write auth-refresh -m x`,
  `env CLAUDE_CODE_SESSION_ID=${OWNER} git handoff take auth-refresh`,
  'env -u CLAUDE_CODE_SESSION_ID git handoff take auth-refresh',
  'env --unset=CLAUDE_CODE_SESSION_ID git commit -m x',
  'env -i PATH="$PATH" git handoff take auth-refresh',
  'unset CLAUDE_CODE_SESSION_ID; git handoff take auth-refresh',
  'unset -v FOO CLAUDE_CODE_SESSION_ID && git commit -m x',
  `sh -c 'CLAUDE_CODE_SESSION_ID=${OWNER} git handoff take auth-refresh'`,
  `declare -x CODEX_THREAD_ID=${OWNER}; git handoff take auth-refresh`,
  `git handoff write auth-refresh --session ${OWNER} -m x`,
  `git handoff write --session=${OWNER} auth-refresh -m x`,
  `git-handoff take auth-refresh --session ${OWNER}`,
  `git -C . handoff take auth-refresh --session ${OWNER}`,
];

const ALLOWED = [
  'git handoff write new-topic -m x',
  `git handoff write new-topic -m x --session ${CALLER}`,
  `git handoff write new-topic -m x --session=${CALLER}`,
  'echo "$CLAUDE_CODE_SESSION_ID"',
  'printenv CLAUDE_CODE_SESSION_ID',
  `git commit --allow-empty -m 'docs: CLAUDE_CODE_SESSION_ID=x and unset CLAUDE_CODE_SESSION_ID'`,
  `grep -rn 'env -u CLAUDE_CODE_SESSION_ID' .`,
  'env FOO=1 make',
  'unset FOO; ls',
];

let world: GuardWorld;
beforeAll(() => {
  world = new GuardWorld();
  world.sessionStart(CALLER);
});
afterAll(() => world.remove());

/** Further refs of ours: a record of a session at work, a kept text, and a topic's former tip. */
const BOOKKEEPING = [
  'live/0123456789abcdef/sess-bbbbbbbb-2222',
  'kept/main/auth-refresh',
  'lost/main/auth-refresh/1',
];

describe('in an initialised repository', () => {
  it.each(BOOKKEEPING)('refuses to remove the record %s', (name) => {
    expect(world.before('Bash', { command: `git update-ref -d refs/handoffs-local/${name}` })).toMatchObject({
      kind: 'deny',
      text: matching(/behind git-handoff's back/),
    });
  });

  it.each(REFUSED)('refuses %s', (command) => {
    expect(world.before('Bash', { command })).toMatchObject({
      kind: 'deny',
      text: matching(/This session is `sess-aaa`/),
    });
  });

  it.each(ALLOWED)('allows %s', (command) => {
    expect(world.before('Bash', { command })).toEqual({ kind: 'silent' });
  });
});

describe('elsewhere', () => {
  it('leaves the variables alone', () => {
    const elsewhere = new GuardWorld({ initialised: false });
    try {
      for (const command of REFUSED.slice(0, 3)) {
        expect(elsewhere.before('Bash', { command })).toEqual({ kind: 'silent' });
      }
    } finally {
      elsewhere.remove();
    }
  });
});
