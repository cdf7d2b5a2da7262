import type { Statement } from 'unbash';
import { MAX_PATH } from '../domain/names.ts';
import { Disk } from './disk.ts';
import {
  type GitVerbCall,
  type HandoffCall,
  type IdentityEffect,
  type ModeEffect,
  type PathEffect,
  type RefEffect,
  type ShellEffects,
  type ShellWorld,
  type UnnamedWrites,
  UNKNOWN,
  isKnown,
} from './effects.ts';
import { CWD, type Scope } from './scope.ts';

/** Whether a command succeeds; `undefined` when that is unknown. */
export type Status = boolean | undefined;

/** The most characters of an output or a variable to keep. */
const MAX_TEXT = 65536;
const TEXT_BUDGET = 1 << 22;
const PARSE_BUDGET = 1 << 20;
/** How many times commands may run again, in loops and functions. */
const MAX_REPEATS = 5000;
/** How many git calls to record. A loop may call git for every file, but the first calls show what it does. */
const MAX_GIT_CALLS = 500;

/** The text that a command prints, as far as it is known. */
export class CommandOutput {
  text = '';

  add(text: string): void {
    if (this.text.length < MAX_TEXT) this.text += text;
    else if (!this.text.endsWith(UNKNOWN)) this.text += UNKNOWN;
  }
}

/** The input of a command. The commands of a group share it: each `read` takes a line. */
export class CommandInput {
  rest: string;
  readonly file: string | undefined;

  constructor(text: string, file?: string) {
    this.rest = text;
    this.file = file;
  }

  /** Takes the next line; `undefined` at the end. */
  line(): string | undefined {
    if (this.rest === '') return undefined;
    if (this.rest === UNKNOWN) return UNKNOWN;
    const end = this.rest.indexOf('\n');
    const line = end < 0 ? this.rest : this.rest.slice(0, end);
    this.rest = end < 0 ? '' : this.rest.slice(end + 1);
    return line;
  }
}

/** The interpreter's functions. Other modules call these through the shell, so that no module imports its caller. */
export interface Runner {
  script(shell: Shell, text: string): Status;
  statements(shell: Shell, statements: readonly Statement[]): Status;
  argv(shell: Shell, argv: readonly string[], plain: boolean): Status;
}

/** One analysis: what it has found, the disk as the command has changed it so far, and the remaining budget. */
export class ShellMachine {
  readonly disk: Disk;
  readonly source: string;
  readonly runner: Runner;
  /** The depth of shells in shells (`sh -c`, `eval`, functions, substitutions). */
  depth = 0;
  /** How many loops, and how many functions or sourced scripts, surround the running command (`break` needs a loop). */
  inside = { loops: 0, calls: 0 };
  /** Whether the budget is used up: then the rule of spelled.ts decides. */
  exhausted = false;
  readonly mentionsHandoffs: boolean;
  /** The settings that `git config` made earlier in the command, by lower-case key. */
  readonly settings = new Map<string, string>();
  readonly found = {
    identity: [] as IdentityEffect[],
    handoffCalls: [] as HandoffCall[],
    gitCalls: [] as GitVerbCall[],
    unnamedWrites: [] as UnnamedWrites[],
    modes: [] as ModeEffect[],
  };
  /** The folders in which unknown paths may change. */
  readonly folders = new Set<string>();
  #parseBudget = PARSE_BUDGET;
  #textBudget = TEXT_BUDGET;
  #steps = MAX_REPEATS;
  readonly #ran = new Set<object>();
  readonly #paths = new Map<string, PathEffect>();
  readonly #refs = new Map<string, RefEffect>();

  constructor(world: ShellWorld, source: string, runner: Runner) {
    this.disk = new Disk(world);
    this.source = source;
    this.runner = runner;
    this.mentionsHandoffs = source.includes('refs/handoffs');
  }

  /** Charges for reading `characters` of nested script. Returns false when the budget is used up. */
  spend(characters: number): boolean {
    this.#parseBudget -= characters;
    if (this.#parseBudget < 0) this.exhausted = true;
    return !this.exhausted;
  }

  /** Charges for handling `characters` (or words) once more. */
  charge(characters: number): void {
    this.#textBudget -= characters;
    if (this.#textBudget < 0) this.exhausted = true;
  }

  /** Charges for expanding a text. A text that is too long becomes unknown. */
  expanded(text: string): string {
    this.charge(text.length + 1);
    return text.length > MAX_TEXT || this.exhausted ? UNKNOWN : text;
  }

  /** Charges for running a command again. The first run is free, however many commands there are. */
  step(node: object): boolean {
    if (!this.#ran.has(node)) this.#ran.add(node);
    else if (--this.#steps < 0) this.exhausted = true;
    return !this.exhausted;
  }

  /** Runs a part of the command with its own count of surrounding loops and functions. */
  within<Result>(inside: { readonly loops: number; readonly calls: number }, run: () => Result): Result {
    const before = this.inside;
    this.inside = inside;
    const result = run();
    this.inside = before;
    return result;
  }

  change(effect: PathEffect): void {
    const { path, kind, follows } = effect;
    // A folder cannot be opened for writing.
    if (kind === 'write' && follows && !this.disk.changed && this.disk.isDirectory(path)) return;
    if (path.startsWith('/dev/') && !path.startsWith('/dev/shm/')) return;
    const key = `${kind}${follows ? '+' : '-'}${path}`;
    if (!this.#paths.has(key)) this.#paths.set(key, effect);
    if (kind === 'write') this.disk.addFile(path);
  }

  ref(ref: string, cwd: string, by: string): void {
    this.#refs.set(`${ref} ${cwd}`, { ref, cwd, by });
  }

  git(call: GitVerbCall): void {
    if (this.found.gitCalls.length < MAX_GIT_CALLS) this.found.gitCalls.push(call);
  }

  addUnnamedWrites(effect: UnnamedWrites): void {
    if (this.found.unnamedWrites.length < MAX_GIT_CALLS) this.found.unnamedWrites.push(effect);
  }

  result(): ShellEffects {
    return {
      paths: [...this.#paths.values()],
      refs: [...this.#refs.values()],
      folders: [...this.folders],
      ...this.found,
    };
  }
}

/** The shell in which a command runs: its state, and the command's streams. Words name paths in its current folder. */
export class Shell {
  readonly machine: ShellMachine;
  readonly scope: Scope;
  readonly input: CommandInput;
  readonly output: CommandOutput;

  constructor(machine: ShellMachine, scope: Scope, input: CommandInput, output: CommandOutput) {
    this.machine = machine;
    this.scope = scope;
    this.input = input;
    this.output = output;
  }

  with({ scope, input, output }: Partial<Pick<Shell, 'scope' | 'input' | 'output'>>): Shell {
    return new Shell(this.machine, scope ?? this.scope, input ?? this.input, output ?? this.output);
  }

  /** Returns a shell that sees all variables, and whose own changes do not reach this one. */
  subshell(): Shell {
    return this.with({ scope: this.scope.layer() });
  }

  /** Runs a command by its words. With `plain`, the first word is not taken for a function. */
  run(argv: readonly string[], plain = false): Status {
    return this.machine.runner.argv(this, argv, plain);
  }

  /** Runs script text in this shell, so that its changes of variables and folder remain. */
  script(text: string): Status {
    return this.machine.runner.script(this, text);
  }

  print(text: string): void {
    this.output.add(text);
  }

  /** Returns a variable's text: UNKNOWN for an array, `undefined` when it is not set. */
  text(name: string): string | undefined {
    const value = this.scope.lookup(name)?.value;
    return value === undefined || typeof value === 'string' ? value : UNKNOWN;
  }

  get cwd(): string {
    return this.text(CWD) ?? UNKNOWN;
  }

  /** Returns the absolute path of a word; `undefined` when it is unknown. */
  path(word: string, follows = true): string | undefined {
    if (word === '' || word.length > MAX_PATH || !isKnown(word)) return undefined;
    const cwd = word.startsWith('/') && !word.startsWith('/proc/') ? '/' : this.cwd;
    return isKnown(cwd) ? this.machine.disk.resolve(cwd, word, follows) : undefined;
  }

  /** Returns the text of a file that this command line has written; `undefined` when it is unknown. */
  fileText(word: string): string | undefined {
    const path = this.path(word);
    return path === undefined ? undefined : this.machine.disk.text(path);
  }

  isFolder(word: string): boolean {
    const path = this.path(word);
    return path !== undefined && this.machine.disk.isDirectory(path);
  }

  /** Whether something is known to exist where a word points. */
  exists(word: string, follows = true): boolean {
    const path = this.path(word, follows);
    return path !== undefined && this.machine.disk.exists(path);
  }

  /** Records that a command writes the file that a word names; returns its path when it is known. */
  write(word: string, by: string, follows = true): string | undefined {
    const path = this.path(word, follows);
    if (path !== undefined) this.machine.change({ path, kind: 'write', follows, by });
    return path;
  }

  /** Records that a command removes (or moves away) what a word names, and everything below it. */
  remove(word: string, by: string): string | undefined {
    const path = this.path(word, false);
    if (path !== undefined) this.machine.change({ path, kind: 'remove', follows: false, by });
    return path;
  }

  /** Records that unknown paths in a folder may change. */
  changesBelow(folder: string | undefined): void {
    if (folder !== undefined && isKnown(folder)) this.machine.folders.add(folder);
  }

  /** Records a command that may change anything in a folder. An unknown folder counts as the current one. */
  addUnnamedWrites(folder: string, effect: Omit<UnnamedWrites, 'folder'>): void {
    const path = this.path(folder) ?? this.cwd;
    if (isKnown(path)) this.machine.addUnnamedWrites({ ...effect, folder: path });
  }
}

/** Handles a call of the program `name` (a base name). `args` are the expanded words after it, UNKNOWN where unknown. */
export type Program = (shell: Shell, args: readonly string[], name: string) => Status;
