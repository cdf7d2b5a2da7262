import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isYash } from '../support/shells.ts';
import { LauncherWorld, soloSession, toolCall } from './launcher-world.ts';

const OWN = '0123456789abcdef';
const OTHER = 'fedcba9876543210';

let world: LauncherWorld;
let root: string;
let handoff: string;

beforeEach(() => {
  world = new LauncherWorld();
  root = world.repository("solo $(id) 'x", true);
  handoff = join(root, '.git', 'handoff');
  writeFileSync(join(root, '.git', 'handoff-id'), `${OWN}\n`);
  mkdirSync(join(handoff, 'touched'));
});
afterEach(() => world.remove());

/** Whether a file tool's call reaches Node. */
function asks(path: string, event = 'PostToolUse', cwd = root): boolean {
  const input = { file_path: join(cwd, path), content: 'x' };
  const call = toolCall(cwd, 'Write', input, { hook_event_name: event, tool_response: {} });
  const run = world.run(['guard', '--client', 'claude'], JSON.stringify(call));
  expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
  return run.node !== undefined;
}

const file = (name: string) => join(handoff, 'touched', name);
const lines = (name: string) => (existsSync(file(name)) ? readFileSync(file(name), 'utf8').split('\n') : []);

describe.skipIf(isYash())('a file that a session has changed while others work in other worktrees', () => {
  it.each([
    ['src/a.ts', 'src%a.ts'],
    ['new/folder/a b.ts', 'new%folder%a b.ts'],
    ['-dash', '-dash'],
    ["it's $(id) *", "it's $(id) *"],
    ['ümläut', 'ümläut'],
  ])('is noted in sh, once: %s', (path, name) => {
    expect(asks(path)).toBe(false);
    expect(asks(path)).toBe(false);
    expect(lines(name)).toEqual([OWN, '']);
  });

  it('is not noted before the tool has run, and not while nobody works elsewhere', () => {
    expect(asks('src/a.ts', 'PreToolUse')).toBe(false);
    expect(readdirSync(join(handoff, 'touched'))).toEqual([]);
    rmSync(join(handoff, 'touched'), { recursive: true });
    expect(asks('src/a.ts')).toBe(false);
    expect(existsSync(join(handoff, 'touched'))).toBe(false);
  });

  it('is handed to Node when another worktree has changed it, whoever was first', () => {
    writeFileSync(file('src%a.ts'), `${OTHER}\n`);
    expect(asks('src/a.ts')).toBe(true);
    expect(asks('src/a.ts', 'PreToolUse')).toBe(false);
    expect(asks('src/b.ts')).toBe(false);
    appendFileSync(file('src%b.ts'), `${OTHER}\n`);
    expect(asks('src/b.ts')).toBe(true);
  });

  it.each(['100%', 'a%b/c', `${'x'.repeat(100)}/${'y'.repeat(100)}`])('is left to Node: %s', (path) => {
    expect(asks(path)).toBe(true);
    expect(readdirSync(join(handoff, 'touched'))).toEqual([]);
  });

  it('is left to Node where the worktree has no id, or nothing can be noted', () => {
    rmSync(join(root, '.git', 'handoff-id'));
    expect(asks('src/a.ts')).toBe(true);
    writeFileSync(join(root, '.git', 'handoff-id'), `${OWN}\n`);
    mkdirSync(file('src%a.ts'));
    expect(asks('src/a.ts')).toBe(true);
  });

  it('is noted with the id of its own worktree', () => {
    const person = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
    world.git(root, ...person, 'commit', '-q', '--allow-empty', '-m', 'x');
    const tree = join(world.dir, 'a tree');
    world.git(root, 'worktree', 'add', '-q', '-b', 'tree', tree);
    const gitDir = world.git(tree, 'rev-parse', '--absolute-git-dir').trim();
    writeFileSync(join(gitDir, 'handoff-id'), `${OTHER}\n`);
    writeFileSync(join(gitDir, 'handoff-solo'), `${soloSession} 1 2\n`);
    expect(asks('src/a.ts', 'PostToolUse', tree)).toBe(false);
    expect(lines('src%a.ts')).toEqual([OTHER, '']);
    expect(asks('src/a.ts')).toBe(true);
  });
});
