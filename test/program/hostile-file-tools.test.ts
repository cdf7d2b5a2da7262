import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { CALLER, type GuardWorldOptions, GuardWorld } from '../support/guard.ts';
import { hostileCases } from '../support/hostile-cases.ts';

interface FileToolCase {
  readonly id: string;
  readonly tool: string;
  readonly tool_input: Readonly<Record<string, unknown>>;
  readonly expect: 'deny' | 'allow';
  readonly why: string;
  readonly setup?: string;
  readonly owner?: 'caller';
  readonly platform?: string;
}

/** These tools belong to Gemini CLI, which has its own dialect. */
const GEMINI_TOOLS = ['write_file', 'replace'];

const cases = hostileCases<FileToolCase>('file-tools.json').filter(
  ({ tool, platform }) =>
    !GEMINI_TOOLS.includes(tool) && (platform === undefined || platform.includes(process.platform)),
);

const worlds: readonly (GuardWorldOptions & { title: string; peer?: boolean })[] = [
  // Without a peer or without init, calls may end in the launcher, so these cases need processes.
  { title: 'alone in an initialised repository', calls: 'process' },
  { title: 'beside a live session', peer: true },
  { title: 'in a repository without init', initialised: false, calls: 'process' },
  { title: 'with sha256 names', objectFormat: 'sha256', peer: true },
];

describe.each(worlds)('file tools, $title', ({ peer = false, ...options }) => {
  let world: GuardWorld;
  let own: GuardWorld;
  beforeAll(() => {
    world = new GuardWorld(options);
    own = new GuardWorld({ ...options, owner: CALLER });
    for (const one of [world, own]) {
      one.sessionStart(CALLER);
      if (peer) one.sessionStart('sess-cccccccc-3333');
    }
  });
  afterEach(() => world.clean());
  afterAll(() => [world, own].forEach((one) => one.remove()));

  it.each(cases)('$id $why: $expect', ({ tool, tool_input: input, setup, owner, expect: expected }) => {
    const here = owner === 'caller' ? own : world;
    if (setup !== undefined) here.bash(here.fill(setup));
    const filled = JSON.parse(here.fill(JSON.stringify(input))) as object;
    const answer = here.before(tool, filled);
    expect(answer).toMatchObject({ kind: expected === 'deny' ? 'deny' : 'silent' });
  });
});

/** Tools of MCP servers have any name and input: the guard can judge only by verbs in the name and by keys of paths. */
const MCP: readonly (readonly [tool: string, input: object, expected: 'deny' | 'silent'])[] = [
  ['mcp__files__delete_file', { path: '@FILE@' }, 'deny'],
  ['mcp__files__remove_directory', { path: '@MEM@' }, 'deny'],
  ['mcp__files__deleteFile', { uri: 'file://@FILE@' }, 'deny'],
  ['mcp__files__edit_file', { path: '@FILE@', edits: [{ oldText: 'secret', newText: 'gone' }] }, 'deny'],
  ['mcp__files__write_files', { files: [{ path: '@CWD@/a' }, { path: '@FILE@', content: 'x' }] }, 'deny'],
  ['mcp__files__move_file', { source: '@FILE@', destination: '@CWD@/b' }, 'deny'],
  ['mcp__files__move_file', { source: '@CWD@/note.txt', destination: '@FILE@' }, 'deny'],
  ['mcp__files__move_directory', { source: '@MEM@', destination: '@CWD@/m' }, 'deny'],
  ['mcp__files__copy_file', { source: '@CWD@/note.txt', destination: '@FILE@' }, 'deny'],
  ['mcp__files__copy_file', { source: '@FILE@', destination: '@CWD@/copy.md' }, 'silent'],
  ['mcp__files__delete_file', { path: '@CWD@/.git/packed-refs' }, 'deny'],
  ['mcp__files__delete_directory', { path: '@CWD@/.git/refs/handoffs' }, 'deny'],
  ['mcp__files__read_file', { path: '@FILE@' }, 'silent'],
  ['mcp__files__list_directory', { path: '@MEM@' }, 'silent'],
  ['mcp__files__write_file', { path: '@CWD@/doc.md', content: 'see @FILE@' }, 'silent'],
  ['mcp__files__edit_file', { path: '@CWD@/doc.md', old_text: '@FILE@', new_text: 'x' }, 'silent'],
  ['mcp__tracker__create_issue', { title: '@FILE@', body: '@FILE@' }, 'silent'],
  ['mcp__shell__run_command', { command: 'echo x > @FILE@' }, 'deny'],
  ['mcp__shell__run_command', { command: 'cat @FILE@' }, 'silent'],
  ['mcp__odd__write_file', { path: 7, files: [null, [[[['@FILE@']]]]] }, 'silent'],
];

describe('tools of MCP servers', () => {
  let world: GuardWorld;
  beforeAll(() => {
    world = new GuardWorld();
    world.sessionStart(CALLER);
  });
  afterAll(() => world.remove());

  it.each(MCP)('%s %j: %s', (tool, input, kind) => {
    expect(world.before(tool, JSON.parse(world.fill(JSON.stringify(input))) as object)).toMatchObject({
      kind,
    });
  });
});
