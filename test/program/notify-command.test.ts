import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { A, B, SharingWorld, refusal } from '../support/sharing-world.ts';

let world: SharingWorld;
let file: string;
let program: string;
beforeEach(() => {
  world = new SharingWorld({ ready: [A, B] });
  file = join(world.root, 'notified');
  program = script('notify', `cat >> '${file}'`);
});
afterEach(() => world.remove());

function script(name: string, text: string): string {
  const path = join(world.root, name);
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

const set = (value: string) => world.git(['config', '--global', 'handoff.notifyCommand', value]);
const lines = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []);

/** What the program was given. Waits until it has run this many times, since git-handoff does not wait for it. */
async function notified(count: number): Promise<Record<string, unknown>[]> {
  await expect.poll(() => lines().length, { timeout: 20_000 }).toBeGreaterThanOrEqual(count);
  return lines().map((line) => JSON.parse(line) as Record<string, unknown>);
}

function standOff(): void {
  world.write(A, 'src/a.ts', 'one\n');
  refusal(world.write(B, 'src/a.ts', 'two\n'));
}

describe('handoff.notifyCommand', () => {
  it('is told of a refusal and of the request that it leaves', async () => {
    set(program);
    standOff();
    const time = expect.stringMatching(/^2\d{3}-.*Z$/) as string;
    const common = { client: 'claude', repository: world.path, time };
    const told = await notified(2);
    expect(told).toHaveLength(2);
    expect(told).toContainEqual({
      ...common,
      event: 'request',
      session: A,
      by: B,
      paths: ['src/a.ts'],
      message: 'claude bbbbbbbb wants to edit src/a.ts',
    });
    const message = expect.stringMatching(/^src\/a\.ts: claude aaaaaaaa changed it /) as string;
    expect(told).toContainEqual({ ...common, event: 'refusal', session: B, by: null, message });
  });

  it('is told of a take: of uncommitted changes, and of a note', async () => {
    world.write(A, 'src/a.ts', 'one\n');
    world.ok(['write', 'auth-refresh', '-m', 'half done'], { session: A });
    world.stop(A);
    set(program);
    world.ok(['take', '--', 'src/a.ts'], { session: B });
    expect(await notified(1)).toMatchObject([{ event: 'take', session: A, by: B, paths: ['src/a.ts'] }]);
    world.end(A);
    world.ok(['take', 'auth-refresh'], { session: B });
    expect((await notified(2))[1]).toMatchObject({
      event: 'take',
      session: A,
      by: B,
      topic: 'main/auth-refresh',
      message: 'claude bbbbbbbb took main/auth-refresh over from claude aaaaaaaa',
    });
  });

  it('is told of a session’s work that another’s command hits', async () => {
    world.write(A, 'src/a.ts', 'one\n');
    set(program);
    world.bash(B, `${script('tool', 'printf "two\\n" > "$1"')} src/a.ts`);
    const [told] = await notified(1);
    expect(told).toMatchObject({ event: 'loss', session: A, by: B, paths: ['src/a.ts'] });
  });

  it('is told of a commit that a git hook refuses', async () => {
    standOff();
    set(program);
    world.as(B, ['commit', '-qam', 'all']);
    expect(await notified(1)).toMatchObject([{ event: 'refusal', session: B }]);
  });

  it('is ignored in the configuration of the repository or worktree, or in an included file of the working tree', async () => {
    const evil = script('evil', `echo evil >> '${file}'`);
    world.git(['config', 'handoff.notifyCommand', evil]);
    world.git(['config', 'extensions.worktreeConfig', 'true']);
    world.git(['config', '--worktree', 'handoff.notifyCommand', evil]);
    writeFileSync(join(world.path, 'shared.config'), `[handoff]\n\tnotifyCommand = ${evil}\n`);
    world.git(['config', '--global', 'include.path', join(world.path, 'shared.config')]);
    standOff();
    set(program);
    refusal(world.try(B, 'src/a.ts', 'three\n'));
    expect(await notified(1)).toMatchObject([{ event: 'refusal' }]);
    expect(readFileSync(file, 'utf8')).not.toContain('evil');
  });

  it('changes no answer when it is missing, not a program, not an absolute path, or fails', () => {
    world.write(A, 'src/a.ts', 'one\n');
    const expected = refusal(world.try(B, 'src/a.ts', 'two\n'));
    const values = [
      join(world.root, 'missing'),
      join(world.path, 'shared.md'),
      world.root,
      'notify',
      `${program} --option`,
      script('fails', 'exit 1'),
      script('deaf', 'exec sleep 0'),
    ];
    for (const value of values) {
      set(value);
      expect(refusal(world.try(B, 'src/a.ts', 'two\n'))).toBe(expected);
    }
    expect(lines()).toEqual([]);
  });

  it('outlives the call, which does not wait for it', async () => {
    const gate = join(world.root, 'gate');
    set(script('slow', `until test -e '${gate}'; do sleep 0.05; done; cat >> '${file}'`));
    world.write(A, 'src/a.ts', 'one\n');
    const input = {
      ...{ cwd: world.path, session_id: B, hook_event_name: 'PreToolUse', tool_name: 'Write' },
      tool_input: { file_path: join(world.path, 'src/a.ts'), content: 'two\n' },
    };
    const call = { input: JSON.stringify(input), calls: 'process' } as const;
    const { stdout } = world.handoff(['guard', '--client', 'claude'], call);
    expect(stdout).toContain('deny');
    expect(lines()).toEqual([]);
    writeFileSync(gate, '');
    expect(await notified(2)).toContainEqual(
      expect.objectContaining({ event: 'request', session: A, by: B }),
    );
  });
});
