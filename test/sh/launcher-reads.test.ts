import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { analyseShell } from '../../src/shell/analyse.ts';
import type { ShellEffects } from '../../src/shell/effects.ts';
import { mayGoAround } from '../../src/shell/git-verbs.ts';
import { gitReads } from '../../src/shell/read-only.ts';
import { type Shell, shells } from '../support/shells.ts';
import { fakeWorld } from '../unit/shell/fake-world.ts';

const root = join(import.meta.dirname, '..', '..');

/**
 * For each input of a shell tool, whether the launcher's own functions would let it pass without Node. Runs them all in one
 * process.
 * @param inputs the values of `tool_input`, as lines of JSON
 */
function leftToSh(inputs: readonly string[], shell: Shell): boolean[] {
  const launcher = readFileSync(join(root, 'bin', 'git-handoff'), 'utf8');
  const functions = ['read_input', 'only_reads'].map((name) => {
    const from = launcher.indexOf(`\n${name}() {\n`);
    return launcher.slice(from, launcher.indexOf('\n}\n', from) + 3);
  });
  const script = [
    String.raw`blanks=$(printf ' \t\n.') blanks=${'${blanks%.}'} LC_ALL=C`,
    'set -f',
    ...functions,
    'while IFS= read -r input; do',
    '  if IFS=$blanks && read_input command && only_reads "$value"; then echo 1; else echo 0; fi',
    'done',
  ].join('\n');
  const done = spawnSync(shell.binary, ['-c', script], {
    argv0: 'sh',
    input: inputs.map((one) => `"tool_input":${one}\n`).join(''),
    maxBuffer: 1 << 26,
    encoding: 'utf8',
  });
  expect(done.stderr).toBe('');
  const told = done.stdout.trimEnd().split('\n');
  expect(told).toHaveLength(inputs.length);
  return told.map((line) => line === '1');
}

const inputOf = (command: string) => JSON.stringify({ command, description: 'x' });

const READING = [
  'ls', 'ls -la src', 'ls src/*.ts', 'pwd', 'true', ' ', 'echo done', 'cat src/a.ts', 'cat a b  c ', ' cat a',
  'head -20 src/a.ts', 'tail -n +5 a', 'wc -l src/a.ts', 'grep -rn handler src', 'grep -c ^import a.ts',
  'git status', 'git status --short', 'git log --oneline -5', 'git log -p main..HEAD -- src/a.ts',
  'git diff', 'git diff HEAD^1', 'git diff --stat', 'git show HEAD:src/a.ts', 'git show 1c392df',
  'git ls-files', 'git rev-parse --show-toplevel', 'git log --format=%H,%s', 'git log --author=a@example.com',
  'git log | head -5', 'git status; git diff', 'git status && git log -1', 'ls || true', 'cat a | grep x | wc -l',
  'ls|wc -l', 'cat a&cat b', 'ls & ', 'git diff -w a_b c-d +e', 'git log -- 2,3',
]; // prettier-ignore

/** Commands that must go to Node, grouped by what the launcher might overlook. */
const OTHERS = [
  // Other programs, and programs that others start.
  '', ':', 'make', 'npm test', 'rm a', 'mv a b', 'cp a b', 'touch a', 'ln -s a b', 'dd if=a of=b', 'tee a', 'cat a | tee b',
  'ls; rm a', 'ls && rm a', 'ls || rm a', 'ls | xargs rm', 'ls & rm a', 'ls|sh', 'ls;sh', 'ls&sh', 'ls |& sh', 'ls&&sh',
  'find . -delete', 'find . -name a', 'sort -o a a', 'sort a', 'sed -i s/a/b/ c', 'sed -n 1p a', 'awk 1 a', 'uniq a b',
  'env', 'env ls', 'command ls', 'exec ls', 'eval ls', 'time ls', 'sudo ls', 'xargs ls', 'nice ls', 'timeout 5 ls', 'builtin echo a',
  'true:', 'cat:x a', 'ls:/../a', 'echo: a', 'git:status', 'git status: a', 'node a.js', 'python3 a.py', 'sh a.sh', './ls', '/bin/ls', 'src/cat a', 'lsof', 'cats a', 'l', 'LS', 'Cat a', 'echoo',
  'cd', 'cd src', 'cd src && ls', 'cd .. && ls', 'ls && cd x', 'pushd x', 'export A=b', 'unset A', 'set -e', 'alias ls=rm',
  'A=b', 'A=b ls', 'PATH=. ls', 'GIT_DIR=x git status', 'CLAUDE_CODE_SESSION_ID=x git log', 'trap x EXIT', '. a', 'source a',
  '! ls', 'if true', 'for a in b', 'while true', 'then ls', 'do ls', 'case a in', '[ -f a ]', 'test -f a',
  // Redirections, quotes, expansions, groups, comments.
  'echo x > a', 'echo x >a', 'echo x >> a', 'cat < a', 'ls 2>&1', 'ls >/dev/null', 'ls &> a', 'ls >| a', 'cat <> a', 'cat <<E',
  'echo "a"', "echo 'a'", 'echo $A', 'echo ${A}', 'echo $(rm a)', 'echo `rm a`', "echo $'a'", 'cat <(rm a)', 'ls >(sh)',
  '(ls)', '{ ls; }', 'ls {a,b}', 'ls [a]*', 'ls ?', 'ls ~', 'ls ~/x', 'ls !$', 'ls #', 'ls # > a', 'a() { ls; }', 'ls \\a', 'r\\m a',
  'ls\nrm a', 'ls\n', 'ls\r', 'ls\t-l', 'ls\u0000', 'ls\u00a0a', 'ls é', 'ls\u2028rm a', 'ls \u{1F600}', 'ls\u007f', 'ls\u001b',
  // git's ways to write, to start programs and to work elsewhere.
  'git', 'git ', 'git commit -m x', 'git add .', 'git push', 'git checkout x', 'git stash', 'git branch', 'git branch -D x', 'git reset',
  'git -c core.pager=sh log', 'git -C x status', 'git -p log', 'git --git-dir=x log', 'git --exec-path=x log', 'git --no-pager log',
  'git diff --output=a', 'git diff --output a', 'git log --output=a', 'git show --output=a', 'git log -1 --output=a', 'git diff --outpu a',
  'git diff --ou', 'git diff  --output=a', 'git log -p --output-indicator-new=x', 'git diff HEAD --output=src/a.ts -- b',
  'git diff *', 'git log -- *.ts', 'git show *', 'git status *', 'git ls-files *.ts', 'git * a', '* a', 'ls; git diff *', 'git diff * | cat',
  'git grep x', 'git grep -O x', 'git grep -Osh x', 'git fetch', 'git pull', 'git config a.b c', 'git remote', 'git tag x', 'git bisect run a',
  'git difftool', 'git mergetool', 'git rebase -x a', 'git submodule foreach rm', 'git worktree remove x', 'git update-ref -d a',
  'git reflog expire', 'git gc', 'git archive -o a HEAD', 'git format-patch -1', 'git bundle create a', 'git apply a', 'git statusx',
  'git status; git push', 'git log|git apply', 'git show a|git apply -R', 'git diff & git stash', 'git-log', 'gitstatus', 'git\u00a0status',
]; // prettier-ignore

/** Inputs in forms that clients do not use. */
const ODD_INPUTS = [
  '{"command":"ls","command":"rm a"}',
  '{"command":"ls","x":{"command":"rm a"}}',
  '{"x":{"command":"ls"},"command":"rm a"}',
  '{"description":"command","command":"rm a"}',
  '{"description":"x","command":"ls"}',
  '{"\\u0063ommand":"rm a"}',
  '{"command":"\\u006cs"}',
  '{"command":"ls\\nrm a"}',
  '{"command":"ls \\/x"}',
  '{"command":"ls \\" rm"}',
  '{"command":["ls"]}',
  '{"command":null}',
  '{"command":7}',
  '{"command":',
  '{"command"',
  '{"command":"',
  '{}',
  '[]',
  '"command"',
  '[{"command":"ls"}]',
  '{"Command":"ls"}',
  '{"commands":"ls"}',
  '{"command" : "ls"}',
  '{"command":"ls"},"tool_response":{"command":"rm a"}}',
  '{"command":"ls"},"tool_response":[{"command": "rm a"}]}',
  `{"command":"ls ${'a'.repeat(5000)}"}`,
];

/** Whether two operators are adjacent. No shell runs such a line, but the analysis does not call it unreadable. */
const isNoCommand = (command: string) => /(?:^|[;&|]) *[;&|]/.test(command.replaceAll(/&&|\|\|/g, ';'));

/** The oracle: whether the analysis finds any effect of a command. */
function mayAct(effects: ShellEffects): boolean {
  const { paths, refs, identity, handoffCalls, gitCalls, folders, unnamedWrites, modes } = effects;
  return (
    [paths, refs, identity, handoffCalls, folders, unnamedWrites, modes].some((list) => list.length > 0) ||
    !gitCalls.every(gitReads) ||
    gitCalls.some(({ settings, overrides }) => (settings?.size ?? 0) > 0 || overrides !== undefined) ||
    mayGoAround(effects)
  );
}

/** Commands made of words that a command line may have. They are the same in every run. */
function* generated(count: number): Generator<string> {
  const words = [
    ...'ls cat head grep wc echo pwd true : git git git git rm sh tee find sort xargs env cd npm a src/a.ts -l -n5'.split(' '),
    ...'status diff log show ls-files rev-parse commit stash checkout reset push config branch add grep -c -C -O'.split(' '),
    ...'--output=a --output --ou --stat --cached HEAD HEAD^ main..x -- * *.ts x=y A=b %s @ +x ^a , / . .. .git/config'.split(' '),
    ...'~ > >> < 2>&1 $A $(rm) `rm` "a" \' \\ ( ) { } [ ] ? # ! é'.split(' '),
  ]; // prettier-ignore
  const joints = [
    ' ',
    ' ',
    ' ',
    ' ',
    ' ',
    ' ',
    ' | ',
    ' && ',
    '; ',
    ' & ',
    '|',
    ';',
    '&',
    '||',
    '  ',
    '',
    '\n',
  ];
  let seed = 20261126;
  const pick = <T>(list: readonly T[]): T => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return list[Math.floor((seed / 2 ** 32) * list.length)] as T;
  };
  for (let made = 0; made < count; made++) {
    // Half of the commands consist only of words that a read-only command may have.
    const known = made % 2 === 0 ? words.filter((word) => /^[\w ./:=@%+,^*-]+$/.test(word)) : words;
    let command = pick(READING);
    for (let more = pick([0, 1, 2, 3, 5]); more > 0; more--) command += pick(joints) + pick(known);
    yield command;
  }
}

/** The commands of every corpus of the tests. */
function corpora(): string[] {
  const folders = ['fixtures/hostile', 'fixtures/payloads'].map((folder) => join(root, folder));
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .map((name) => join(folder, name)),
  );
  const found: string[] = [];
  const collect = (value: unknown, key: string) => {
    if (typeof value === 'string' && /^(?:command|cmd)$/.test(key)) found.push(value);
    else if (typeof value === 'object' && value !== null)
      for (const [name, one] of Object.entries(value)) collect(one, name);
  };
  for (const file of files) collect(JSON.parse(readFileSync(file, 'utf8')) as unknown, '');
  return found;
}

describe.each(shells)('the commands of a lone session that sh leaves alone, under $name', (shell) => {
  it('are those that only read', () => {
    const told = leftToSh(READING.map(inputOf), shell);
    expect(READING.filter((_, at) => !told[at])).toEqual([]);
  });

  it('do not include any that may do more', () => {
    const told = leftToSh(OTHERS.map(inputOf), shell);
    expect(OTHERS.filter((_, at) => told[at])).toEqual([]);
  });

  it('do not include inputs in a form that clients do not write', () => {
    const told = leftToSh(ODD_INPUTS, shell);
    expect(ODD_INPUTS.filter((_, at) => told[at])).toEqual([]);
  });
});

describe('a command that sh leaves alone', () => {
  let commands: string[];
  let acting: Set<string>;
  beforeAll(async () => {
    commands = [...new Set([...READING, ...OTHERS, ...corpora(), ...generated(8000)])];
    const world = fakeWorld();
    acting = new Set();
    for (const command of commands)
      if (!isNoCommand(command) && mayAct(await analyseShell(command, world))) acting.add(command);
  });

  it.each(shells)('has no effects according to the analysis, under $name', (shell) => {
    const told = leftToSh(commands.map(inputOf), shell);
    const left = commands.filter((_, at) => told[at]);
    expect(commands.length).toBeGreaterThan(4500);
    expect(left.length).toBeGreaterThan(500);
    expect(acting.size).toBeGreaterThan(1500);
    expect(left.filter((command) => acting.has(command))).toEqual([]);
  });
});
