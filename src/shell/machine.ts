import type { Statement } from 'unbash';
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
import { CWD, type Scope, type Value } from './scope.ts';

/** Whether a command succeeds; `undefined` when that is unknown. */
export type Status = boolean | undefined;

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
  /** The file from which the text is read. */
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

/** The state of the shell in which a command runs, and the command's streams. */
export interface Frame {
  readonly scope: Scope;
  readonly input: CommandInput;
  readonly output: CommandOutput;
}

/** A command as it would be executed. */
export interface ProgramCall {
  /** The base name of the program. */
  readonly name: string;
  /** The words after the name, expanded; UNKNOWN stands for unknown stretches. */
  readonly args: readonly string[];
  readonly frame: Frame;
  readonly machine: ShellMachine;
}

/** Handles a call of a program. */
export type Program = (call: ProgramCall) => Status;

const MAX_TEXT = 65536;
const TEXT_BUDGET = 1 << 22;
const PARSE_BUDGET = 1 << 20;
/** How many times commands may run again, in loops and functions. */
const MAX_REPEATS = 5000;
/** How many git calls to record. A loop may call git for every file, but the first calls show what it does. */
const MAX_GIT_CALLS = 500;

/** The interpreter's functions. Other modules get them from the machine, so that no module imports its caller. */
export interface Runner {
  /** Runs script text in a frame, whose scope keeps the changes. */
  script(machine: ShellMachine, text: string, frame: Frame): Status;
  statements(machine: ShellMachine, statements: readonly Statement[], frame: Frame): Status;
  /** Runs a command by its words; a `plain` one is no function. */
  argv(machine: ShellMachine, argv: readonly string[], frame: Frame, plain?: boolean): Status;
}

/** One analysis: what it has found, the disk as the command has changed it so far, and the remaining budget. */
export class ShellMachine {
  readonly disk: Disk;
  readonly source: string;
  readonly run: Runner;
  /** The depth of shells in shells (`sh -c`, `eval`, functions, substitutions). */
  depth = 0;
  /** How many loops, and functions or sourced scripts, surround the running command: outside a loop, `break` does nothing. */
  inside = { loops: 0, calls: 0 };
  /** Whether the budget is used up: then the rule of spelled.ts decides. */
  exhausted = false;
  readonly mentionsHandoffs: boolean;
  /** The settings that `git config` and `git remote` made earlier in the command, by lower-case key. */
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

  constructor(world: ShellWorld, source: string, run: Runner) {
    this.disk = new Disk(world);
    this.source = source;
    this.run = run;
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

  /** Returns a variable's text: UNKNOWN for an array, `undefined` when it is not set. */
  text(scope: Scope, name: string): string | undefined {
    const value: Value | undefined = scope.lookup(name)?.value;
    return value === undefined || typeof value === 'string' ? value : UNKNOWN;
  }

  cwd(scope: Scope): string {
    return this.text(scope, CWD) ?? UNKNOWN;
  }

  /** Returns the absolute path of a command's word; `undefined` when it is unknown. */
  path(scope: Scope, word: string, follows = true): string | undefined {
    if (word === '' || !isKnown(word)) return undefined;
    const cwd = word.startsWith('/') && !word.startsWith('/proc/') ? '/' : this.cwd(scope);
    return isKnown(cwd) ? this.disk.resolve(cwd, word, follows) : undefined;
  }

  /** Records that a command writes the file that a word names; returns its path when it is known. */
  write(scope: Scope, word: string, by: string, follows = true): string | undefined {
    return this.#effect(scope, word, 'write', by, follows);
  }

  /** Records that a command removes (or moves away) what a word names, and everything below it. */
  remove(scope: Scope, word: string, by: string): string | undefined {
    return this.#effect(scope, word, 'remove', by, false);
  }

  ref(ref: string, cwd: string, by: string): void {
    this.#refs.set(`${ref} ${cwd}`, { ref, cwd, by });
  }

  git(call: GitVerbCall): void {
    if (this.found.gitCalls.length < MAX_GIT_CALLS) this.found.gitCalls.push(call);
  }

  /** Records that unknown paths in a folder may change. */
  changesBelow(folder: string | undefined): void {
    if (folder !== undefined && isKnown(folder)) this.folders.add(folder);
  }

  /** Records a command that may change anything in a folder. An unknown folder counts as the current one. */
  addUnnamedWrites(scope: Scope, folder: string, effect: Omit<UnnamedWrites, 'folder'>): void {
    const path = this.path(scope, folder) ?? this.cwd(scope);
    const { unnamedWrites } = this.found;
    if (isKnown(path) && unnamedWrites.length < MAX_GIT_CALLS)
      unnamedWrites.push({ ...effect, folder: path });
  }

  result(): ShellEffects {
    return {
      paths: [...this.#paths.values()],
      refs: [...this.#refs.values()],
      folders: [...this.folders],
      ...this.found,
    };
  }

  #effect(scope: Scope, word: string, kind: 'write' | 'remove', by: string, follows: boolean) {
    const path = this.path(scope, word, follows);
    if (path === undefined) return undefined;
    // A folder cannot be opened for writing.
    if (kind === 'write' && follows && !this.disk.changed && this.disk.isDirectory(path)) return path;
    if (!path.startsWith('/dev/') || path.startsWith('/dev/shm/')) {
      const key = `${kind}${follows ? '+' : '-'}${path}`;
      if (!this.#paths.has(key)) this.#paths.set(key, { path, kind, follows, by });
      if (kind === 'write') this.disk.addFile(path);
    }
    return path;
  }
}
