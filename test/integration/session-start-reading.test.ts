import { mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClientProcess } from '../support/client-process.ts';
import { SharingWorld } from '../support/sharing-world.ts';

const READER = 'cccccccc-2222-4333-8444-555555555555';
const GONE = 'dddddddd-2222-4333-8444-555555555555';
let world: SharingWorld;
const calls = () => join(world.home, 'git-calls');
/** What the launcher's last guess is kept in. */
const first = () => join(world.path, '.git', 'handoff', 'first');
/** So many seconds newer than now. */
const touch = (seconds: number) =>
  utimesSync(first(), seconds + Date.now() / 1000, seconds + Date.now() / 1000);

beforeEach(() => {
  world = new SharingWorld({ calls: 'process' });
  world.begin(READER);
  for (const topic of ['auth-refresh', 'retry-queue']) {
    world.ok(['write', topic, '-m', `goal: do ${topic}`], { session: 'writer-1' });
  }
});
afterEach(() => world.remove());

/** A `git` before the real one: it notes its call, and may spoil what the launcher asks for. */
function withGit(spoil = ''): string {
  const folder = join(world.home, 'bin');
  mkdirSync(folder, { recursive: true });
  const real = (process.env['PATH'] ?? '').split(':').map((one) => join(one, 'git'));
  const script = `#!/bin/sh
git=$(for one in ${real.join(' ')}; do [ -x "$one" ] && echo "$one" && break; done)
echo "$*" >>'${calls()}'
${spoil}
exec "$git" "$@"
`;
  writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
  rmSync(calls(), { force: true });
  return `${folder}:${process.env['PATH'] ?? ''}`;
}

/** What the session is told, without the random boundary, and how often Node itself asked for refs. */
function start(PATH: string) {
  const payload = { cwd: world.path, session_id: READER, hook_event_name: 'SessionStart', source: 'startup' };
  const run = world.guard(payload, { env: { PATH } });
  const all = readFileSync(calls(), 'utf8').split('\n');
  const listed = all.filter((line) => line.includes('for-each-ref'));
  return {
    text: run.stdout.replaceAll(/\[[0-9a-f]{16}\]/g, '[]'),
    byNode: listed.filter((line) => !line.startsWith('-C ')).length,
    byLauncher: listed.filter((line) => line.startsWith('-C ')).length,
    /** Objects that Node asked for itself. */
    reads: all.filter((line) => line.includes('cat-file') && !line.startsWith('-C ')).length,
  };
}

describe.runIf(process.platform === 'linux')('what a session is told at its start', () => {
  it('is listed by the launcher, and by nobody else', () => {
    const { text, ...counts } = start(withGit());
    expect(text).toContain('main/auth-refresh');
    expect(text).toContain('do retry-queue');
    expect(counts).toEqual({ byNode: 0, byLauncher: 5, reads: 0 });
  });

  it('names those of this branch that may be the same work', () => {
    world.git(['branch', 'other']);
    for (const topic of ['auth-refresh-again', 'other/auth-refresh-there']) {
      world.ok(['write', topic, '-m', 'goal: do it'], { session: 'writer-1' });
    }
    const [line = ''] = /may be the same work: .*?(?=\\n)/.exec(start(withGit()).text) ?? [];
    expect(line.split(/[ ,]+/).slice(5).sort()).toEqual(['main/auth-refresh', 'main/auth-refresh-again']);
  });

  it('has the texts of a branch with a slash, too', () => {
    world.git(['checkout', '-q', '-b', 'feature/log']);
    for (const topic of ['log-rotation', 'log-format']) {
      world.ok(['write', topic, '-m', `goal: do ${topic}`], { session: 'writer-1' });
    }
    const { text, reads } = start(withGit());
    expect(text).toMatch(/do log-[^]*do log-/);
    expect(reads).toBe(0);
  });

  it('is the same where Node has other questions than the launcher, and where an answer is cut off', () => {
    const whole = start(withGit()).text;
    for (const spoil of [
      `case "$*" in '-C '*cat-file*) "$git" "$@" | head -c 300; exit 141 ;; esac`,
      `case "$*" in '-C '*cat-file*) exit 128 ;; esac`,
      `case "$*" in *committerdate*) "$git" "$@" | head -n 1; exit ;; esac`,
    ]) {
      rmSync(first());
      const spoilt = start(withGit(spoil));
      expect(spoilt.text).toBe(whole);
      expect(spoilt.reads).toBe(1);
    }
  });

  it('is not guessed anew while no handoff moves', () => {
    const { text } = start(withGit());
    touch(9);
    expect(start(withGit())).toEqual({ text, byNode: 0, byLauncher: 4, reads: 0 });
    world.ok(['write', 'new-idea', '-m', 'goal: do new-idea'], { session: 'writer-1' });
    touch(-9);
    const later = start(withGit());
    expect(later).toMatchObject({ byLauncher: 5, reads: 0 });
    expect(later.text).toContain('do new-idea');
  });

  it.each(['main', 'main 1', `main ${'0'.repeat(40)}`, `other ${'0'.repeat(40)}`, '', '*'])(
    'is the same where the last guess was %j',
    (guess) => {
      const { text } = start(withGit());
      writeFileSync(first(), `${guess}\n`);
      touch(9);
      expect(start(withGit()).text).toBe(text);
    },
  );

  it.each([
    ['fails', 'exit 128'],
    ['ends in the middle of a record', '"$git" "$@" | head -c 150; exit 141'],
  ])('is the same where a list of the launcher %s', (_, act) => {
    const whole = start(withGit()).text;
    for (const prefix of ['refs/handoffs/', 'refs/handoffs-local/live/', 'refs/handoffs-local/kept/']) {
      const spoilt = start(withGit(`case "$1 $*" in '-C '*' ${prefix}'*) ${act} ;; esac`));
      expect(spoilt.text).toBe(whole);
      expect(spoilt.byNode).toBeGreaterThan(0);
    }
  });

  it('has the note that is left just then for a session whose process is gone', async () => {
    const client = new ClientProcess(world);
    await client.start(GONE);
    const input = { file_path: join(world.path, 'one.txt'), content: 'x' };
    const call = { session_id: GONE, tool_name: 'Write', tool_input: input };
    await client.hook(call);
    writeFileSync(join(world.path, 'one.txt'), 'x');
    await client.hook({ ...call, hook_event_name: 'PostToolUse', tool_response: {} });
    await client.kill();
    expect(start(withGit()).text).toContain('its session died');
  });
});
