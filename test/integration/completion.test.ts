import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERBS } from '../../src/cli/verbs.ts';
import { TestRepository } from '../support/repository.ts';

/** A shell whose line editor a test can drive. */
type ShellName = 'bash' | 'zsh' | 'fish';

/** What a person types at a shell's prompt. */
interface Typing {
  readonly cwd: string;
  readonly home: string;
  /** Runs before the first key, to load the completion. */
  readonly setup: string;
  readonly keys: string;
}

const PATIENCE_MS = 20_000;
const DUMP = '\u0014'; // Ctrl-T
/** The folder in which shells find our program, to ask it for completions. */
const BIN = join(import.meta.dirname, '../../bin');

/** Makes Ctrl-T write the edited line to `$LINE_FILE`. A rename makes the file appear whole or not at all. */
const DUMPERS: Readonly<Record<ShellName, string>> = {
  bash: `dump() { printf %s "$READLINE_LINE" >"$LINE_FILE.new"; mv "$LINE_FILE.new" "$LINE_FILE"; }
bind -x '"\\C-t": dump'`,
  zsh: `dump() { print -rn -- "$BUFFER" >"$LINE_FILE.new"; command mv "$LINE_FILE.new" "$LINE_FILE"; }
zle -N dump; bindkey '^T' dump`,
  fish: `function dump; commandline -b | string collect >"$LINE_FILE.new"; mv "$LINE_FILE.new" "$LINE_FILE"; end
bind \\ct dump`,
};

const STARTS: Readonly<Record<ShellName, (rc: string) => string>> = {
  bash: (rc) => `bash --noprofile --rcfile '${rc}' -i`,
  zsh: (rc) => `zsh -o noglobalrcs -d -i; : '${rc}'`,
  fish: (rc) => `fish --no-config -i -C 'source "${rc}"'`,
};

/** Whether this machine has the shell, and util-linux's script(1) to give it a terminal. */
function canDrive(shell: ShellName): boolean {
  const has = (program: string) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
  return process.platform === 'linux' && has('script') && has(shell);
}

/** Types keys into a real interactive shell at a terminal; returns the resulting line, not yet entered. */
async function typedLine(shell: ShellName, typing: Typing): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'git-notes-line-')));
  const file = join(folder, 'line');
  const ready = join(folder, 'ready');
  const rc = join(folder, shell === 'zsh' ? '.zshrc' : 'rc');
  writeFileSync(rc, `${typing.setup}\n${DUMPERS[shell]}\n: >"$READY_FILE"\n`);
  const child = spawn('script', ['-qfec', STARTS[shell](rc), '/dev/null'], {
    cwd: typing.cwd,
    env: {
      PATH: `${BIN}${delimiter}${process.env['PATH'] ?? ''}`,
      HOME: typing.home,
      TERM: 'xterm',
      LC_ALL: 'C.UTF-8',
      ZDOTDIR: folder,
      LINE_FILE: file,
      READY_FILE: ready,
      GIT_CONFIG_NOSYSTEM: '1',
      SHELL: '/bin/sh',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let screen = '';
  child.stdout.on('data', (bytes: Buffer) => (screen += bytes.toString()));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    await appearance(ready, () => screen);
    child.stdin.write(typing.keys);
    await sleep(100);
    child.stdin.write(DUMP);
    await appearance(file, () => screen);
    return readFileSync(file, 'utf8').replace(/\n$/, '');
  } finally {
    // Killing script(1) closes the terminal, which ends the shell.
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  }
}

async function appearance(file: string, screen: () => string): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!existsSync(file)) {
    if (Date.now() > end)
      throw new Error(`the shell did not answer; its screen: ${JSON.stringify(screen())}`);
    await sleep(20);
  }
}

/** The words that a shell passes to `program` for this line. */
function wordsOf(shell: ShellName, line: string, program: string, cwd: string): string[] {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'git-notes-line-')));
  try {
    writeFileSync(join(folder, program), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
    const env = {
      PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}`,
      LC_ALL: 'C.UTF-8',
      HOME: folder,
    };
    const done = spawnSync(shell, ['-c', line], { cwd, env, encoding: 'utf8' });
    return done.stdout.split('\n').slice(0, -1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const A = 'aaaaaaaa-1111-4222-8333-444444444444';
/** A legal branch name that would run something if a shell did not quote it. */
const HOSTILE = `evil/$(touch\${IFS}canary)\`touch\${IFS}canary\`;touch\${IFS}canary&"'|<>!{a,b}#é`;
/** A legal branch name of which some terminals show the second half backwards. */
const BACKWARDS = 'evil/\u202egnp.exe';
const GIT_COMPLETION = [
  '/usr/share/bash-completion/completions/git',
  '/etc/bash_completion.d/git-completion.bash',
];

let repo: TestRepository;
let scripts: Record<ShellName, string>;

beforeAll(() => {
  repo = new TestRepository();
  for (const branch of [HOSTILE, BACKWARDS, 'feature/login', '100%sure', 'a=b', 'free-branch'])
    repo.git(['branch', branch]);
  for (const place of ['auth-refresh', 'feature/login/login-form', '100%sure/rate-limit', 'a=b/key-value']) {
    repo.ok(['write', place, '-m', 'a note'], { session: A });
  }
  for (const branch of [HOSTILE, BACKWARDS]) repo.ok(['write', `${branch}/deep-trap`, '-m', 'a note']);
  const save = (shell: ShellName) => {
    const file = join(repo.root, `completion.${shell}`);
    writeFileSync(file, repo.ok(['completion', shell]));
    return file;
  };
  scripts = { bash: save('bash'), zsh: save('zsh'), fish: save('fish') };
});
afterAll(() => repo.remove());

describe('git handoff completion', () => {
  it('refuses a shell that it does not know', () => {
    const { status, stderr } = repo.handoff(['completion', 'tcsh']);
    expect(status).toBe(2);
    expect(stderr).toContain('git handoff completion bash');
  });

  it.each<ShellName>(['bash', 'zsh', 'fish'])('offers %s every verb, and each of its options', (shell) => {
    const offered = (...words: string[]) =>
      repo
        .ok(['completion', shell, '--', ...words])
        .split('\n')
        .map((line) => line.split('\t')[0]);
    expect(offered('')).toEqual([...Object.keys(VERBS), '-h', '--help', '--version']);
    for (const [verb, { options }] of Object.entries(VERBS)) {
      const names = [...Object.keys(options), 'session', 'json', 'help'].map((name) => `--${name}`);
      expect(offered(verb, '--'), verb).toEqual(expect.arrayContaining(names));
    }
  });

  it('offers nothing outside a repository, and nothing after --', () => {
    expect(repo.ok(['completion', 'bash', '--', 'show', ''], { cwd: repo.root })).toBe('');
    expect(repo.ok(['completion', 'bash', '--', 'commit', '--', ''])).toBe('');
  });

  it.each<ShellName>(['bash', 'zsh', 'fish'])('writes what %s can parse, if it is here', (shell) => {
    const { status, stderr, error } = spawnSync(shell, ['-n', scripts[shell]], { encoding: 'utf8' });
    if (error === undefined) expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});

/** How each shell is set up for `git-handoff`, and for `git handoff`. */
const SETUPS: Readonly<Record<ShellName, () => string>> = {
  bash: () =>
    `${GIT_COMPLETION.filter(existsSync)
      .map((file) => `. ${file}`)
      .join('\n')}\n. '${scripts.bash}'`,
  zsh: () => `autoload -Uz compinit; compinit -u -D; . '${scripts.zsh}'`,
  fish: () => `source '${scripts.fish}'`,
};

describe.each<ShellName>(['bash', 'zsh', 'fish'])('%s at a terminal', (shell) => {
  // fish's own completion for git is not loaded here (that of fish 3.6 does not call ours).
  const behindGit = shell === 'zsh' || (shell === 'bash' && GIT_COMPLETION.some(existsSync));
  const routes = ['git-handoff', ...(behindGit ? ['git handoff'] : [])];
  const type = (keys: string) =>
    typedLine(shell, { cwd: repo.path, home: repo.home, setup: SETUPS[shell](), keys });
  const words = async (keys: string, program: string) => wordsOf(shell, await type(keys), program, repo.path);

  describe.runIf(canDrive(shell)).each(routes)('%s', (route) => {
    const program = route.split(' ')[0] ?? '';
    const before = route.split(' ').slice(1);
    it.each([
      ['a verb', 'unin\t', ['uninstall']],
      ['an option', 'write auth-refresh --exp\t', ['write', 'auth-refresh', '--expect']],
      ['a topic of this branch', 'show au\t', ['show', 'auth-refresh']],
      ['a topic of another branch', 'show feature/lo\t', ['show', 'feature/login/login-form']],
      ['a topic by its whole name', 'show feature/login/lo\t', ['show', 'feature/login/login-form']],
      ['a branch whose name is encoded', 'show 100\t', ['show', '100%sure/rate-limit']],
      ['a branch with an equals sign', 'show a=\t', ['show', 'a=b/key-value']],
      ['a branch that has no topic yet', 'write free\t', ['write', 'free-branch/']],
      ['the value of an option', 'list --state cl\t', ['list', '--state', 'closed']],
      ['the value behind an equals sign', 'list --state=cl\t', ['list', '--state=closed']],
      ['a branch for an option', 'import --branch feature/\t', ['import', '--branch', 'feature/login']],
    ])('completes %s', async (_, keys, expected) => {
      const typed = await words(`${route} ${keys}`, program);
      // zsh adds the equals sign before a value, and removes it when a blank is typed.
      const plain = typed.map((word) => (shell === 'zsh' ? word.replace(/^(--\w+)=$/, '$1') : word));
      expect(plain).toEqual([...before, ...expected]);
    });

    it('quotes a hostile branch, and neither runs nor shows one', async () => {
      expect(await words(`${route} show evil/\t`, program)).toEqual([
        ...before,
        'show',
        `${HOSTILE}/deep-trap`,
      ]);
      expect(readdirSync(repo.path)).not.toContain('canary');
      expect(existsSync(join(repo.home, 'canary'))).toBe(false);
    });
  });
});
