import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { guard } from '../../../src/guard/guard.ts';
import { ENDLESS } from '../../support/endless.mjs';
import { CALLER, GuardWorld, HANDOFF_REF, OWNER, markedNote } from '../../support/guard.ts';
import { readAnswer } from '../../support/hook-answer.ts';
import { filledIn } from './piece.ts';
import { Snapshot } from '../../support/disk-snapshot.ts';

/** A command that takes longer than this, in milliseconds, hangs. */
const PATIENCE_MS = 2000;
/** The machine may be busy, so what seems to hang gets a second try of this many milliseconds. */
const MORE_PATIENCE_MS = 20_000;

const REPORT = /behind git-handoff's back|without the guard seeing it/;

/**
 * Runs shell commands for real in a temporary home and repository, and asks the guard about them. The guard runs in this
 * process, for speed, and also through the built launcher where that could decide otherwise.
 */
export class ShellLab {
  readonly world = new GuardWorld({ calls: 'process' });
  readonly #snapshot: Snapshot;
  readonly #refs: string;
  readonly #former: string;

  constructor() {
    this.#furnish();
    this.world.sessionStart(CALLER);
    this.#snapshot = new Snapshot(this.world.root);
    this.#refs = this.#listRefs();
    this.#former = this.#state(true);
  }

  #furnish(): void {
    const { world } = this;
    const gone = markedNote(OWNER, 'gone\n');
    const lines = {
      'p.txt': '@FILE@\n',
      'vars.sh': 'P=@FILE@\n',
      'w.sh': '#!/bin/bash\necho x > @FILE@\n',
      Makefile: 'all:\n\t@echo x > @FILE@\n',
      'w.py': 'open("@FILE@", "w")\n',
      'w.cjs': 'require("fs").writeFileSync("@FILE@", "")\n',
      'w.pl': 'unlink "@FILE@";\n',
      'w.awk': 'BEGIN { print "x" > "@FILE@" }\n',
      'w.sed': 'w @FILE@\n',
      'empty.txt': '',
      'handoff-main-auth-refresh.md': gone,
      'sub/handoff-main-auth-refresh.md': gone,
      'sub/keep.txt': 'keep\n',
    };
    const files = Object.entries(lines).map(([name, text]) => [name, this.fill(text)] as const);
    world.commit('scripts', { ...Object.fromEntries<string>(files), 'note.txt': 'e\na\n' });
    world.bash('chmod +x w.sh && git branch other HEAD~1 && git init -q --bare ../empty.git');
    writeFileSync(world.file, gone);
    world.bash(this.fill('tar -cPf t.tar @FILE@ 2>/dev/null'));
    writeFileSync(world.file, markedNote(OWNER));
    world.commit('more', { 'note.txt': 'b\ne\na\n' });
    writeFileSync(join(world.memory, '..', 'handoff-main-auth-refresh.md'), 'unguarded e\n');
    mkdirSync(join(world.home, 'docs'));
  }

  remove(): void {
    this.world.remove();
  }

  /** Fills in the placeholders of a command. */
  fill(text: string): string {
    const { file } = this.world;
    return filledIn(text, (part) => {
      const full = part
        .replaceAll('@REF@', HANDOFF_REF)
        .replaceAll('@ELIF@', Array.from(file).reverse().join(''));
      return this.world.fill(full);
    });
  }

  /** Restores everything to the state before the last command. */
  reset(): void {
    this.#snapshot.restore();
  }

  /** Whether the guard refuses a command in this process, and also through the launcher, which might let the command pass. */
  async denies(command: string): Promise<boolean> {
    const { world } = this;
    const payload = {
      session_id: CALLER,
      hook_event_name: 'PreToolUse',
      cwd: world.path,
      tool_name: 'Bash',
      tool_input: { command },
    };
    const stdout = await guard({
      text: JSON.stringify(payload),
      client: 'claude',
      clientPid: process.pid,
      env: world.env(),
      cwd: world.path,
      now: Date.now(),
      budget: ENDLESS,
    });
    const run = { status: 0, stdout, stderr: '', bytes: Buffer.from(stdout) };
    return readAnswer(run, 'PreToolUse').kind === 'deny' && this.#launcherDenies(command);
  }

  /**
   * Whether the launcher, too, sees that there is something to decide. A command that names a handoff need not be tried,
   * because the launcher looks for such a name first.
   */
  #launcherDenies(command: string): boolean {
    if (/handoff|\/memory/i.test(command)) return true;
    return this.world.before('Bash', { command }).kind === 'deny';
  }

  /** Runs a command for real. Returns whether a guarded file or ref changed; `undefined` when it hangs. */
  async changes(command: string): Promise<boolean | undefined> {
    for (const patience of [PATIENCE_MS, MORE_PATIENCE_MS]) {
      if (await this.#run(command, patience)) return this.#hasChanged();
      this.reset();
    }
    return undefined;
  }

  /**
   * Lets the guard look afterwards, which must report the change. All files must be unchanged, or the former text must be
   * where the guard says, and the note must be readable. Returns when the guard reported the change, or what is wrong.
   */
  noticed(command: string): 'at once' | 'by the next command' | `wrong: ${string}` {
    const answer = this.world.after('Bash', { command });
    const atOnce = 'text' in answer ? (answer.text ?? '') : '';
    // If a command does not contain our words, the launcher looks only at file times, which commands can set.
    const told = REPORT.test(atOnce) ? atOnce : this.world.handoff(['list']).stderr;
    if (!REPORT.test(told))
      return `wrong: allowed, changes, nothing is told of it (${JSON.stringify(answer)})`;
    const name = /Its previous text: git cat-file -p (\S+)/.exec(told)?.[1];
    const copy = name === undefined ? '' : this.world.run('git', ['cat-file', '-p', name]).stdout;
    const isKept = this.#files() === this.#formerFiles() || copy === markedNote(OWNER);
    if (!isKept) return `wrong: allowed, changes, the former text is gone (${told})`;
    const { stdout, stderr } = this.world.handoff(['show', 'main/auth-refresh', '--raw']);
    if (stdout.trimEnd() !== 'secret token') return `wrong: the note cannot be read (${stderr})`;
    return told === atOnce ? 'at once' : 'by the next command';
  }

  /** Runs a command, and kills what it leaves running. Returns whether the command ended by itself. */
  #run(command: string, patience: number): Promise<boolean> {
    const env = this.world.env({ CLAUDE_CODE_SESSION_ID: CALLER });
    const child = spawn('bash', ['-c', command], {
      cwd: this.world.path,
      env,
      detached: true,
      stdio: 'ignore',
    });
    const kill = () => {
      try {
        process.kill(-(child.pid ?? 0), 'SIGKILL');
      } catch {
        // No process is left.
      }
    };
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        kill();
        resolve(false);
      }, patience);
      child.on('error', reject);
      child.on('exit', () => {
        clearTimeout(timer);
        kill();
        resolve(true);
      });
    });
  }

  #hasChanged(): boolean {
    const changed = [...this.#snapshot.changed()];
    const { path, memory } = this.world;
    if (!changed.some((each) => each.startsWith(`${path}/.git`) || each.startsWith(memory))) return false;
    return this.#state(changed.some((each) => each.startsWith(`${path}/.git`))) !== this.#former;
  }

  #formerFiles(): string {
    return this.#former.slice(0, this.#former.indexOf('\0'));
  }

  #state(withRefs: boolean): string {
    return `${this.#files()}\0${withRefs ? this.#listRefs() : this.#refs}`;
  }

  #files(): string {
    const { memory } = this.world;
    const names = existsSync(memory)
      ? readdirSync(memory).filter((name) => /^handoff-.*\.md$/i.test(name))
      : [];
    return names.map((name) => `${name}\n${contentOf(join(memory, name))}`).join('\n');
  }

  #listRefs(): string {
    const spaces = ['refs/handoffs', 'refs/handoffs-local/kept', 'refs/handoffs-local/files'];
    const listed = this.world.run('git', ['for-each-ref', '--format=%(refname) %(objectname)', ...spaces]);
    return listed.stdout;
  }
}

/** A file's bytes, or why they cannot be read: a link to nowhere, a folder. */
function contentOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (error) {
    return String(error);
  }
}
