import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isYash } from '../support/shells.ts';
import { LauncherWorld, soloSession, toolCall } from './launcher-world.ts';

let world: LauncherWorld;
let root: string;

beforeEach(() => {
  world = new LauncherWorld();
  root = world.repository("beside $(id) 'x", true);
  writeFileSync(join(root, '.git', 'handoff-id'), '0123456789abcdef\n');
  rmSync(join(root, '.git', 'handoff-solo'));
});
afterEach(() => world.remove());

const payload = (tool: string, input: object, event = 'PreToolUse', cwd = root) =>
  JSON.stringify(toolCall(cwd, tool, input, { hook_event_name: event }));
const guard = (text: string, env = {}) =>
  world.run(['guard', '--client', 'claude'], text, { cwd: root, env });
const edit = (content = 'x') => payload('Write', { file_path: join(root, 'a.ts'), content });

// Node looks into the pipe by /proc, and yash hands everything over unread.
describe.skipIf(isYash() || !existsSync('/proc/self/fd'))('beside other sessions', () => {
  it('Node starts before it is known what the call is about', () => {
    const { node, ...run } = guard(edit(), { FAKE_STDOUT: '{"a":1}' });
    expect(run).toMatchObject({ status: 0, stdout: '{"a":1}', stderr: '' });
    expect(node?.argv.slice(1, 4)).toEqual(['guard', '--client', 'claude']);
    const launcher = expect.stringMatching(/^\d+$/) as string;
    const told = ['--client-pid', String(process.pid), '--begun', launcher, '--fed'];
    expect(node?.argv.slice(4)).toEqual(told);
    expect(node).toMatchObject({ words: ['before-file'], stdin: edit(), settings: '.\n', more: '' });
  });

  it.each([262_144, 1_000_000])('hands over a payload of more than %i bytes', (size) => {
    const text = edit('x'.repeat(size));
    expect(guard(text).node?.stdin === text).toBe(true);
  });

  it('reads the settings where the call is made, wherever the client runs', () => {
    const other = world.repository('other', true);
    world.git(other, 'config', 'alias.co', 'checkout');
    const { node } = guard(payload('Bash', { command: 'git push' }, 'PreToolUse', other));
    expect(node?.settings).toBe('alias.co checkout\n.\n');
  });

  it('lets Node be where nothing is to be decided after all', () => {
    const other = world.repository('no init', false);
    const calls = [
      payload('Bash', { command: 'ls' }, 'PreToolUse', other),
      JSON.stringify({ session_id: 's', cwd: root, hook_event_name: 'UserPromptSubmit', prompt: 'x' }),
    ];
    for (const call of calls) {
      const run = guard(call);
      expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
      expect(run.node).toMatchObject({ words: [''], stdin: '' });
    }
  });

  it('logs that Node failed, and throws away what it had compiled', () => {
    const code = join(world.home, '.local', 'state', 'git-handoff', 'code');
    mkdirSync(code, { recursive: true });
    expect(guard(edit(), { FAKE_STATUS: '1' })).toMatchObject({ status: 0, stderr: '' });
    expect(existsSync(code)).toBe(false);
    const log = readFileSync(join(root, '.git', 'handoff', 'guard.log'), 'utf8');
    expect(JSON.parse(log)).toMatchObject({ kind: 'failed-open', detail: 'node failed' });
  });

  it('gives Node the locale that the call came with, and nothing that would change it', () => {
    world.script(join(world.binaries, 'node'), ['cat >/dev/null', 'echo "${NODE_OPTIONS-unset} $LC_ALL"']);
    const env = { NODE_OPTIONS: '--inspect-brk', LC_ALL: 'C.UTF-8' };
    expect(guard(edit(), env).stdout).toBe('unset C.UTF-8\n');
  });

  it('decides alone for a session that is alone', () => {
    writeFileSync(join(root, '.git', 'handoff-solo'), `${soloSession} 1 2\n`);
    expect(guard(payload('Bash', { command: 'ls' })).node).toBeUndefined();
  });
});
