import type { SyntaxNode } from 'unbash';
import { UNKNOWN } from './effects.ts';

/** A variable's value: a string, or an array by subscript. The positional parameters are the array `@`. */
export type Value = string | ReadonlyMap<string, string>;

export interface Variable {
  readonly value: Value;
  readonly exported: boolean;
}

/** Names for the shell's own state, which `join` merges like variables. No variable of a script can have them. */
export const CWD = ' cwd';
export const POSITIONAL = '@';

/**
 * A shell's variables, functions and folder. A layer reads its parent's state, and keeps its own changes. The changes of a
 * subshell are dropped. A variable that an `if` or the like may have set to another value is unknown afterwards.
 */
export class Scope {
  /** What ended the commands, so that nothing else runs: `exit`, `return`, `break` (`loop`) or `continue` (`round`). */
  stopped: 'exit' | 'return' | 'loop' | 'round' | undefined;
  readonly #parent: Scope | undefined;
  readonly #environment: ((name: string) => string | undefined) | undefined;
  readonly #newProcess: boolean;
  readonly #variables = new Map<string, Variable | undefined>();
  readonly #functions = new Map<string, { readonly body: SyntaxNode; exported: boolean }>();

  private constructor(
    parent: Scope | undefined,
    newProcess: boolean,
    environment?: (name: string) => string | undefined,
  ) {
    this.#parent = parent;
    this.#newProcess = newProcess;
    this.#environment = environment;
  }

  static root(environment: (name: string) => string | undefined): Scope {
    return new Scope(undefined, false, environment);
  }

  layer(): Scope {
    return new Scope(this, false);
  }

  /** Returns the scope of a child shell, which sees only what is exported, and the folder. */
  process(): Scope {
    return new Scope(this, true);
  }

  /** Returns what a variable may hold. A new process (`hidden`) sees only exported variables and the folder. */
  lookup(name: string, hidden = false): Variable | undefined {
    if (this.#variables.has(name)) {
      const found = this.#variables.get(name);
      return hidden && found?.exported !== true && name !== CWD ? undefined : found;
    }
    if (this.#environment !== undefined) return this.#fromEnvironment(name);
    return this.#parent?.lookup(name, hidden || this.#newProcess);
  }

  set(name: string, value: Value, exported = this.lookup(name)?.exported === true): void {
    this.#variables.set(name, { value, exported });
  }

  setPositional(words: readonly string[]): void {
    this.set(POSITIONAL, new Map(words.map((word, index) => [String(index + 1), word])));
  }

  export(name: string, exported: boolean): void {
    this.#variables.set(name, { value: this.lookup(name)?.value ?? '', exported });
  }

  /** Sets a variable back to what `lookup` has returned for it. */
  restore(name: string, variable: Variable | undefined): void {
    this.#variables.set(name, variable);
  }

  unset(name: string): void {
    this.#variables.set(name, undefined);
  }

  function(name: string, hidden = false): SyntaxNode | undefined {
    const found = this.#functions.get(name);
    if (found !== undefined) return hidden && !found.exported ? undefined : found.body;
    return this.#parent?.function(name, hidden || this.#newProcess);
  }

  defineFunction(name: string, body: SyntaxNode, exported = false): void {
    this.#functions.set(name, { body, exported });
  }

  /** Merges the changes of a layer whose commands may or may not have run. */
  join(branch: Scope): void {
    if (branch.stopped === 'exit' || branch.stopped === 'return') return;
    for (const [name, variable] of branch.#variables) {
      const now = this.lookup(name);
      const value = (now?.value ?? '') === (variable?.value ?? '') ? (now?.value ?? '') : UNKNOWN;
      this.#variables.set(name, { value, exported: variable?.exported ?? now?.exported ?? false });
    }
    for (const [name, found] of branch.#functions) this.#functions.set(name, found);
  }

  #fromEnvironment(name: string): Variable | undefined {
    const value = name.startsWith(' ') ? undefined : this.#environment?.(name);
    return value === undefined ? undefined : { value, exported: true };
  }
}
