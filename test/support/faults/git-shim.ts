import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FaultWorld } from './fault-world.ts';
import { type Injection, straceWords } from './strace.ts';

/**
 * A `git` before the real one on PATH that runs the first call of one git command under strace; later calls
 * of that command, with which a failed write saves its text, are left alone.
 */
export class GitShim {
  readonly trace: string;
  readonly #world: FaultWorld;
  readonly #folder: string;
  readonly #once: string;

  constructor(world: FaultWorld) {
    this.#world = world;
    this.#folder = join(world.root, 'shim');
    this.#once = join(world.root, 'shim-used');
    this.trace = join(world.root, 'shim-trace');
    mkdirSync(this.#folder);
  }

  /** The environment in which the command is traced, and hurt when there is an injection. */
  aim(command: string, calls: readonly string[], injection?: Injection): Record<string, string> {
    rmSync(this.#once, { recursive: true, force: true });
    rmSync(this.trace, { force: true });
    const path = this.#world.env()['PATH'] ?? '';
    const git = `PATH='${path}' git "$@"`;
    const script = [
      '#!/bin/sh',
      `case " $* " in *' ${command} '*) mkdir '${this.#once}' 2>/dev/null || exec env ${git}`,
      `exec ${straceWords(this.trace, calls, injection).join(' ')} env ${git} ;; esac`,
      `exec env ${git}`,
    ];
    const file = join(this.#folder, 'git');
    writeFileSync(file, `${script.join('\n')}\n`);
    chmodSync(file, 0o755);
    return { PATH: `${this.#folder}:${path}` };
  }
}
