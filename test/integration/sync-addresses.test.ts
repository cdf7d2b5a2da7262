import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { TestRepository } from '../support/repository.ts';

/** Remotes by their addresses: several, mirrored, with a password in them, or out of reach. */

const A = 'aaaaaaaa-1111';
const TOKEN = 'ghp_lantern4711';
let repo: TestRepository;

beforeEach(() => {
  repo = new TestRepository();
  repo.ok(['write', 'release-plan', '-m', 'x'], { session: A });
});
afterEach(() => repo.remove());

const server = (name: string) => {
  const path = join(repo.root, `${name}.git`);
  repo.git(['init', '-q', '--bare', path]);
  return path;
};
const tips = (path: string) => repo.git(['ls-remote', path, 'refs/handoffs/*']).split('\t')[0];

describe('the addresses of a remote', () => {
  it('are all pushed to if it has several', () => {
    const [one, two] = [server('one'), server('two')];
    repo.git(['remote', 'add', 'both', one]);
    for (const path of [one, two]) repo.git(['remote', 'set-url', '--add', '--push', 'both', path]);
    const first = repo.handoff(['sync', 'both']);
    expect(first.status).toBe(0);
    expect(first.stderr).toContain(`to ${one} and ${two}, where everybody`);
    expect([tips(one), tips(two)]).toEqual([repo.ref('refs/handoffs/main/release-plan'), tips(one)]);
    expect(repo.json(['sync', 'both'])).toMatchObject({ items: [], remotes: [{ same: 1 }] });
    // If an address is out of reach, this is reported, and what it missed does not count as pushed.
    repo.ok(['write', 'release-plan', '-m', 'y'], { session: A });
    repo.run('mv', [two, `${two}.away`]);
    expect(repo.handoff(['sync', '--push', 'both'])).toMatchObject({
      status: 5,
      stderr: expect.stringContaining("two.git' does not appear to be a git repository") as string,
    });
  });

  it('get single refs even if git would mirror everything', () => {
    const path = server('one');
    repo.git(['remote', 'add', '--mirror=push', 'origin', path]);
    repo.ok(['sync']);
    expect(repo.git(['ls-remote', path]).split('\n')).toHaveLength(1);
  });

  it('are shown without a possible secret in them', () => {
    const path = server('one');
    for (const [name, url] of [
      ['token', `https://${TOKEN}@host.example/x.git`],
      ['odd', `https://user:p@${TOKEN}@host.example/x.git`],
      ['query', `https://host.example/x.git?private_token=${TOKEN}`],
    ] as const) {
      repo.git(['config', `url.${path}.insteadOf`, url]);
      repo.git(['remote', 'add', name, url]);
      repo.git(['update-ref', '-d', 'refs/handoffs/main/release-plan'], { cwd: path });
      const told = repo.handoff(['sync', name]);
      expect(told.status).toBe(0);
      expect(told.stdout + told.stderr).toContain('host.example/x.git');
      expect(told.stdout + told.stderr).not.toContain(TOKEN);
      repo.git(['config', '--unset', `url.${path}.insteadOf`]);
    }
    const typed = repo.handoff(['sync', '--push', `https://u:${TOKEN}@host.example/x.git`]);
    expect(typed.status).toBe(2);
    expect(typed.stdout + typed.stderr).not.toContain(TOKEN);
  });

  it('are each named, with the reason, if they are out of reach', () => {
    repo.git(['remote', 'add', 'far', 'ssh://git@127.0.0.1/x.git']);
    repo.git(['remote', 'add', 'gone', join(repo.root, 'gone.git')]);
    repo.git(['config', 'core.sshCommand', 'echo ssh: no way there >&2; false']);
    const both = repo.handoff(['sync', 'far', 'gone']);
    expect(both.status).toBe(5);
    expect(both.stderr).toContain('far could not be asked: ssh: no way there; gone could not be asked: ');
  });

  it('are known to have a handoff, whichever remote it was pushed through', () => {
    const path = server('one');
    repo.git(['remote', 'add', 'origin', path]);
    repo.git(['remote', 'add', 'other', path]);
    repo.ok(['sync', '--push', 'origin']);
    repo.ok(['sync', '--push', 'other']);
    expect(repo.json(['delete', 'release-plan'])).toMatchObject({
      remotes: [{ remote: 'origin' }, { remote: 'other' }],
    });
    repo.git(['update-ref', '-d', 'refs/handoffs/main/release-plan'], { cwd: path });
    expect(repo.json(['sync', '--push', 'other'])).toMatchObject({ items: [{ action: 'deleted-there' }] });
    expect(tips(path)).toBe('');
  });
});
