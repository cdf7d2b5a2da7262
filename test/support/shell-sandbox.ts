import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ShellEffects, ShellWorld } from '../../src/shell/effects.ts';
import { diskWorld, isHit } from './shell-world.ts';

const REF = 'refs/handoffs/main/auth-refresh';
const P_DIFF = '--- a\n+++ b\n@@ -1,2 +1,2 @@\n line 1\n-secret token\n+gone\n';
const N_DIFF = '--- a/note.txt\n+++ b/note.txt\n@@ -1,2 +1,2 @@\n-b\n+c\n a\n';

/** A throw-away home with a guarded handoff file, and a repository with a handoff's ref. */
export class ShellSandbox {
  readonly #root = realpathSync(mkdtempSync(join(tmpdir(), 'handoff-shell-')));
  readonly home = join(this.#root, 'w/home');
  readonly memory = join(this.home, '.claude/projects/testproj/memory');
  readonly file = join(this.memory, 'handoff-main-auth-refresh.md');
  readonly cwd = join(this.#root, 'w/repo');
  readonly #environment: Readonly<Record<string, string>> = {
    HOME: this.home,
    PATH: process.env['PATH'] ?? '',
    LANG: 'C.UTF-8',
    USER: 'home',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'A',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'A',
    GIT_COMMITTER_EMAIL: 'a@example.com',
  };

  constructor() {
    mkdirSync(this.memory, { recursive: true });
    mkdirSync(this.cwd, { recursive: true });
    writeFileSync(this.file, 'line 1\nsecret token\n');
    writeFileSync(join(this.memory, 'MEMORY.md'), 'index\n');
    writeFileSync(join(this.cwd, 'note.txt'), 'b\na\n');
    writeFileSync(join(this.cwd, 'handoff-main-auth-refresh.md'), 'unguarded\n');
    writeFileSync(join(this.cwd, 'p.diff'), P_DIFF);
    writeFileSync(join(this.cwd, 'n.diff'), N_DIFF);
    const git = (...args: string[]) => execFileSync('git', args, { cwd: this.cwd, env: this.#environment });
    git('init', '-q', '-b', 'main');
    git('add', '.');
    git('commit', '-qm', 'first');
    git('commit', '-qm', 'second', '--allow-empty');
    git('update-ref', REF, 'HEAD~1');
    cpSync(join(this.#root, 'w'), join(this.#root, 'template'), { recursive: true, verbatimSymlinks: true });
  }

  /** Puts everything back as it was. */
  reset(): void {
    rmSync(join(this.#root, 'w'), { recursive: true, force: true });
    execFileSync('cp', ['-a', join(this.#root, 'template'), join(this.#root, 'w')]);
  }

  dispose(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }

  fill(text: string): string {
    return text
      .replaceAll('@FILE@', this.file)
      .replaceAll('@MEM@', this.memory)
      .replaceAll('@HOME@', this.home)
      .replaceAll('@CWD@', this.cwd)
      .replaceAll('@PWN@', join(this.#root, 'canary'));
  }

  world(cwd = this.cwd): ShellWorld {
    const watched = [this.file, join(this.cwd, '.git', REF)];
    return diskWorld({ cwd, home: this.home, watched, environment: this.#environment });
  }

  run(command: string, cwd = this.cwd): void {
    spawnSync('bash', ['-c', command], { cwd, env: this.#environment, timeout: 10_000, input: '' });
  }

  /** What must not change: the file's content, and the handoffs' refs. */
  state(): string {
    const content = existsSync(this.file) ? readFileSync(this.file, 'latin1') : 'absent';
    const listed = spawnSync('git', ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/handoffs'], {
      cwd: this.cwd,
      env: this.#environment,
      encoding: 'utf8',
    });
    return `${content}\n${listed.stdout}`;
  }

  isHit(effects: ShellEffects): boolean {
    return isHit(effects, this.file, this.cwd);
  }
}
