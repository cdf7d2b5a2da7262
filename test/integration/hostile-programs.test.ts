import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HostileWorld, PLAIN, type Output } from '../support/hostile-world.ts';
import { A, B, SED_IN_PLACE } from '../support/sharing-world.ts';

/** A way in which a repository names a program. */
interface Canary {
  readonly name: string;
  /** The settings that name the program, which makes the file `@PWN@`. */
  readonly config?: Readonly<Record<string, string>>;
  /** Files to make first; scripts are executable. `@PWN@` as above. */
  readonly files?: Readonly<Record<string, string>>;
  /** A git command that does run the program, to show that it can be run at all. */
  readonly control?: string;
}

const touch = 'touch @PWN@;:';
/** A driver that reads its input, so that git does not fail. */
const driver = 'sh -c "touch @PWN@; cat \\"$1\\"" -';
const script = '#!/bin/sh\ntouch @PWN@\n';

/** Programs that git would start for our commands if we did not prevent it. */
const CANARIES: readonly Canary[] = [
  { name: 'fsmonitor', config: { 'core.fsmonitor': touch }, control: 'git status' },
  {
    name: 'hooksPath',
    config: { 'core.hooksPath': 'evil-hooks' },
    files: Object.fromEntries(
      ['reference-transaction', 'post-index-change', 'pre-commit', 'prepare-commit-msg', 'pre-push'].map(
        (hook) => [`evil-hooks/${hook}`, script],
      ),
    ),
    control: 'git update-ref refs/heads/control HEAD',
  },
  {
    name: 'sshCommand',
    config: { 'core.sshCommand': touch, 'remote.ssh.url': 'ssh://localhost/x', 'branch.main.remote': 'ssh' },
    control: 'git fetch ssh',
  },
  {
    name: 'gitProxy',
    config: { 'core.gitProxy': 'touch @PWN@ --', 'remote.proxy.url': 'git://localhost/x' },
    files: { 'proxy.sh': script },
  },
  {
    name: 'remote helper',
    config: {
      'remote.ext.url': 'ext::touch @PWN@',
      'remote.ext.promisor': 'true',
      'protocol.allow': 'always',
      'protocol.ext.allow': 'always',
    },
    control: 'git fetch ext',
  },
  {
    name: 'credential helper',
    config: { 'credential.helper': '!touch @PWN@;:' },
    control: 'echo url=https://localhost | git credential fill',
  },
  {
    name: 'askPass',
    config: { 'core.askPass': './ask.sh' },
    files: { 'ask.sh': script },
    control: 'echo url=https://localhost | git -c credential.helper= credential fill',
  },
  {
    name: 'gpg',
    config: { 'gpg.program': './gpg.sh', 'log.showSignature': 'true', 'commit.gpgSign': 'true' },
    files: { 'gpg.sh': script },
    control: 'git log -1 signed',
  },
  {
    name: 'ssh signatures',
    config: {
      'gpg.ssh.program': './ssh.sh',
      'gpg.ssh.defaultKeyCommand': 'touch @PWN@',
    },
    files: { 'ssh.sh': script },
    control: 'git -c gpg.format=ssh commit-tree -S -m x HEAD^{tree}',
  },
  {
    name: 'trailer.command',
    config: { 'trailer.session-id.key': 'Claude-Session-Id', 'trailer.session-id.command': touch },
    control: 'echo | git interpret-trailers --trailer session-id=x',
  },
  {
    name: 'trailer.cmd',
    config: { 'trailer.claude-session-id.cmd': touch },
    control: 'echo | git interpret-trailers --trailer claude-session-id=x',
  },
  {
    name: 'external diff',
    config: { 'diff.external': touch },
    control: 'git diff src/a.ts',
  },
  {
    name: 'diff driver',
    config: { 'diff.evil.command': touch },
    files: { '.git/info/attributes': '*.ts diff=evil\n' },
    control: 'git diff src/a.ts',
  },
  {
    name: 'textconv',
    config: { 'diff.text.textconv': driver },
    files: { '.git/info/attributes': '*.txt diff=text\n' },
    control: 'git diff HEAD~3 -- gone.txt',
  },
  {
    name: 'merge driver',
    config: { 'merge.evil.driver': touch },
    files: { '.git/info/attributes': '*.ts merge=evil\n' },
    control: `git checkout -q -f -B m1 && ${SED_IN_PLACE} 1d src/b.ts && git commit -qam 1
      git checkout -q -B m2 HEAD~ && ${SED_IN_PLACE} 2d src/b.ts && git commit -qam 2 && git merge m1`,
  },
  {
    name: 'pager',
    config: { 'core.pager': touch, 'pager.log': touch },
    control: process.platform === 'linux' ? 'script -qec "git log" /dev/null' : 'script -q /dev/null git log',
  },
  {
    name: 'editor',
    config: { 'core.editor': touch, 'sequence.editor': touch },
    control: 'git commit --allow-empty',
  },
  { name: 'alias of ours', config: { 'alias.handoff': '!touch @PWN@' } },
  {
    name: 'alias of a command',
    config: { 'alias.update-ref': '!touch @PWN@', 'alias.status': '!touch @PWN@' },
  },
  { name: 'alias', config: { 'alias.stat': '!touch @PWN@' }, control: 'git stat' },
  { name: 'pack-objects hook', config: { 'uploadpack.packObjectsHook': 'touch @PWN@' } },
  { name: 'refs of alternates', config: { 'core.alternateRefsCommand': 'touch @PWN@' } },
  { name: 'gc hook', config: { 'gc.recentObjectsHook': 'touch @PWN@', 'gc.auto': '1' } },
  {
    name: 'included file',
    config: { 'include.path': '../evil.config' },
    files: { 'evil.config': '[core]\n\tfsmonitor = "touch @PWN@;:"\n' },
  },
  {
    name: 'worktree settings',
    config: { 'extensions.worktreeConfig': 'true' },
    files: { '.git/config.worktree': '[core]\n\tfsmonitor = "touch @PWN@;:"\n' },
    control: 'git status',
  },
  {
    name: 'configured hook',
    config: { 'hook.evil.command': 'touch @PWN@', 'hook.evil.event': 'reference-transaction' },
  },
  {
    name: 'client settings',
    files: {
      '.claude/settings.json': settings('touch @PWN@; git-handoff guard --client claude'),
      '.claude/settings.local.json': settings(
        'p=\'@PWN@.sh\'; [ -x "$p" ] || exit 0; exec "$p" guard --client claude # git-handoff guard',
      ),
      '.gemini/settings.json': settings('touch @PWN@ # git-handoff guard --client gemini'),
    },
  },
];

function settings(command: string): string {
  return JSON.stringify({ hooks: { PreToolUse: [{ hooks: [{ type: 'command', command }] }] } });
}

/** Sets a canary up in a world. */
function plant(world: HostileWorld, { name, config = {}, files = {} }: Canary): void {
  const fill = (text: string) => text.replaceAll('@PWN@', world.canary(name.replaceAll(' ', '-')));
  for (const [path, content] of Object.entries(files)) {
    const file = join(world.path, path);
    mkdirSync(dirname(file), { recursive: true });
    if (content.startsWith('#!')) {
      writeFileSync(file, fill(content));
      chmodSync(file, 0o755);
    } else appendFileSync(file, fill(content));
  }
  world.configure(Object.fromEntries(Object.entries(config).map(([key, value]) => [key, fill(value)])));
}

let world: HostileWorld;
let plain: readonly Output[];
beforeAll(() => {
  world = new HostileWorld();
  // A signed commit, for programs that check signatures.
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

/** Leaves out doctor, because it rightly reports foreign hooks and settings, and counts the calls in its log. */
const comparable = (said: readonly Output[]) => said.filter(({ call }) => !call.startsWith('doctor'));

describe('a program that the repository names', () => {
  it.each(CANARIES.filter(({ control }) => control !== undefined))(
    'would be run by git itself: $name',
    (one) => {
      plant(world, one);
      world.run('bash', ['-c', one.control ?? '']);
      expect(world.canaries()).toEqual([one.name.replaceAll(' ', '-')]);
    },
  );

  it('is run by no verb, client hook or git hook of ours, and misleads none', () => {
    for (const one of CANARIES) plant(world, one);
    // git must ignore the files that planting leaves in the working tree.
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
    expect(doctor).toContain('of handoffs, all readable');
  });

  it('is not run for a note whose branch was rewritten and squashed', () => {
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
      expect.arrayContaining(['branch-squashed', 'head-diverged', 'file-missing', 'file-moved']),
    );
    world.git([...PLAIN, 'branch', '-m', 'side-2']);
    world.ok(['list']);
    world.handoff(['boot', 'side/login-flow'], { session: B });
    expect(world.canaries()).toEqual([]);
  });

  it('is not run on a terminal, either', () => {
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
  it('fetches nothing from its remote, whatever object is missing', () => {
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

describe('a filter that the attributes name', () => {
  it('is run to clean, as by git status, but never to smudge, and no work is missed', () => {
    const clean = `sh -c "touch ${world.canary('clean')}; cat"`;
    world.configure({ 'filter.x.clean': clean, 'filter.x.smudge': `touch ${world.canary('smudge')}` });
    world.write(A, 'a.fil', 'filtered\n');
    expect(world.ok(['status'], { session: A })).toContain('a.fil');
    expect(world.canaries()).toEqual(['clean']);
  });
});
