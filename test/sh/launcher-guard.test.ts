import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Shell, isYash, shells } from '../support/shells.ts';
import { LauncherWorld, loneSession, toolCall } from './launcher-world.ts';

let world: LauncherWorld;
let lone: string;
let plain: string;

function enter(shell: Shell): void {
  world = new LauncherWorld(shell);
  lone = world.repository("solo $(id) 'x", true);
  plain = world.repository('plain', false);
  writeFileSync(join(lone, 'src', 'a.ts'), 'x');
  const notes = join(world.home, '.claude', 'projects', 'p', 'memory');
  mkdirSync(notes, { recursive: true });
  writeFileSync(join(notes, 'handoff-main-auth-refresh.md'), 'x');
  linkSync(join(notes, 'handoff-main-auth-refresh.md'), join(lone, 'hard'));
  symlinkSync(join(notes, 'handoff-main-auth-refresh.md'), join(lone, 'soft'));
  symlinkSync(join(plain, 'elsewhere'), join(lone, 'away'));
  symlinkSync(notes, join(lone, 'folder'));
  world.repository("solo $(id) 'x/below", false);
  symlinkSync(join(lone, 'src'), join(world.dir, 'link to src'));
}

/** Whether a payload reached Node. In every case, the guard must be silent and succeed. */
function asks(payload: object | string, env: Record<string, string> = {}, by = world): boolean {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const run = by.run(['guard', '--client', 'claude'], text, { env });
  expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
  if (run.node) expect(run.node.stdin.trimEnd()).toBe(text.trimEnd());
  return run.node !== undefined;
}

const shell = (command: string, more: object = {}): object =>
  toolCall(lone, 'Bash', { command, description: 'does it' }, more);
const write = (path: string, more: object = {}): object =>
  toolCall(lone, 'Write', { file_path: path, content: 'const a = "x";\n' }, more);

const sure = shells.filter((one) => !isYash(one));

describe.each(sure)('shell commands of a lone session, under $name', (shell_) => {
  beforeAll(() => enter(shell_));
  afterAll(() => world.remove());

  it.each([
    'ls -la src',
    'git status --short',
    'git log --oneline -5; git diff HEAD^1',
    'cat src/a.ts | head -5 && pwd',
  ])('decides in sh: %s', (command) => {
    expect(asks(shell(command))).toBe(false);
    expect(asks(shell(command, { agent_id: 'a1', model: 'gpt-5.5' }))).toBe(false);
    expect(asks(toolCall(lone, 'run_shell_command', { command }, { hook_event_name: 'BeforeTool' }))).toBe(
      false,
    );
  });

  it.each([
    'npm test',
    'git push',
    'git commit -qm x',
    'cat ~/.claude/settings.json',
    'cd src && make',
    'ls > x',
    'cat handoff-x.md',
    'cat HANDOFF.md',
    'ls /memory',
    `echo ${'a b c '.repeat(2000)}`,
  ])('hands to Node: %s', (command) => expect(asks(shell(command))).toBe(true));

  it('looks at the command itself, and passes to Node a result that only contains such a text', () => {
    const after = (answer: object) => ({ hook_event_name: 'PostToolUse', tool_response: answer });
    expect(asks(shell('ls', after({ stdout: 'git push > refs' })))).toBe(false);
    expect(asks(shell('ls', after({ stdout: 'x'.repeat(100_000) })))).toBe(false);
    expect(asks(shell('git push', after({ stdout: '' })))).toBe(true);
    expect(asks(shell('ls', after({ command: 'git push' })))).toBe(true);
    expect(asks(shell('ls', after([{ stdout: '"command":"git push"' }])))).toBe(false);
  });

  it('passes to Node every result while another session is at work in the repository', () => {
    const other = join(lone, '.git', 'handoff', 'beat', 'another');
    writeFileSync(other, '');
    for (const event of ['PostToolUse', 'AfterTool']) {
      expect(asks(shell('ls', { hook_event_name: event, tool_response: {} }))).toBe(true);
      expect(asks(write(join(lone, 'src', 'a.ts'), { hook_event_name: event, tool_response: {} }))).toBe(
        true,
      );
    }
    expect(asks(shell('ls'))).toBe(false);
    rmSync(other);
    expect(asks(shell('ls', { hook_event_name: 'PostToolUse', tool_response: {} }))).toBe(false);
  });

  it('passes to Node a prompt, an unknown tool, and a failed one', () => {
    const prompt = {
      session_id: loneSession,
      cwd: lone,
      hook_event_name: 'UserPromptSubmit',
      prompt: 'Go on',
    };
    expect(asks(prompt)).toBe(true);
    expect(asks({ ...prompt, cwd: plain })).toBe(false);
    expect(asks(shell('ls', { hook_event_name: 'PostToolUseFailure' }))).toBe(true);
    for (const tool of ['Read', 'Grep', 'Task', 'bash', 'mcp__x__Bash', ''])
      expect(asks(toolCall(lone, tool, { command: 'ls' }))).toBe(true);
  });
});

describe.each(sure)('file tools of a lone session, under $name', (shell_) => {
  beforeAll(() => enter(shell_));
  afterAll(() => world.remove());

  it.each(['src/a.ts', 'new file.ts', 'new/folder/a b.ts', '-dash', "it's", 'in-memory.ts'])(
    'decides in sh: %s',
    (path) => {
      expect(asks(write(join(lone, path)))).toBe(false);
      expect(asks(toolCall(lone, 'NotebookEdit', { notebook_path: join(lone, path) }))).toBe(false);
    },
  );

  it.each([
    ['hard', 'a hard link to a note'],
    ['soft', 'a symbolic link to a note'],
    ['away', 'a symbolic link that dangles'],
    ['folder/x.md', 'a linked folder'],
    ['below/x', 'another repository below'],
    ['.git/config', 'the git directory'],
    ['.GIT/config', 'the git directory, case folded'],
    ['src/../../other', 'a way out'],
    ['src//a.ts', 'an empty part'],
    ['./.git/config', 'the git directory, behind a part that says nothing'],
    ['src/.git', 'the git directory of another'],
    ['below', 'another repository itself'],
    ['src/a\\b', 'an escape'],
    ['handoff.md', 'our name'],
    ['memory/x.md', 'the name of the notes folder'],
  ])('hands to Node: %s (%s)', (path) => {
    expect(asks(write(`${lone}/${path}`))).toBe(true);
  });

  it('passes to Node a path that it cannot place', () => {
    expect(asks(write('src/a.ts'))).toBe(true);
    expect(asks(write(join(plain, 'x')))).toBe(true);
    expect(asks(write(join(world.dir, 'link to src', 'a.ts')))).toBe(true);
    expect(asks(toolCall(lone, 'Write', { content: 'x' }))).toBe(true);
    expect(asks(toolCall(lone, 'Write', { file_path: 7 }))).toBe(true);
    expect(asks(toolCall(lone, 'Write', { content: 'x', file_path: join(lone, 'a') }))).toBe(true);
    expect(asks(toolCall(lone, 'Write', { file_path: lone, content: 'x' }))).toBe(true);
    expect(asks(toolCall(lone, 'Write', { file_path: `${lone}/`, content: 'x' }))).toBe(true);
    expect(asks(toolCall(lone, 'Write', { file_path: `${lone}x/a`, content: 'x' }))).toBe(true);
    expect(
      asks(toolCall(lone, 'Write', { file_path: '/x', content: 'x', x: { file_path: join(lone, 'a') } })),
    ).toBe(true);
    expect(asks(toolCall(lone, 'Write', { file_path: join(lone, 'a'), x: { file_path: '/x' } }))).toBe(true);
    expect(asks(toolCall(lone, 'Write', { path: join(lone, 'a') }))).toBe(true);
    expect(asks(toolCall(lone, 'mcp__fs__write', { file_path: join(lone, 'a') }))).toBe(true);
    expect(asks(toolCall(lone, 'apply_patch', { command: '*** Begin Patch' }))).toBe(true);
  });

  it('passes to Node every call of a sub-agent, beside which its session is not alone', () => {
    const call = write(join(lone, 'src', 'a.ts'), { agent_id: 'a7a1647f4c5f67f3e' });
    const { tool_input: input, ...head } = call as Record<string, unknown>;
    expect(asks({ ...head, tool_input: input })).toBe(true);
    expect(asks(write(join(lone, 'src', 'a.ts')))).toBe(false);
  });

  it('updates the session’s beat file, and nothing else', () => {
    const beat = join(lone, '.git', 'handoff', 'beat', loneSession);
    writeFileSync(beat, '');
    utimesSync(beat, 1, 1);
    const before = readdirSync(lone, { recursive: true });
    expect(asks(write(join(lone, 'src', 'a.ts')))).toBe(false);
    expect(statSync(beat).mtimeMs).toBeGreaterThan(1_000_000);
    expect(readFileSync(beat, 'utf8')).toBe('PreToolUse');
    expect(readdirSync(lone, { recursive: true })).toEqual(before);
    rmSync(join(beat, '..'), { recursive: true });
    expect(asks(write(join(lone, 'src', 'a.ts')))).toBe(false);
    mkdirSync(join(beat, '..'));
  });
});

describe.each(sure)('what comes before, under $name', (shell_) => {
  beforeAll(() => enter(shell_));
  afterAll(() => world.remove());

  it('leaves a repository without `init` alone, unless it has handoffs', () => {
    expect(asks(toolCall(plain, 'Bash', { command: 'git push > x' }))).toBe(false);
    expect(asks(toolCall('/', 'Bash', { command: 'ls' }))).toBe(false);
    expect(existsSync(join(plain, '.git', 'handoff'))).toBe(false);
    const holds = world.repository('holds', false);
    mkdirSync(join(holds, '.git', 'refs', 'handoffs'));
    expect(asks(toolCall(holds, 'Bash', { command: 'ls' }))).toBe(true);
  });

  it.each(['SessionStart', 'SessionEnd', 'Stop', 'SubagentStart'])('always passes %s to Node', (event) => {
    expect(asks({ session_id: loneSession, cwd: plain, hook_event_name: event })).toBe(true);
  });

  it('passes a note to Node everywhere, in upper or lower case', () => {
    for (const name of ['handoff-a.md', 'HANDOFF-a.md', 'Handoff', 'memory/a', 'Memory/a']) {
      expect(asks(toolCall(plain, 'Write', { file_path: `/x/${name}` }))).toBe(true);
    }
  });

  it('reads a payload after a byte order mark', () => {
    expect(asks(`\u{FEFF}${JSON.stringify(shell('ls'))}`)).toBe(false);
    expect(asks(`\u{FEFF}${JSON.stringify(shell('git push'))}`)).toBe(true);
  });

  it('passes on every byte of a long payload', () => {
    const long = (size: number) => shell(`echo ${'é'.repeat(size)}; git push`);
    for (const size of [65_536, 130_900, 131_072, 262_144, 1_000_000]) expect(asks(long(size))).toBe(true);
    const text = '\u0081\u0088\uFEFF' + String.raw`\\\n"$(id)\`id\`%s%n\c` + '\u{1F600}';
    for (const cwd of [lone, plain, '/nowhere']) {
      const odd = { hook_event_name: 'Stop', cwd, session_id: text, x: text.repeat(99) };
      expect(asks(odd)).toBe(true);
      const bytes = Buffer.concat([
        Buffer.from(JSON.stringify(odd)),
        Buffer.from([0xff, 0xc3, 0x28, 0x80]),
        Buffer.from('x'),
      ]);
      expect(world.run(['guard'], bytes).node?.bytes.equals(bytes)).toBe(true);
    }
  });

  it('takes time only in proportion to a payload’s length', () => {
    const code = `  if (a[i] === "x") { return f(h, i) + 'git'; }\n`;
    // Milliseconds of processor time. If expansions took quadratic time, bash would need 300 or more.
    const times = (payload: object) => {
      writeFileSync(join(world.dir, 'payload'), JSON.stringify(payload));
      const script = '"$1" guard <"$2" >/dev/null; times';
      const words = ['-c', script, 'sh', world.launcher, join(world.dir, 'payload')];
      const { stdout } = world.run(words, '', { command: ['/bin/bash'] });
      const [, minutes = '', seconds = ''] = /\n(\d+)m([\d.]+)s/.exec(stdout) ?? [];
      return Number(minutes) * 60_000 + Number(seconds) * 1000;
    };
    const least = (payload: object) => Math.min(times(payload), times(payload), times(payload));
    const calls = (length: number) => {
      const content = code.repeat(length / code.length);
      const after = { hook_event_name: 'PostToolUse', tool_response: { content } };
      return [
        toolCall(lone, 'Write', { file_path: join(lone, 'a'), content }),
        toolCall(lone, 'Write', { content, file_path: join(lone, 'a') }),
        toolCall(lone, 'Edit', { file_path: join(lone, 'a'), old_string: content }, after),
        toolCall(plain, 'Write', { file_path: join(plain, 'a'), content }),
        shell('ls;'.repeat(length / 3)),
        { session_id: 'x', cwd: plain, hook_event_name: 'Notification', message: 'x'.repeat(length) },
      ];
    };
    for (const call of calls(220_000))
      expect(least(call), JSON.stringify(call).slice(0, 300)).toBeLessThan(200);
  });

  it('finds the repository from a folder below, a link, a worktree and a submodule', () => {
    expect(asks(toolCall(join(lone, 'src'), 'Bash', { command: 'ls' }))).toBe(false);
    expect(asks(toolCall(join(world.dir, 'link to src'), 'Bash', { command: 'ls' }))).toBe(false);
    expect(asks(toolCall(join(world.dir, 'link to src'), 'Bash', { command: 'git push' }))).toBe(true);
    const main = world.repository('main', false);
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
    world.git(main, ...identity, 'commit', '-q', '--allow-empty', '-m', 'x');
    const tree = join(world.dir, 'work tree');
    world.git(main, 'worktree', 'add', '-q', '-b', 'tree', tree);
    expect(asks(toolCall(tree, 'Bash', { command: 'git push' }))).toBe(false);
    const outer = world.repository('outer', true);
    world.git(outer, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', main, 'sub');
    const sub = join(outer, 'sub');
    expect(asks(toolCall(sub, 'Bash', { command: 'ls' }))).toBe(true);
    world.enable(join(outer, '.git', 'modules', 'sub'), join(outer, '.git', 'modules', 'sub'));
    expect(asks(toolCall(sub, 'Bash', { command: 'ls' }))).toBe(false);
    expect(asks(write(join(sub, 'x'), { cwd: sub }))).toBe(false);
    expect(asks(write(join(outer, 'x'), { cwd: sub }))).toBe(true);
    expect(asks(write(join(sub, 'x'), { cwd: outer }))).toBe(true);
    const gitDir = world.git(tree, 'rev-parse', '--absolute-git-dir').trim();
    world.enable(gitDir, join(main, '.git'));
    expect(asks(toolCall(tree, 'Bash', { command: 'ls' }))).toBe(false);
    expect(asks(toolCall(tree, 'Bash', { command: 'git push' }))).toBe(true);
    writeFileSync(join(tree, '.git'), `gitdir: ../${relative(world.dir, gitDir)}`);
    expect(asks(toolCall(tree, 'Bash', { command: 'ls' }))).toBe(false);
    expect(asks(write(join(tree, 'x'), { cwd: tree }))).toBe(false);
  });

  it('passes odd payloads to Node', () => {
    const twice = JSON.stringify(shell('ls')).replace('"effort"', '"session_id":"other","effort"');
    for (const odd of ['', '{}', '[]', 'null', '{"tool_name"', twice]) expect(asks(odd)).toBe(true);
    for (const key of ['session_id', 'cwd', 'hook_event_name', 'tool_name']) {
      expect(asks(shell('ls', { [key]: undefined }))).toBe(true);
      expect(asks(shell('ls', { [key]: null }))).toBe(true);
      expect(asks(shell('ls', { [key]: 7 }))).toBe(true);
      expect(asks(shell('ls', { [key]: '' }))).toBe(true);
    }
    for (const other of [
      'another',
      loneSession.slice(1),
      loneSession.slice(0, -1),
      `${loneSession}0`,
      '*',
      '.',
    ])
      expect(asks(shell('ls', { session_id: other }))).toBe(true);
    expect(asks(shell('ls', { session_id: '../x' }))).toBe(true);
    expect(asks(shell('ls', { cwd: 'relative' }))).toBe(true);
    expect(asks(shell('ls', { cwd: '/nowhere/at/all' }))).toBe(true);
    expect(asks(shell('ls', { hook_event_name: 'PostToolBatch' }))).toBe(true);
  });

  it('reads other layouts of the same JSON', () => {
    expect(asks(JSON.stringify(shell('ls')).replaceAll('":', '": '))).toBe(false);
    expect(asks(`\r\n${JSON.stringify(shell('ls'), null, 2)}\r\n`)).toBe(false);
    expect(asks(JSON.stringify(write(join(lone, 'src/a.ts')), null, 2))).toBe(false);
    expect(asks(JSON.stringify(shell('rm a'), null, '\t'))).toBe(true);
    expect(asks(`${JSON.stringify(shell('git push'), null, 2)}\n\n`)).toBe(true);
  });

  it('leaves an unusual git environment to Node', () => {
    expect(asks(shell('ls'), { GIT_DIR: join(plain, '.git') })).toBe(true);
    expect(asks(shell('ls'), { GIT_WORK_TREE: '/' })).toBe(true);
    expect(asks(shell('ls'), { GIT_COMMON_DIR: '' })).toBe(true);
    expect(asks(toolCall(plain, 'Bash', { command: 'ls' }), { GIT_CONFIG: '/dev/null' })).toBe(true);
  });

  it('does not mistake a variable of the caller for its own', () => {
    const names =
      'payload input head enabled top gitdir common git shared folder event session cwd tool value alone locale state';
    const env = Object.fromEntries(names.split(' ').map((name) => [name, lone]));
    expect(asks(shell('git push'), env)).toBe(true);
    expect(asks(shell('ls'), env)).toBe(false);
    expect(asks(toolCall(plain, 'Bash', { command: 'ls' }), env)).toBe(false);
    rmSync(join(lone, '.git', 'handoff-solo'));
    expect(asks(shell('ls'), env)).toBe(true);
    const beside = world.run(['guard'], JSON.stringify(shell('ls')), {
      env: { ...env, FAKE_STATUS: '1' },
      cwd: lone,
    });
    expect(beside.node?.stdin).toBe(JSON.stringify(shell('ls')));
    expect(readFileSync(join(lone, '.git', 'handoff', 'guard.log'), 'utf8')).toContain('node failed');
    world.enable(join(lone, '.git'), join(lone, '.git'));
  });

  it('uses the folder in the payload, or the client’s own if that is the same', () => {
    const from = (cwd: string, payload: object) => {
      const run = world.run(['guard'], JSON.stringify(payload), { cwd, env: { PWD: cwd } });
      expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
      return run.node !== undefined;
    };
    const link = join(world.dir, 'link to src');
    for (const cwd of [lone, join(lone, 'src'), link, plain, '/']) {
      expect(from(cwd, shell('ls'))).toBe(false);
      expect(from(cwd, shell('make'))).toBe(true);
      expect(from(cwd, toolCall(plain, 'Bash', { command: 'make' }))).toBe(false);
      expect(from(cwd, toolCall(link, 'Bash', { command: 'ls' }))).toBe(false);
      expect(from(cwd, toolCall(join(lone, 'below'), 'Bash', { command: 'ls' }))).toBe(true);
      expect(
        from(cwd, toolCall(`${plain}/../${lone.split('/').at(-1)}/src/..`, 'Bash', { command: 'make' })),
      ).toBe(true);
    }
  });

  it('passes to Node a call from a folder that is gone or cannot be entered', () => {
    const gone = join(lone, 'gone');
    mkdirSync(gone);
    const script = 'cd "$2" && rmdir "$2" && exec "$1" guard';
    const run = world.run(
      ['-c', script, 'sh', world.launcher, gone],
      JSON.stringify(toolCall(gone, 'Bash', { command: 'make' })),
      {
        command: ['/bin/sh'],
      },
    );
    // The shell itself complains before it reads a line of ours.
    expect(run).toMatchObject({ status: 0, stdout: '' });
    expect(run.node).toBeDefined();
    expect(asks(toolCall(gone, 'Bash', { command: 'make' }))).toBe(true);
    expect(asks(toolCall(join(plain, '.git', 'HEAD'), 'Bash', { command: 'make' }))).toBe(true);
  });

  it('works without HOME', () => {
    const env = { HOME: '' };
    expect(asks(shell('ls'), env)).toBe(false);
    expect(asks(shell('make'), env)).toBe(true);
    expect(asks(toolCall(plain, 'Bash', { command: 'make' }), env)).toBe(false);
  });
});

describe.each(sure)('beside another session, under $name', (shell_) => {
  beforeAll(() => {
    enter(shell_);
    rmSync(join(lone, '.git', 'handoff-solo'));
  });
  afterAll(() => world.remove());

  it('passes Node the payload unread', () => {
    const bytes = Buffer.from([0, 0xff, ...Buffer.from('{"x"\n\n'), 0, 10, 10]);
    for (const cwd of [lone, join(lone, 'src'), join(lone, 'below')]) {
      const run = world.run(['guard', '--client', 'claude'], bytes, { cwd });
      expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
      expect(run.node?.bytes.equals(bytes)).toBe(true);
      expect(run.node?.argv.slice(2)).toEqual(['guard', '--client', 'claude']);
      expect(world.run(['guard'], '', { cwd }).node?.stdin).toBe('');
    }
  });

  it('starts Node for every call, wherever the client is', () => {
    for (const cwd of [lone, plain, world.dir]) {
      for (const call of [shell('ls'), write(join(lone, 'a'))]) {
        const { node } = world.run(['guard'], JSON.stringify(call), { cwd });
        expect(node?.stdin).toBe(JSON.stringify(call));
      }
    }
  });
});

describe.each(shells.filter(isYash))('under $name', (one) => {
  it('starts Node, which gets every byte', () => {
    enter(one);
    const own = world;
    for (const locale of ['C', 'C.UTF-8']) {
      for (const command of ['ls', 'ls é; git reset --hard']) {
        expect(asks(shell(command), { LC_ALL: locale, HOME: world.home }, own)).toBe(true);
      }
    }
    own.remove();
  });
});
