import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hostileCases } from '../support/hostile-cases.ts';
import { HostileWorld, type Output, type SettingCase } from '../support/hostile-world.ts';
import { IS_MAC } from '../support/repository.ts';
import { A, B } from '../support/sharing-world.ts';

const cases = hostileCases<SettingCase>('git-config-env.json');
/** The cases with settings. On a Mac, git sets core.ignoreCase itself, and here two files differ only in case. */
const settings = cases.filter(
  ({ config = {} }) =>
    Object.keys(config).length > 0 && !(IS_MAC && Object.hasOwn(config, 'core.ignoreCase')),
);
const isSame = ({ expect: wanted }: SettingCase) => wanted.startsWith('same-');

/** More settings of the same kinds, beyond the corpus: for what git shows, hides, warns about or rewrites. */
const FURTHER: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'what status shows': {
    'status.showUntrackedFiles': 'no',
    'status.renames': 'copies',
    'status.relativePaths': 'true',
    'status.submoduleSummary': 'true',
    'status.branch': 'true',
    'status.showStash': 'true',
    'status.aheadBehind': 'false',
    'status.short': 'true',
    'status.displayCommentPrefix': 'true',
  },
  'what diff shows': {
    'diff.renames': 'copies',
    'diff.ignoreSubmodules': 'all',
    'diff.relative': 'true',
    'diff.noprefix': 'true',
    'diff.orderFile': '/nonexistent',
    'diff.algorithm': 'patience',
    'diff.context': '0',
    'diff.interHunkContext': '9',
    'diff.dirstat': 'lines',
    'diff.submodule': 'log',
    'diff.wordRegex': '.',
    'diff.colorMoved': 'zebra',
    'diff.autoRefreshIndex': 'false',
  },
  'what log shows': {
    'log.follow': 'true',
    'log.mailmap': 'false',
    'log.diffMerges': 'combined',
    'log.abbrevCommit': 'true',
    'log.date': 'relative',
    'format.pretty': 'fuller',
    'format.notes': 'true',
    'notes.displayRef': 'refs/notes/*',
    'blame.date': 'iso',
  },
  'the message': {
    'core.commentChar': 'C',
    'trailer.separators': '%',
    'trailer.ifexists': 'replace',
    'trailer.where': 'start',
    'trailer.claude-session-id.key': 'Other-Key',
    'i18n.commitEncoding': 'UTF-16',
    'i18n.logOutputEncoding': 'UTF-16',
    'commit.template': '/nonexistent',
    'commit.cleanup': 'verbatim',
    'commit.verbose': 'true',
  },
  colours: {
    'color.ui': 'always',
    'color.status': 'always',
    'color.diff': 'always',
    'color.branch': 'always',
    'color.showBranch': 'always',
    'column.ui': 'always',
  },
  'the index': {
    'feature.manyFiles': 'true',
    'feature.experimental': 'true',
    'index.version': '4',
    'index.threads': '4',
    'core.untrackedCache': 'true',
    'core.splitIndex': 'true',
    // With `true`, git itself loses the shared part of a split index (seen with 2.55).
    'index.skipHash': 'false',
    'core.preloadIndex': 'false',
    'index.recordEndOfIndexEntries': 'true',
  },
  names: {
    ...(IS_MAC ? {} : { 'core.ignoreCase': 'true' }),
    'core.precomposeUnicode': 'true',
    'core.quotePath': 'true',
    'core.protectNTFS': 'true',
    'core.protectHFS': 'true',
    'core.abbrev': 'no',
    'core.warnAmbiguousRefs': 'true',
  },
  objects: {
    'core.bigFileThreshold': '1',
    'core.compression': '0',
    'core.looseCompression': '0',
    'transfer.unpackLimit': '1',
    'transfer.fsckObjects': 'true',
    'fsck.skipList': '/nonexistent',
    'pack.packSizeLimit': '1',
    'core.deltaBaseCacheLimit': '1',
    'core.commitGraph': 'false',
    'core.multiPackIndex': 'false',
    'core.logAllRefUpdates': 'false',
    'transfer.hideRefs': 'refs/handoffs',
    'gc.auto': '1',
    'gc.autoDetach': 'false',
    'maintenance.auto': 'true',
  },
  merging: {
    'merge.conflictStyle': 'zdiff3',
    'merge.renames': 'false',
    'rerere.enabled': 'true',
    'submodule.recurse': 'true',
    'apply.whitespace': 'fix',
    'core.whitespace': 'trailing-space,cr-at-eol',
    'checkout.guess': 'false',
    'pull.rebase': 'true',
    'push.default': 'nothing',
    'push.recurseSubmodules': 'check',
    'help.autoCorrect': 'immediate',
    'core.safecrlf': 'true',
    'url.ext::x.insteadOf': '/',
  },
};

let world: HostileWorld;
let plain: readonly Output[];
let plainBrief: readonly Output[];
beforeAll(() => {
  world = new HostileWorld();
  world.save();
  plain = world.everything();
  world.restore();
  plainBrief = world.brief();
});
beforeEach(() => world.restore());
afterAll(() => world.remove());

const filled = (config: SettingCase['config'] = {}) =>
  Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key, value.replaceAll('@PWN@', world.canary('corpus'))]),
  );

describe('a setting of the repository changes no output and no file', () => {
  it.each(settings.filter(isSame))('$id $why', ({ config }) => {
    world.configure(filled(config));
    expect(world.brief()).toEqual(plainBrief);
  });

  it('of any verb, event or hook, with all of them set', () => {
    for (const { config } of settings.filter(isSame)) world.configure(filled(config));
    expect(world.everything()).toEqual(plain);
  });

  it('of any verb, event or hook, with more settings of all kinds', () => {
    for (const config of Object.values(FURTHER)) world.configure(config);
    expect(world.everything()).toEqual(plain);
  });

  it('even if it is in the user’s own file', () => {
    const own = join(world.root, 'own.config');
    writeFileSync(own, '');
    for (const [key, value] of Object.entries(Object.assign({}, ...Object.values(FURTHER)) as object))
      world.run('git', ['config', '--file', own, key, String(value)]);
    world.run('git', ['config', '--file', own, 'include.path', join(world.home, '.gitconfig')]);
    expect(world.everything({ GIT_CONFIG_GLOBAL: own })).toEqual(plain);
  });
});

describe('core.safecrlf=true', () => {
  it('does not stop contents with mixed line ends from being kept', () => {
    world.configure({ 'core.autocrlf': 'true', 'core.safecrlf': 'true' });
    world.write(A, 'mixed.txt', 'one\r\ntwo\n');
    const claim = world.ledger(A).find(({ t, path }) => t === 'claim' && path === 'mixed.txt');
    const { oid = '' } = (claim?.['after'] ?? {}) as { oid?: string };
    const env = { GIT_ALTERNATE_OBJECT_DIRECTORIES: join(world.path, '.git/handoff/objects') };
    expect(world.git(['cat-file', 'blob', oid], { env })).toBe('one\ntwo');
  });
});

describe('a setting that names a program', () => {
  it.each(settings.filter(({ expect: wanted }) => wanted === 'no-exec'))('$id $why', ({ config }) => {
    world.configure(filled(config));
    expect(world.brief()).toEqual(plainBrief);
    expect(world.canaries()).toEqual([]);
  });
});

describe('a setting that makes git refuse', () => {
  const unclear = /^error: git \S+ failed|^\s+at |internal/m;

  it.each(settings.filter(({ expect: wanted }) => wanted === 'works-or-clear-error'))(
    '$id $why',
    ({ config }) => {
      world.configure(filled(config));
      const said = world.brief().filter(({ call }) => !/^(?:tree|message) of /.test(call));
      for (const { call, status, stderr } of said) {
        expect([0, 1, 2, 3, 7], `${call}\n${stderr}`).toContain(status);
        expect(stderr).not.toMatch(unclear);
        if (status !== 0) expect(stderr, call).toMatch(/^(?:error: .*\nhint: .*\n)$|^$/);
      }
      // Nothing was lost: once the setting is removed, everything is as before.
      for (const key of Object.keys(config ?? {}))
        world.run('git', ['config', '--file', '.git/config', '--unset', key]);
      expect(world.ok(['show', 'auth-refresh', '--raw'])).toBe('# Goal\n\nÜmläut of A');
    },
  );

  it('GE051 receive.denyDeletes: a deletion by push is refused, and nothing is lost', () => {
    const remote = join(world.root, 'remote.git');
    world.git(['clone', '-q', '--bare', world.path, remote]);
    world.git(['push', '-q', remote, 'refs/handoffs/*:refs/handoffs/*']);
    world.git(['config', 'receive.denyDeletes', 'true'], { cwd: remote });
    const { stderr } = world.run('git', ['push', remote, ':refs/handoffs/main/auth-refresh']);
    expect(stderr).toContain('error: refs/handoffs/main/auth-refresh: deleted\n');
    expect(world.git(['for-each-ref', 'refs/handoffs'], { cwd: remote })).toContain('auth-refresh');
    world.configure({ 'receive.denyDeletes': 'true' });
    expect(world.brief()).toEqual(plainBrief);
  });

  it.each(['DIRC', 'es\0\0'.repeat(16)])('an index that git cannot read is reported as such: %j', (bytes) => {
    writeFileSync(join(world.path, '.git/index'), bytes);
    expect(world.handoff(['status'])).toMatchObject({
      status: 7,
      stderr: expect.stringMatching(/^error: .*\nhint: .*git rev-parse --git-path index\n$/) as string,
    });
  });

  it('GE059 core.filesRefLockTimeout=0: the refusal names the lock, the text is kept, nothing is lost', () => {
    world.configure({ 'core.filesRefLockTimeout': '0' });
    const lock = join(world.path, '.git/refs/handoffs/main/auth-refresh.lock');
    writeFileSync(lock, '');
    const { status, stderr } = world.handoff(['write', 'auth-refresh', '-m', 'precious'], { session: A });
    expect({ status, stderr }).toMatchObject({
      status: 7,
      stderr: expect.stringMatching(/^error: .*lock.*\nhint: git handoff doctor\n/s) as string,
    });
    const kept = /print it with: (.*)/.exec(stderr)?.[1] ?? /kept in (\S+)/.exec(stderr)?.[1] ?? '';
    expect(kept, stderr).not.toBe('');
    rmSync(lock);
    expect(world.ok(['show', 'auth-refresh', '--raw'])).toBe('# Goal\n\nÜmläut of A');
    expect(world.handoff(['write', 'auth-refresh', '-m', 'again'], { session: A }).status).toBe(0);
  });

  it('GE062 user.useConfigOnly without an identity: sessions work, a person hears what to type', () => {
    const env = { HOME: join(world.root, 'empty') };
    world.configure({ 'user.useConfigOnly': 'true' });
    world.git(['config', '--file', '.git/config', '--unset', 'core.logAllRefUpdates']);
    const said = world.brief(env);
    expect(said.map(({ status }) => status)).toEqual(plainBrief.map(({ status }) => status));
    const person = world.handoff(['write', 'of-person', '-m', 'x'], { env });
    expect(person).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('hint: git config user.email') as string,
    });
  });
});

describe('a setting that lets a fetch or gc remove refs', () => {
  const tips = () => world.git(['for-each-ref', '--format=%(objectname)', 'refs/handoffs']).split('\n');
  const isReachable = (oid: string) =>
    world
      .run('git', ['rev-list', '--glob=refs/handoffs*', '--glob=refs/handoffs-local/kept/*'])
      .stdout.includes(oid);
  const remoteOf = () => {
    const remote = join(world.root, 'origin.git');
    rmSync(remote, { recursive: true, force: true });
    world.git(['clone', '-q', '--bare', world.path, remote]);
    world.git(['remote', 'add', 'origin', remote]);
    // The remote has another handoff, which nobody here wrote.
    const other = world.git(['commit-tree', 'HEAD^{tree}', '-m', 'other']);
    world.git(['push', '-q', '--no-verify', 'origin', `${other}:refs/handoffs/main/auth-refresh`]);
    world.git(['push', '-q', '--no-verify', 'origin', `${other}:refs/handoffs/main/third-topic`]);
    world.git(['checkout', '-q', '-f', '--detach']);
  };

  it('GE042 gc.pruneExpire=now', () => {
    world.configure({
      'gc.pruneExpire': 'now',
      'gc.reflogExpire': 'now',
      'gc.reflogExpireUnreachable': 'now',
    });
    world.stop(A);
    world.ok(['take', 'auth-refresh'], { session: B });
    world.handoff(['write', 'auth-refresh', '-m', 'lost text'], { session: A });
    const before = tips();
    world.git(['gc', '-q']);
    for (const oid of before) expect(isReachable(oid)).toBe(true);
    expect(world.ok(['show', 'auth-refresh', '--lost=1'])).toBe('lost text');
    expect(world.ok(['status'], { session: B })).toContain('src/b.ts');
    expect(world.json(['doctor']).items).not.toContainEqual(expect.objectContaining({ status: 'problem' }));
  });

  it('GE045 remote.origin.prune', () => {
    remoteOf();
    const before = tips();
    world.configure({ 'remote.origin.prune': 'true', 'fetch.prune': 'true' });
    world.git(['fetch', '-q', 'origin']);
    expect(tips()).toEqual(before);
  });

  it.each(['false', 'true'])('GE047 remote.origin.fetch=+refs/*:refs/*, prune=%s', (prune) => {
    remoteOf();
    const before = tips();
    world.configure({ 'remote.origin.fetch': '+refs/*:refs/*', 'remote.origin.prune': prune });
    const { items } = world.json(['doctor']);
    const found = items.find(({ check }) => check === 'remotes');
    expect(found).toMatchObject({ status: prune === 'true' ? 'problem' : 'warning' });
    if (prune === 'false') {
      world.git(['fetch', '-q', 'origin']);
      for (const oid of before) expect(isReachable(oid)).toBe(true);
      expect(world.ok(['show', 'main/auth-refresh', '--raw'])).toBe('# Goal\n\nÜmläut of A');
    }
    // The command in doctor's hint must solve the problem.
    expect(world.run('bash', ['-c', String(found?.['hint'])]).status).toBe(0);
    expect(world.json(['doctor']).items.filter(({ check }) => check === 'remotes')).toEqual([]);
    world.git(['fetch', '-q', 'origin']);
    for (const oid of before) expect(isReachable(oid)).toBe(true);
  });
});
