import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readBegunLook } from '../../src/git/begun-look.ts';
import { isYash } from '../support/shells.ts';
import { LauncherWorld, soloSession, toolCall } from './launcher-world.ts';

const TREE = '0123456789abcdef';

let world: LauncherWorld;
let root: string;
let handoff: string;
/** Where the client runs: beside others, Node starts at once in the worktree. */
let cwd: string;

beforeEach(() => {
  world = new LauncherWorld();
  root = world.repository("beside $(id) 'x", false);
  handoff = join(root, '.git', 'handoff');
  for (const folder of ['beat', 'objects', `ledger/${TREE}`])
    mkdirSync(join(handoff, folder), { recursive: true });
  writeFileSync(join(root, '.git', 'handoff-id'), `${TREE}\n`);
  writeFileSync(join(handoff, 'ledger', TREE, 'quick'), '');
  write('src/a.ts', 'one\n');
});
afterEach(() => world.remove());

const write = (path: string, content: string | Uint8Array) => writeFileSync(join(root, path), content);

/** What the launcher has git tell while Node starts; `undefined` when it begins no look. */
function look(tool: string, input: object, event = 'PostToolUse') {
  const call = toolCall(root, tool, input, { hook_event_name: event, tool_response: {} });
  const run = world.run(['guard', '--client', 'claude'], JSON.stringify(call), { cwd });
  expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
  const { argv = [], words = [], more } = run.node ?? {};
  expect(argv).toContain('guard');
  return words.includes('more') ? more : undefined;
}

const wrote = (path: string) => look('Write', { file_path: join(root, path), content: 'x' });
const began = (text: string | undefined) => readBegunLook(text ?? '', 0);
const alone = (command: string, event = 'PreToolUse') => {
  writeFileSync(join(root, '.git', 'handoff-solo'), `${soloSession} 1 2\n`);
  return look('Bash', { command }, event);
};
/** The verbs for which the program looks then (src/guard/before-tool.ts). */
const words = /DESTRUCTIVE = .*\(\?:(.*)\)/.exec(readFileSync('src/guard/before-tool.ts', 'utf8'))?.[1] ?? '';
const ran = () => look('Bash', { command: 'make' });

// Node reads such a pipe by /proc, and yash hands everything over unread.
describe.skipIf(isYash() || !existsSync('/proc/self/fd')).each([
  ['while Node starts', () => root],
  ['before Node starts', () => world.dir],
])('a look that is begun %s', (_when, started) => {
  beforeEach(() => {
    cwd = started();
  });

  it.each([['PreToolUse'], ['PostToolUse']])('tells what differs from HEAD around a command: %s', (event) => {
    const begun = began(look('Bash', { command: 'make' }, event));
    expect(begun?.status).toMatch(/^# branch.oid \(initial\)\0# branch.head main\0\? src\/a.ts$/);
    expect(begun).toMatchObject({ written: undefined, at: 0 });
    expect(begun?.costMs).toBeGreaterThanOrEqual(0);
  });

  it.each([
    ['Write', 'file_path', 'PostToolUse'],
    ['edit', 'file_path', 'PostToolUse'],
    ['NotebookEdit', 'notebook_path', 'PostToolUse'],
    ['replace', 'file_path', 'AfterTool'],
  ])('names and keeps the file that a tool wrote: %s', (tool, key, event) => {
    const name = world.git(root, 'hash-object', '--', 'src/a.ts').trim();
    const begun = began(look(tool, { [key]: join(root, 'src/a.ts') }, event));
    expect(begun).toMatchObject({ written: name, status: expect.stringContaining('? src/a.ts') as string });
    expect(existsSync(join(handoff, 'objects', name.slice(0, 2), name.slice(2)))).toBe(true);
    expect(existsSync(join(root, '.git', 'objects', name.slice(0, 2)))).toBe(false);
  });

  it.each([
    ['that is too big to be kept', 'src/big', () => write('src/big', Buffer.alloc((1 << 20) + 1))],
    ['that is gone', 'src/gone', () => undefined],
    ['that is none', 'src', () => undefined],
    ['of a repository below', 'src/below/a', () => world.git(root, 'init', '-q', 'src/below')],
    ['with no store to keep it in', 'src/a.ts', () => rmSync(join(handoff, 'objects'), { recursive: true })],
  ])('does not name a file %s', (_, path, make) => {
    make();
    expect(began(wrote(path))).toMatchObject({ written: undefined });
  });

  it.each([
    ['before a file tool', () => look('Write', { file_path: join(root, 'src/a.ts') }, 'PreToolUse')],
    ['around another tool', () => look('Agent', { prompt: 'x' })],
    [
      'where it is not known to be quick',
      () => {
        rmSync(join(handoff, 'ledger', TREE, 'quick'));
        return ran();
      },
    ],
    ['for a session that is alone', () => alone('git restore x', 'PostToolUse')],
    ['for a session that is alone, where nothing can be lost', () => alone('git push')],
  ])('is not begun %s', (_, call) => {
    expect(call()).toBeUndefined();
  });

  it.each(words.split('|'))(
    'is begun for a session that is alone before it loses its work: git %s',
    (verb) => {
      const status = expect.stringContaining('? src/a.ts') as string;
      expect(began(alone(`git ${verb}`))).toMatchObject({ status });
    },
  );

  it('is no look when git fails', () => {
    write('.git/index', 'damaged');
    expect(began(ran())).toBeUndefined();
  });

  it('starts no program that the repository names', () => {
    world.script(join(world.dir, 'monitor'), ['echo ran >"$HOME/ran"']);
    world.git(root, 'config', 'core.fsmonitor', join(world.dir, 'monitor'));
    expect(began(ran())).toBeDefined();
    expect(existsSync(join(world.home, 'ran'))).toBe(false);
  });
});
