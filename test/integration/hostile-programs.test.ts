import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CANARIES, plant } from '../support/canaries.ts';
import { HostileWorld, PLAIN, type Said } from '../support/hostile-world.ts';
import { A, B } from '../support/sharing-world.ts';

let world: HostileWorld;
let plain: readonly Said[];
beforeAll(() => {
  world = new HostileWorld();
  // A signed commit, for what would look at signatures.
  const body = `tree ${world.git(['rev-parse', 'HEAD^{tree}'])}\nauthor A <a@b> 0 +0000\ncommitter A <a@b> 0 +0000\n`;
  const signature = 'gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n';
  const signed = world.git(['hash-object', '-t', 'commit', '-w', '--stdin'], {
    input: `${body}${signature}\nsigned\n`,
  });
  world.git(['update-ref', 'refs/heads/signed', signed]);
  world.save();
  plain = world.everything();
});
beforeEach(() => world.restore());
afterAll(() => world.remove());

/** Hooks of another folder and settings of a stranger are told by doctor, and its log counts what ran. */
const comparable = (said: readonly Said[]) => said.filter(({ call }) => !call.startsWith('doctor'));

describe('a program that the repository names', () => {
  it.each(CANARIES.filter(({ control }) => control !== undefined))(
    'would be run by git itself: $name',
    (one) => {
      plant(world, one);
      world.run('bash', ['-c', one.control ?? '']);
      expect(world.canaries()).toEqual([one.name.replaceAll(' ', '-')]);
    },
  );

  it('is run by no verb, no hook of a client and no git hook of ours, and misleads none', () => {
    for (const one of CANARIES) plant(world, one);
    // What planting left in the working tree is not the question.
    const files = CANARIES.flatMap(({ files = {} }) => Object.keys(files)).filter(
      (path) => !path.startsWith('.git/'),
    );
    world.run('bash', [
      '-c',
      `printf '%s\\n' ${files.map((path) => `/${path}`).join(' ')} >>.git/info/exclude`,
    ]);
    const said = world.everything();
    expect(world.canaries()).toEqual([]);
    expect(comparable(said)).toEqual(comparable(plain));
    const doctor = said.find(({ call }) => call.startsWith('doctor'))?.stdout ?? '';
    expect(doctor.match(/is not what git-handoff writes there: it was not tried/g)).toHaveLength(3);
    expect(doctor).toContain('isomorphic-git reads what git reads');
  });

  it('is not run for a note of a branch that was rewritten and squashed', () => {
    const note = '# Important files\n- src/b.ts\n- gone.txt\n- moved.txt\n- src/a.ts\n';
    world.git(['stash', '-q', '--include-untracked']);
    world.git(['switch', '-q', 'side']);
    world.commit('one', { 'src/b.ts': 'one\n', 'one.txt': '1\n' });
    world.ok(['write', 'login-flow'], { session: A, input: note });
    world.git(['rm', '-q', 'gone.txt']);
    world.git(['mv', 'moved.txt', 'elsewhere.txt']);
    world.git(['commit', '-q', '--amend', '--no-verify', '-m', 'other']);
    world.git(['switch', '-q', 'main']);
    world.git(['merge', '-q', '--squash', 'side']);
    world.git(['commit', '-q', '--no-verify', '-m', 'squashed']);
    world.git(['switch', '-q', 'side']);
    for (const one of CANARIES) plant(world, one);
    const { stdout, status } = world.handoff(['boot', '--json'], { session: B });
    expect(status).toBe(1);
    const codes = (JSON.parse(stdout) as { findings: { code: string }[] }).findings.map(({ code }) => code);
    expect(codes).toEqual(
      expect.arrayContaining(['branch-squashed', 'head-replaced', 'file-missing', 'file-moved']),
    );
    world.git([...PLAIN, 'branch', '-m', 'side-2']);
    world.ok(['list']);
    world.handoff(['boot', 'side/login-flow'], { session: B });
    expect(world.canaries()).toEqual([]);
  });

  it('is not run on a terminal either', () => {
    for (const one of CANARIES) plant(world, one);
    for (const verb of [
      'list',
      'boot',
      'show auth-refresh',
      'log auth-refresh',
      'status',
      'sessions',
      'doctor',
      'check HEAD',
    ]) {
      const run = world.bounded(
        ['-qec', `git handoff ${verb}`, '/dev/null'],
        { env: { TERM: 'xterm' } },
        '/usr/bin/script',
      );
      expect(run.stdout, verb).not.toMatch(/^error|fatal|Password|Username/m);
    }
    expect(world.canaries()).toEqual([]);
  });
});

describe('a partial clone', () => {
  it('asks its remote for nothing, whatever object is missing', () => {
    world.configure({
      'core.repositoryFormatVersion': '1',
      'extensions.partialClone': 'evil',
      'remote.evil.promisor': 'true',
      'remote.evil.url': `ext::touch ${world.canary('connection')}`,
      'protocol.ext.allow': 'always',
    });
    const missing = 'deadbeef'.repeat(5);
    world.run('git', ['cat-file', '-e', missing], { env: { GIT_NO_LAZY_FETCH: '0' } });
    expect(world.canaries()).toEqual(['connection']);
    world.run('rm', [world.canary('connection')]);

    expect(comparable(world.everything())).toEqual(comparable(plain));
    for (const words of [
      ['show', 'auth-refresh', '--at', missing],
      ['check', missing],
      ['check', `${missing}..HEAD`],
      ['write', 'auth-refresh', '-m', 'x', '--expect', missing],
      ['take', 'auth-refresh', '--expect', missing],
    ]) {
      expect([1, 2, 3, 4, 6], words.join(' ')).toContain(world.bounded(words).status);
    }
    const hook = join(import.meta.dirname, '..', '..', 'git-hooks', 'pre-push');
    const head = world.git(['rev-parse', 'HEAD']);
    const input = `refs/heads/main ${head} refs/heads/main ${missing}\nrefs/heads/x ${missing} refs/heads/x ${head}\n`;
    world.bounded(['evil', 'x'], { input, session: B }, hook);
    expect(world.canaries()).toEqual([]);
  });
});

describe('a clean filter that the attributes name', () => {
  it('is run as by git status, its smudge filter never, and no work is missed', () => {
    const clean = `sh -c "touch ${world.canary('clean')}; cat"`;
    world.configure({ 'filter.x.clean': clean, 'filter.x.smudge': `touch ${world.canary('smudge')}` });
    world.write(A, 'a.fil', 'filtered\n');
    expect(world.ok(['status'], { session: A })).toContain('a.fil');
    expect(world.canaries()).toEqual(['clean']);
  });
});
