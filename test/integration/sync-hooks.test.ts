import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clone, Clones, refValues } from '../support/clones.ts';

const TOPIC = 'auth-refresh';

let world: Clones;
let ada: Clone;
let bob: Clone;
beforeEach(async () => {
  world = await Clones.start('daemon');
  ada = world.clone('Ada');
  bob = world.clone('Bob');
});
afterEach(() => world.remove());

function hook(folder: string, name: string, lines: string): void {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
}

const otherRefs = (clone: { git(args: readonly string[]): string }) =>
  clone.git(['for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags', 'refs/remotes']);

describe("a user's hook", () => {
  it.each([
    ['fails', 'exit 1'],
    ['never ends', 'sleep 3600'],
  ])('that %s is not run by a sync', (_what, line) => {
    const marker = join(ada.root, 'ran');
    for (const name of ['pre-push', 'reference-transaction', 'post-checkout', 'post-merge'])
      hook(join(ada.path, '.git', 'hooks'), name, `touch '${marker}'\n${line}`);
    ada.write(TOPIC, 'ada\n');
    expect(ada.sync()).toContain('1 pushed');
    expect(existsSync(marker)).toBe(false);
  });

  it('is not run from core.hooksPath, either', () => {
    const folder = join(ada.root, 'own-hooks');
    hook(folder, 'pre-push', 'exit 1');
    ada.git(['config', 'core.hooksPath', folder]);
    ada.write(TOPIC, 'ada\n');
    expect(ada.sync()).toContain('1 pushed');
  });

  it('on the server that declines a ref is quoted, and the other refs pass', () => {
    hook(
      join(world.server.path, 'hooks'),
      'update',
      'case "$1" in *bad-topic) echo "no such handoffs here" >&2; exit 1;; esac',
    );
    ada.write(TOPIC, 'ada\n');
    ada.write('bad-topic', 'ada\n');
    const done = ada.as(['sync']);
    expect(done.status).toBe(5);
    expect(done.stderr).toContain('no such handoffs here');
    expect([...world.server.handoffs().keys()]).toEqual([`refs/handoffs/main/${TOPIC}`]);
    expect(bob.sync()).toContain('1 fetched');
  });
});

describe.each<[string, readonly (readonly [string, string])[]]>([
  ['push.followTags', [['push.followTags', 'true']]],
  ['remote.origin.mirror', [['remote.origin.mirror', 'true']]],
  ['remote.origin.push', [['remote.origin.push', '+refs/heads/*:refs/heads/*']]],
  ['push.default', [['push.default', 'matching']]],
  ['push.autoSetupRemote', [['push.autoSetupRemote', 'true']]],
  ['push.gpgSign', [['push.gpgSign', 'if-asked']]],
  ['push.gpgSign true', [['push.gpgSign', 'true']]],
  ['push.pushOption', [['push.pushOption', 'ci.skip']]],
  ['push.recurseSubmodules', [['push.recurseSubmodules', 'on-demand']]],
  [
    'fetch.prune',
    [
      ['fetch.prune', 'true'],
      ['fetch.pruneTags', 'true'],
      ['remote.origin.prune', 'true'],
    ],
  ],
  ['fetch.all', [['fetch.all', 'true']]],
  ['fetch.output', [['fetch.output', 'compact']]],
  ['fetch.parallel', [['fetch.parallel', '4']]],
  ['remote.origin.tagOpt', [['remote.origin.tagOpt', '--tags']]],
  ['transfer.fsckObjects', [['transfer.fsckObjects', 'true']]],
  ['transfer.hideRefs', [['transfer.hideRefs', 'refs/heads/secret']]],
  ['remote.pushDefault', [['remote.pushDefault', 'nowhere']]],
  ['core.sshCommand', [['core.sshCommand', 'false']]],
  ['protocol.version 0', [['protocol.version', '0']]],
  ['protocol.version 1', [['protocol.version', '1']]],
  ['core.logAllRefUpdates', [['core.logAllRefUpdates', 'always']]],
  ['gc.auto', [['gc.auto', '1']]],
  [
    'color.ui',
    [
      ['color.ui', 'always'],
      ['color.push', 'always'],
    ],
  ],
])('%s', (_name, settings) => {
  it('does no harm', () => {
    ada.git(['tag', '-a', '-m', 'x', 'v1']);
    ada.git(['branch', 'private']);
    world.server.git(['config', 'receive.advertisePushOptions', 'true']);
    for (const clone of [ada, bob])
      for (const [key, value] of settings) clone.git(['config', '--add', key, value]);
    world.server.git(['tag', 'there', 'main']);
    const [here, there] = [otherRefs(ada), otherRefs(world.server)];
    ada.write(TOPIC, 'ada\n');
    ada.sync();
    bob.sync();
    bob.write(TOPIC, 'bob\n', ['--take']);
    bob.sync();
    ada.sync();
    expect(ada.note(TOPIC)).toBe('bob\n');
    expect(ada.list()).toEqual(bob.list());
    expect(ada.sync()).toContain('1 unchanged');
    // No branch or tag was transferred in either direction.
    expect(otherRefs(ada)).toBe(here);
    expect(otherRefs(world.server)).toBe(there);
    expect([...refValues(ada, 'refs/handoffs-remote').keys()]).toEqual([
      `refs/handoffs-remote/origin/main/${TOPIC}`,
    ]);
    expect(existsSync(join(ada.path, '.git', 'FETCH_HEAD'))).toBe(false);
  });
});

it('sync obeys url.<base>.insteadOf', () => {
  const base = world.server.url.replace(/server\.git$/, '');
  for (const clone of [ada, bob]) {
    clone.git(['config', `url.${base}.insteadOf`, 'work:']);
    clone.git(['remote', 'set-url', 'origin', 'work:server.git']);
  }
  ada.write(TOPIC, 'ada\n');
  ada.sync();
  expect(bob.sync()).toContain('1 fetched');
});

it('sync pushes to a remote’s pushurl', () => {
  const other = world.clone('Carol', { bare: true, folder: 'other.git' });
  ada.git(['config', 'remote.origin.pushurl', other.path]);
  ada.write(TOPIC, 'ada\n');
  ada.ok(['sync', '--push'], { session: ada.session });
  expect(other.handoffs().size).toBe(1);
  expect(world.server.handoffs().size).toBe(0);
});
