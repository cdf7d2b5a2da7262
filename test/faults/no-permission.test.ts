import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FaultWorld } from '../support/faults/fault-world.ts';

const NOBODY = 65534;
const identity = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups'];

/** Why this test cannot run as another user here; `undefined` if it can. */
const NO_SETPRIV: string | undefined = (() => {
  const { error, status } = spawnSync('setpriv', [...identity, 'true']);
  if (error !== undefined) return 'setpriv is not installed';
  return status === 0 ? undefined : 'only root may act as another user';
})();

/** Returns a function that runs `git-handoff` as another user, who may read the world's repository, but not write to it. */
function asNobody(world: FaultWorld) {
  const own = join(world.root, 'nobody');
  mkdirSync(own);
  chownSync(own, NOBODY, NOBODY);
  chmodSync(world.root, 0o755);
  const config = join(world.home, '.gitconfig');
  world.git(['config', '--file', config, 'safe.directory', '*']);
  chmodSync(config, 0o644);
  const env = { HOME: own, TMPDIR: own, GIT_CONFIG_GLOBAL: config };
  return (words: readonly string[], input = '') =>
    world.run('setpriv', [...identity, 'git-handoff', ...words], { env, input, session: world.session });
}

describe.skipIf(NO_SETPRIV)(
  `another user's repository${NO_SETPRIV === undefined ? '' : ` (skipped: ${NO_SETPRIV})`}`,
  () => {
    it('is read, and a text that cannot be written there is kept in a file', () => {
      const world = new FaultWorld();
      try {
        const tip = world.mustWrite('old\n');
        const run = asNobody(world);
        const done = run(['write', 'auth-refresh'], 'new\n');
        expect(done).toMatchObject({ status: 7, stdout: '' });
        expect(done.stderr).toMatch(
          /^error: .*(?:insufficient permission|Permission denied).*\nhint: make the repo/,
        );
        expect(world.whereabouts('new\n', done.stderr)).toBe('file');
        expect(world.tip()).toBe(tip);
        expect(run(['show', '--raw'])).toMatchObject({ status: 0, stdout: 'old\n', stderr: '' });
        expect(run(['list'])).toMatchObject({ status: 0, stderr: '' });
        world.expectSound();
      } finally {
        world.remove();
      }
    });
  },
);

describe.skipIf(NO_SETPRIV)('a folder that is closed to the user', () => {
  it.each([
    'rm closed/f',
    'cp x closed/',
    'git -C closed add .',
    'ln -s closed l; rm l/f',
    'find closed -delete',
  ])('%s does not keep the rest of the command from being judged', (command) => {
    const world = new FaultWorld();
    try {
      world.mustWrite('old\n');
      mkdirSync(join(world.path, 'closed'), { mode: 0o700 });
      const input = JSON.stringify({
        ...{ session_id: world.session, cwd: world.path, hook_event_name: 'PreToolUse', tool_name: 'Bash' },
        tool_input: { command: `${command}; git update-ref -d refs/handoffs/main/auth-refresh` },
      });
      const { stdout } = asNobody(world)(['guard', '--client', 'claude'], input);
      expect(stdout).toContain('"permissionDecision":"deny"');
    } finally {
      world.remove();
    }
  });
});
