import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SharingWorld } from '../support/sharing-world.ts';

/** A secret in an older version of a handoff: a push is refused, and the command that the refusal names helps. */

const A = 'aaaaaaaa-1111-4111-8111-111111111111';
const SECRET = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_');
let repo: SharingWorld;
let server: string;

beforeEach(() => {
  repo = new SharingWorld();
  server = join(repo.root, 'origin.git');
  repo.git(['init', '-q', '--bare', server]);
  repo.git(['remote', 'add', 'origin', server]);
});
afterEach(() => repo.remove());

const write = (text: string) => repo.noted(['write', 'auth-refresh', '-m', text], { session: A });
const leak = () => {
  repo.git(['config', 'handoff.secretScan', 'off']);
  write(`token ${SECRET}`);
  repo.git(['config', '--unset', 'handoff.secretScan']);
  write('nothing in it now');
};
/** Types the command that the refusal names for the case that the secret is real. */
const wayOut = () => {
  const { status, stderr } = repo.handoff(['sync', '--push'], { session: A });
  expect(status).toBe(1);
  const command = /if it is: (.*)$/m.exec(stderr)?.[1] ?? 'false';
  expect(repo.run('sh', ['-c', command], { env: { GIT_HANDOFF_SESSION: A } })).toMatchObject({ status: 0 });
};
const versions = () =>
  repo.git(['log', '--format=%H', 'refs/handoffs/main/auth-refresh'], { cwd: server }).split('\n');

describe('a handoff with a secret in its history', () => {
  it('is announced correctly by a dry run', () => {
    leak();
    expect(repo.handoff(['sync', '--push', '--dry-run'], { session: A }).status).toBe(1);
    expect(repo.json(['sync', '--push', '--dry-run'])).toMatchObject({ items: [{ action: 'secret' }] });
  });

  it('is pushed by the printed command with its text, but without the version that has the secret', () => {
    leak();
    wayOut();
    repo.ok(['sync']);
    expect(versions()).toHaveLength(1);
    expect(repo.ok(['show', 'auth-refresh', '--raw'])).toBe('nothing in it now');
  });

  it('is pushed so even if the remote has older versions, without diverging', () => {
    write('first');
    repo.ok(['sync']);
    leak();
    wayOut();
    repo.ok(['sync']);
    expect(versions()).toHaveLength(1);
    expect(repo.json(['list', '--all']).items).toHaveLength(1);
    expect(repo.json(['sync'])).toMatchObject({ items: [] });
  });
});
