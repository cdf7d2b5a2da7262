import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HookAnswer, readAnswer } from '../support/hook-answer.ts';
import { LAUNCHER, type Run, TestRepository } from '../support/repository.ts';
import { A, B, TEN, refusal } from '../support/sharing-world.ts';

const GROUP = 3000;
const ANN = 2001;
const BOB = 2002;

/** Words to put before a program to run it as another user. */
const asUser = (user: number) => [
  'setpriv',
  '--reuid',
  String(user),
  '--regid',
  String(GROUP),
  '--groups',
  String(GROUP),
];

/** Why programs cannot be run as another user here; empty if they can. */
function whyNot(words: readonly string[]): string {
  const [program = '', ...rest] = words;
  const { error, status } = spawnSync(program, [...rest, 'true']);
  if (error !== undefined) return ` (skipped: ${program} is not installed)`;
  return status === 0 ? '' : ` (skipped: ${program} needs root)`;
}

let world: TestRepository;
afterEach(() => world.remove());

/** One hook call of a session. The words in `by` precede the launcher, to run it as another user. */
function hook(by: readonly string[], session: string, event: string, fields: object, env = {}): HookAnswer {
  const payload = { session_id: session, cwd: world.path, hook_event_name: event, ...fields };
  const words = [...by, LAUNCHER, 'guard', '--client', 'claude'];
  return readAnswer(world.run('env', words, { env, input: JSON.stringify(payload) }), event);
}

/** An edit by a file tool, which writes the file if the call is allowed. */
function edit(by: readonly string[], session: string, name: string, text: string, env = {}): HookAnswer {
  const tool = { tool_name: 'Write', tool_input: { file_path: join(world.path, name), content: text } };
  const answer = hook(by, session, 'PreToolUse', tool, env);
  if (answer.kind === 'deny') return answer;
  writeFileSync(join(world.path, name), text);
  hook(by, session, 'PostToolUse', tool, env);
  return answer;
}

const noSetpriv = whyNot(asUser(ANN));

describe.skipIf(noSetpriv !== '')(`two users who share a repository${noSetpriv}`, () => {
  /** Runs a program as a user, with the umask that such users have. */
  const as = (user: number, words: readonly string[], session?: string): Run =>
    world.run('sh', ['-c', 'umask 002; exec "$@"', 'sh', ...asUser(user), ...words], {
      env: homeOf(user),
      ...(session === undefined ? {} : { session }),
    });
  const homeOf = (user: number) => ({
    HOME: join(world.root, String(user)),
    TMPDIR: '/tmp',
    GIT_CONFIG_GLOBAL: join(world.home, '.gitconfig'),
  });
  const by = (user: number) => ['sh', '-c', 'umask 002; exec "$@"', 'sh', ...asUser(user)];

  beforeEach(() => {
    world = new TestRepository();
    chmodSync(world.root, 0o755);
    for (const user of [ANN, BOB]) {
      mkdirSync(join(world.root, String(user), '.claude'), { recursive: true });
      for (const path of ['', '.claude']) chownSync(join(world.root, String(user), path), user, GROUP);
    }
    world.git(['config', '--global', 'safe.directory', '*']);
    world.commit('files', { 'a.ts': TEN, 'b.ts': TEN });
    world.run('chown', ['-R', `${ANN}:${GROUP}`, '.']);
  });

  function share(): void {
    world.git(['config', 'core.sharedRepository', 'group']);
    world.run('chmod', ['-R', 'g+w', '.']);
    world.run('find', ['.', '-type', 'd', '-exec', 'chmod', 'g+s', '{}', '+']);
  }

  it('see each other, and neither commits what is the other’s', () => {
    share();
    expect(as(ANN, [LAUNCHER, 'init', '--yes'])).toMatchObject({ status: 0 });
    expect(as(BOB, [LAUNCHER, 'init', '--yes'])).toMatchObject({ status: 0 });
    hook(by(ANN), A, 'SessionStart', { source: 'startup' }, homeOf(ANN));
    hook(by(BOB), B, 'SessionStart', { source: 'startup' }, homeOf(BOB));
    edit(by(ANN), A, 'a.ts', 'of A\n', homeOf(ANN));
    edit(by(BOB), B, 'b.ts', 'of B\n', homeOf(BOB));
    expect(refusal(edit(by(BOB), B, 'a.ts', 'of B\n', homeOf(BOB)))).toContain('claude aaaaaaaa');
    expect(as(BOB, ['git', 'commit', '-qam', 'mixed'], B)).toMatchObject({ status: 1 });
    expect(as(ANN, ['git', 'commit', '-qam', 'mixed'], A)).toMatchObject({ status: 1 });
    expect(as(BOB, [LAUNCHER, 'commit', '-m', 'of B'], B)).toMatchObject({ status: 0 });
    expect(as(ANN, [LAUNCHER, 'commit', '-m', 'of A'], A)).toMatchObject({ status: 0 });
    expect(world.git(['log', '-2', '--format=%s', '--name-only'])).toBe('of A\n\na.ts\nof B\n\nb.ts');
    for (const [user, session] of [
      [ANN, A],
      [BOB, B],
    ] as const) {
      expect(as(user, [LAUNCHER, 'try', 'true'], session)).toMatchObject({ status: 0 });
      expect(as(user, [LAUNCHER, 'write', `parser-${user}`, '-m', 'done'], session)).toMatchObject({
        status: 0,
      });
      expect(as(user, [LAUNCHER, 'status'], session)).toMatchObject({ status: 0, stderr: '' });
      expect(as(user, [LAUNCHER, 'doctor', '--json'], session).stdout).not.toContain('"check":"shared"');
    }
  });

  it('see each other if one is root, as in a container, and no file of root is in the way', () => {
    expect(as(ANN, [LAUNCHER, 'init', '--yes'])).toMatchObject({ status: 0 });
    hook([], A, 'SessionStart', { source: 'startup' });
    hook(by(ANN), B, 'SessionStart', { source: 'startup' }, homeOf(ANN));
    edit([], A, 'a.ts', 'of A\n');
    expect(refusal(edit(by(ANN), B, 'a.ts', 'of B\n', homeOf(ANN)))).toContain('claude aaaaaaaa');
    expect(as(ANN, ['git', 'commit', '-qam', 'mixed'], B)).toMatchObject({ status: 1 });
    world.ok(['write', 'parser', '-m', 'of root'], { session: A });
    expect(as(ANN, [LAUNCHER, 'write', 'lexer', '-m', 'of Ann'], B)).toMatchObject({ status: 0 });
    const ofRoot = ['.git/handoff', '.git/refs', '.git/logs', '.git/objects'];
    expect(world.run('find', [...ofRoot, '-type', 'd', '-user', 'root']).stdout).toBe('');
  });

  it('can both write even if root may not change the owner of files', () => {
    expect(as(ANN, [LAUNCHER, 'init', '--yes'])).toMatchObject({ status: 0 });
    const helpless = ['setpriv', '--bounding-set', '-chown', '--inh-caps', '-chown'];
    const context = hook(helpless, A, 'SessionStart', { source: 'startup' });
    expect(context).toMatchObject({ kind: 'context' });
    const words = [...helpless, LAUNCHER, 'write', 'parser', '-m', 'of root'];
    expect(world.run('env', words, { session: A })).toMatchObject({ status: 0, stderr: '' });
  });

  it('cannot see each other through a folder of an earlier version, and doctor opens it', () => {
    share();
    expect(as(ANN, [LAUNCHER, 'init', '--yes'])).toMatchObject({ status: 0 });
    const folder = join(world.path, '.git', 'handoff');
    chmodSync(folder, 0o700);
    const doctor = (user: number, ...words: string[]) => as(user, [LAUNCHER, 'doctor', ...words]).stdout;
    expect(doctor(BOB)).toContain(
      `problem  shared          others may write to this repository, but ${folder} is closed to them; its owner can open it`,
    );
    doctor(ANN, '--fix');
    expect(statSync(folder).mode & 0o7777).toBe(0o2770);
    expect(doctor(BOB)).not.toContain('problem  shared');
  });
});

const unshare = ['unshare', '--pid', '--fork', '--mount-proc'];
const noUnshare = whyNot(unshare);

describe.skipIf(noUnshare !== '')(`two containers, each with its own pid namespace${noUnshare}`, () => {
  beforeEach(() => {
    world = new TestRepository();
    world.commit('files', { 'a.ts': TEN, 'b.ts': TEN });
    world.ok(['init', '--yes']);
  });

  it('never mistake a session for their own, or for dead, because of its pid', () => {
    for (const session of [A, B]) hook(unshare, session, 'SessionStart', { source: 'startup' });
    edit(unshare, A, 'a.ts', 'of A\n');
    expect(refusal(edit(unshare, B, 'a.ts', 'of B\n'))).toContain('claude aaaaaaaa');
    expect(world.json(['sessions']).items.map(({ liveness }) => liveness)).toEqual(['live', 'live']);
    const words = [...unshare, 'git', 'commit', '-qam', 'mixed'];
    expect(world.run('env', words, { session: B })).toMatchObject({ status: 1 });
    expect(world.run('env', words, { session: A })).toMatchObject({ status: 0 });
  });
});
