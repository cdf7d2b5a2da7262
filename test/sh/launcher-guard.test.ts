import {
  existsSync,
  linkSync,
  mkdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isYash, shells } from '../support/shells.ts';
import { LauncherWorld, soloSession, toolCall } from './launcher-world.ts';

const decides = describe.skipIf(isYash());

let world: LauncherWorld;
let solo: string;
let plain: string;

beforeAll(() => {
  world = new LauncherWorld();
  solo = world.repository("solo $(id) 'x", true);
  plain = world.repository('plain', false);
  writeFileSync(join(solo, 'src', 'a.ts'), 'x');
  const notes = join(world.home, '.claude', 'projects', 'p', 'memory');
  mkdirSync(notes, { recursive: true });
  writeFileSync(join(notes, 'handoff-main-auth-refresh.md'), 'x');
  linkSync(join(notes, 'handoff-main-auth-refresh.md'), join(solo, 'hard'));
  symlinkSync(join(notes, 'handoff-main-auth-refresh.md'), join(solo, 'soft'));
  symlinkSync(join(plain, 'elsewhere'), join(solo, 'away'));
  symlinkSync(notes, join(solo, 'folder'));
  world.repository("solo $(id) 'x/below", false);
  symlinkSync(join(solo, 'src'), join(world.dir, 'link to src'));
});
afterAll(() => world.remove());

/** Whether a payload reached Node; in every case the guard has to be silent and to succeed. */
function asks(payload: object | string, env: Record<string, string> = {}, by = world): boolean {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const run = by.run(['guard', '--client', 'claude'], text, { env });
  expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
  if (run.node) expect(run.node.stdin.trimEnd()).toBe(text.trimEnd());
  return run.node !== undefined;
}

const shell = (command: string, more: object = {}): object =>
  toolCall(solo, 'Bash', { command, description: 'does it' }, more);
const write = (path: string, more: object = {}): object =>
  toolCall(solo, 'Write', { file_path: path, content: 'const a = "x";\n' }, more);

decides('shell commands of a session that is alone', () => {
  it.each([
    'ls -la src',
    'npm test 2>&1 | tail -5',
    'git status --short',
    'git commit -qm "fix: a \'quoted\' word"',
    "sed -i 's/old/new/g' src/a.ts",
    'grep -rn "handler" src >/dev/null 2>/dev/null && echo found > /dev/null',
    'node -e "console.log(1)"',
    'cd src && make',
    'git log --oneline -5; git diff HEAD~1',
    '',
  ])('decides in sh: %s', (command) => {
    expect(asks(shell(command))).toBe(false);
    expect(asks(shell(command, { agent_id: 'a1' }))).toBe(false);
  });

  it('asks Node when the client tells another model than before', () => {
    const models = join(world.home, '.local', 'state', 'git-handoff', 'models');
    const told = (model: string) => asks({ model, ...shell('npm test') });
    expect(told('gpt-5.5')).toBe(true);
    mkdirSync(models, { recursive: true });
    writeFileSync(join(models, soloSession), 'Codex:gpt-5.5\n');
    expect(told('gpt-5.5')).toBe(false);
    expect(told('gpt-6')).toBe(true);
    expect(asks(shell('npm test'))).toBe(false);
  });

  it.each([
    'CLAUDE_CODE_SESSION_ID=x git commit -m y',
    'export CODEX_THREAD_ID=x',
    'env -i git commit',
    'env -u FOO git commit',
    'unset FOO',
    'git update-ref -d x',
    'rm .git/refs/x',
    'cd .git && rm refs/x',
    'git fetch origin "+re""fs/*:x"',
    'git push --mirror',
    'git prune',
    'git filter-branch',
    'exec -c git commit',
    'ln -s a b',
    'dd if=a of=l',
    'git pull',
    'git remote add m ../x',
    'git -c alias.z="!sh w.sh" z',
    'cat ~/.claude/settings.json',
    'for f in ~/.c*/p*/t*/m*/h*; do rm "$f"; done',
    'cd ~/x/projects/p',
    'cd projects',
    'rm memory/x',
    'eval "$x"',
    'echo eA== | base64 -d | sh',
    'xargs rm < p.txt',
    'echo x > soft',
    'echo x >soft',
    'echo x >> "$p"',
    'echo x >/tmp/l',
    'tee l < x',
    'cp a l',
    'rm han"d"off-x.md',
    "rm h'a'n'd'o'f'f-x.md",
    'rm han\\doff-x.md',
    'a=hand; b=off; rm $a$b',
    'rm ha{nd,x}off',
    "rm $'\\x68andoff'",
    'rm HANDOFF.md',
  ])('hands to Node: %s', (command) => {
    expect(asks(shell(command))).toBe(true);
    const long = `echo ${'a b c '.repeat(2000)}; ${command}`;
    expect(asks(shell(long))).toBe(true);
  });

  it('looks at the command, not at what it printed', () => {
    const after = { hook_event_name: 'PostToolUse', tool_response: { stdout: 'git push > refs' } };
    // Where times have whole seconds only an older note is surely seen.
    const later = Date.now() / 1000 + 10;
    const beat = join(solo, '.git', 'handoff', 'beat', soloSession);
    writeFileSync(beat, '');
    utimesSync(beat, later, later);
    expect(asks(shell('ls', after))).toBe(false);
    expect(asks(shell('git push', after))).toBe(true);
    expect(asks(shell(`echo ${'a b c '.repeat(2000)}`))).toBe(false);
  });

  it('hands a command with an escaped letter or a folder of its own to Node', () => {
    expect(asks(JSON.stringify(shell('rm x.md')).replace('rm x', 'rm \\u0068andoff'))).toBe(true);
    expect(asks(toolCall(solo, 'run_shell_command', { command: 'ls', dir_path: '/x' }))).toBe(true);
    expect(asks(toolCall(solo, 'run_shell_command', { command: 'ls' }))).toBe(false);
  });
});

decides('file tools of a session that is alone', () => {
  it.each(['src/a.ts', 'new file.ts', 'new/folder/a b.ts', '-dash', "it's", 'in-memory.ts'])(
    'decides in sh: %s',
    (path) => {
      expect(asks(write(join(solo, path)))).toBe(false);
      expect(asks(toolCall(solo, 'NotebookEdit', { notebook_path: join(solo, path) }))).toBe(false);
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
    ['src/a\\b', 'an escape'],
    ['handoff.md', 'our name'],
    ['memory/x.md', 'the name of the notes folder'],
  ])('hands to Node: %s (%s)', (path) => {
    expect(asks(write(`${solo}/${path}`))).toBe(true);
  });

  it('hands to Node what it cannot place', () => {
    expect(asks(write('src/a.ts'))).toBe(true);
    expect(asks(write(join(plain, 'x')))).toBe(true);
    expect(asks(write(join(world.dir, 'link to src', 'a.ts')))).toBe(true);
    expect(asks(toolCall(solo, 'Write', { content: 'x' }))).toBe(true);
    expect(asks(toolCall(solo, 'Write', { file_path: 7 }))).toBe(true);
    expect(asks(toolCall(solo, 'Write', { path: join(solo, 'a') }))).toBe(true);
    expect(asks(toolCall(solo, 'mcp__fs__write', { file_path: join(solo, 'a') }))).toBe(true);
    expect(asks(toolCall(solo, 'apply_patch', { command: '*** Begin Patch' }))).toBe(true);
  });

  it('sets the beat, and nothing else', () => {
    const beat = join(solo, '.git', 'handoff', 'beat', soloSession);
    writeFileSync(beat, '');
    utimesSync(beat, 1, 1);
    expect(asks(write(join(solo, 'src', 'a.ts')))).toBe(false);
    expect(statSync(beat).mtimeMs).toBeGreaterThan(1_000_000);
  });
});

decides('what comes before', () => {
  it('lets a repository without `init` alone, unless it holds handoffs', () => {
    expect(asks(toolCall(plain, 'Bash', { command: 'git push > x' }))).toBe(false);
    expect(asks(toolCall('/', 'Bash', { command: 'ls' }))).toBe(false);
    expect(existsSync(join(plain, '.git', 'handoff'))).toBe(false);
    const holds = world.repository('holds', false);
    mkdirSync(join(holds, '.git', 'refs', 'handoffs'));
    expect(asks(toolCall(holds, 'Bash', { command: 'ls' }))).toBe(true);
  });

  it.each(['SessionStart', 'SessionEnd', 'Stop', 'SubagentStart'])('hands %s to Node everywhere', (event) => {
    expect(asks({ session_id: soloSession, cwd: plain, hook_event_name: event })).toBe(true);
  });

  it('hands a note to Node everywhere, in any case of letters', () => {
    for (const name of ['handoff-a.md', 'HANDOFF-a.md', 'Handoff', 'memory/a', 'Memory/a']) {
      expect(asks(toolCall(plain, 'Write', { file_path: `/x/${name}` }))).toBe(true);
    }
  });

  it('gives Node the settings and the aliases, whatever else the payload holds', () => {
    const repository = world.repository('configured', false);
    world.git(repository, 'config', 'alias.co', 'checkout');
    for (const command of ['ls', 'git co x # handoff', 'cat /memory/x', 'x'.repeat(300_000)]) {
      const call = toolCall(repository, 'Bash', { command }, { hook_event_name: 'Stop' });
      const { node } = world.run(['guard', '--client', 'claude'], JSON.stringify(call));
      expect(node?.settings, command.slice(0, 40)).toBe('alias.co checkout\n.\n');
    }
    const call = toolCall(repository, 'Bash', { command: 'git co x # handoff' });
    const { node } = world.run(['guard'], JSON.stringify(call));
    expect(node?.settings).toBe('alias.co checkout\n.\n');
  });

  it('takes a payload behind a byte order mark for what it is', () => {
    expect(asks(`\u{FEFF}${JSON.stringify(shell('ls'))}`)).toBe(false);
    expect(asks(`\u{FEFF}${JSON.stringify(shell('git push'))}`)).toBe(true);
  });

  it('hands on every byte of a long payload', () => {
    const long = (size: number) => shell(`echo ${'é'.repeat(size)}; git push`);
    for (const size of [65_536, 130_900, 131_072, 262_144, 1_000_000]) expect(asks(long(size))).toBe(true);
  });

  it('asks Node about a note that was changed in the second of the last call', () => {
    const beat = join(solo, '.git', 'handoff', 'beat', soloSession);
    const refs = join(solo, '.git', 'refs', 'handoffs');
    const notes = join(world.home, '.claude', 'projects');
    const after = shell('make', { hook_event_name: 'PostToolUse', tool_response: {} });
    const at = (path: string, seconds: number) => utimesSync(path, seconds, seconds);
    for (const path of ['p', 'p/memory', 'p/memory/handoff-main-auth-refresh.md'])
      at(join(notes, path), 1000);
    writeFileSync(beat, '');
    at(beat, 2000);
    expect(asks(after)).toBe(false);
    mkdirSync(refs);
    at(refs, 2000);
    at(beat, 2000);
    expect(asks(after)).toBe(true);
    at(refs, 1999);
    at(beat, 2000);
    expect(asks(after)).toBe(false);
    rmSync(refs, { recursive: true });
  });

  it('finds the repository from a folder below, a link, a worktree and a submodule', () => {
    expect(asks(toolCall(join(solo, 'src'), 'Bash', { command: 'ls' }))).toBe(false);
    expect(asks(toolCall(join(world.dir, 'link to src'), 'Bash', { command: 'ls' }))).toBe(false);
    expect(asks(toolCall(join(world.dir, 'link to src'), 'Bash', { command: 'git push' }))).toBe(true);
    const main = world.repository('main', false);
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
    world.git(main, ...identity, 'commit', '-q', '--allow-empty', '-m', 'x');
    const tree = join(world.dir, 'work tree');
    world.git(main, 'worktree', 'add', '-q', '-b', 'tree', tree);
    expect(asks(toolCall(tree, 'Bash', { command: 'git push' }))).toBe(false);
    const gitDir = world.git(tree, 'rev-parse', '--absolute-git-dir').trim();
    world.enable(gitDir, join(main, '.git'));
    expect(asks(toolCall(tree, 'Bash', { command: 'ls' }))).toBe(false);
    expect(asks(toolCall(tree, 'Bash', { command: 'git push' }))).toBe(true);
    writeFileSync(join(tree, '.git'), `gitdir: ../${relative(world.dir, gitDir)}`);
    expect(asks(toolCall(tree, 'Bash', { command: 'ls' }))).toBe(false);
    expect(asks(write(join(tree, 'x'), { cwd: tree }))).toBe(false);
  });

  it('hands odd payloads to Node', () => {
    const twice = JSON.stringify(shell('ls')).replace('"effort"', '"session_id":"other","effort"');
    for (const odd of ['', '{}', '[]', 'null', '{"tool_name"', twice]) expect(asks(odd)).toBe(true);
    for (const key of ['session_id', 'cwd', 'hook_event_name', 'tool_name']) {
      expect(asks(shell('ls', { [key]: undefined }))).toBe(true);
      expect(asks(shell('ls', { [key]: null }))).toBe(true);
      expect(asks(shell('ls', { [key]: 7 }))).toBe(true);
      expect(asks(shell('ls', { [key]: '' }))).toBe(true);
    }
    expect(asks(shell('ls', { session_id: 'another' }))).toBe(true);
    expect(asks(shell('ls', { session_id: '../x' }))).toBe(true);
    expect(asks(shell('ls', { cwd: 'relative' }))).toBe(true);
    expect(asks(shell('ls', { cwd: '/nowhere/at/all' }))).toBe(true);
    expect(asks(shell('ls', { hook_event_name: 'PostToolBatch' }))).toBe(true);
  });

  it('reads other layouts of the same JSON', () => {
    expect(asks(JSON.stringify(shell('ls')).replaceAll('":', '": '))).toBe(false);
    expect(asks(`\r\n${JSON.stringify(shell('ls'), null, 2)}\r\n`)).toBe(false);
    expect(asks(JSON.stringify(write(join(solo, 'src/a.ts')), null, 2))).toBe(false);
    expect(asks(`${JSON.stringify(shell('git push'), null, 2)}\n\n`)).toBe(true);
  });

  it('leaves an unusual git environment to Node', () => {
    expect(asks(shell('ls'), { GIT_DIR: join(plain, '.git') })).toBe(true);
    expect(asks(shell('ls'), { GIT_WORK_TREE: '/' })).toBe(true);
  });
});

describe.each(shells.filter((one) => !isYash(one)))('under $name', (one) => {
  let own: LauncherWorld;
  beforeAll(() => {
    own = new LauncherWorld(one);
  });
  afterAll(() => own.remove());

  it('decides the same', () => {
    const under = (payload: object | string): boolean =>
      asks(payload, { LC_ALL: 'C.UTF-8', HOME: world.home }, own);
    expect(under(shell('ls "ä" \'ö\''))).toBe(false);
    expect(under(shell('git push'))).toBe(true);
    expect(under(shell('rm ha\'nd\'"off"'))).toBe(true);
    expect(under(shell('echo x > "$p"'))).toBe(true);
    expect(under(write(join(solo, 'src', 'a.ts')))).toBe(false);
    expect(under(write(join(solo, 'hard')))).toBe(true);
    expect(under(write(join(solo, 'soft')))).toBe(true);
    expect(under(toolCall(plain, 'Bash', { command: 'ls' }))).toBe(false);
    expect(under(shell(`echo ${'x'.repeat(300_000)}; git push`))).toBe(true);
    expect(under(toolCall(solo, 'Write', { file_path: join(solo, 'b'), content: 'é'.repeat(40_000) }))).toBe(
      false,
    );
    expect(under(shell(`rm ${'é'.repeat(200_000)}`))).toBe(true);
    expect(under(`{"hook_event_name":"Stop","x":"\u0081\u0088${'\\\\'.repeat(300)}$(id)\`id\`%s%n"}`)).toBe(
      true,
    );
  });
});

describe.each(shells.filter(isYash))('under $name', (one) => {
  it('asks Node, which gets every byte', () => {
    const own = new LauncherWorld(one);
    for (const locale of ['C', 'C.UTF-8']) {
      for (const command of ['ls', 'ls é; git reset --hard']) {
        expect(asks(shell(command), { LC_ALL: locale, HOME: world.home }, own)).toBe(true);
      }
    }
    own.remove();
  });
});
