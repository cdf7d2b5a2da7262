import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A shell whose line editor a test can drive. */
export type ShellName = 'bash' | 'zsh' | 'fish';

/** What a person types at a shell's prompt, and what stands on the line afterwards. */
interface Typing {
  readonly cwd: string;
  readonly home: string;
  /** Run before the first key: loads the completion. */
  readonly setup: string;
  readonly keys: string;
}

const PATIENCE_MS = 20_000;
const DUMP = '\u0014'; // Ctrl-T

/** Binds Ctrl-T to write the edited line to `$LINE_FILE`, which appears whole or not at all. */
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

/** Whether a terminal for the shell can be had here: the shell, and util-linux's script(1) to give it one. */
export function canDrive(shell: ShellName): boolean {
  const has = (program: string) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
  return process.platform === 'linux' && has('script') && has(shell);
}

/** Types keys into a real interactive shell at a terminal; the line that then stands there, not yet entered. */
export async function typedLine(shell: ShellName, typing: Typing): Promise<string> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'git-notes-line-')));
  const file = join(folder, 'line');
  const ready = join(folder, 'ready');
  const rc = join(folder, shell === 'zsh' ? '.zshrc' : 'rc');
  writeFileSync(rc, `${typing.setup}\n${DUMPERS[shell]}\n: >"$READY_FILE"\n`);
  const child = spawn('script', ['-qfec', STARTS[shell](rc), '/dev/null'], {
    cwd: typing.cwd,
    env: {
      PATH: process.env['PATH'],
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
    // The terminal goes with script(1), and the shell with its terminal.
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

/** The words that a shell makes of a line whose command is `program`; anything else that it runs shows in the world. */
export function wordsOf(shell: ShellName, line: string, program: string, cwd: string): string[] {
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
