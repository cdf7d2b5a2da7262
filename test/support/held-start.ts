import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { A, B, type SharingWorld, refusal } from './sharing-world.ts';

/** The steps of a session's start that other sessions can see, each with the call that begins it. */
export const STEPS = {
  'the lock': 'link .arriving',
  'its start list': 'append "t":"alone"',
  'its record': 'git update-ref',
  'that it is alone': 'link handoff-solo',
  'the list of those who are here': 'git for-each-ref',
  'the end': 'append "t":"registered"',
} as const;

/** A session's start that waits just before one of its steps. */
export class HeldStart {
  readonly #file: (name: string) => string;
  readonly #done: Promise<unknown>;

  /** @param step a call from `STEPS`; the start waits before the first such call */
  constructor(world: SharingWorld, session: string, step: string) {
    const state = join(world.root, `state-${session}`);
    this.#file = (name) => join(state, 'git-handoff', name);
    mkdirSync(this.#file(''), { recursive: true });
    writeFileSync(this.#file('preload.cjs'), this.#preload(step));
    const node = `#!/bin/sh\nexec '${process.execPath}' --require '${this.#file('preload.cjs')}' "$@"\n`;
    writeFileSync(this.#file('held-node'), node, { mode: 0o755 });
    writeFileSync(this.#file('node'), `${this.#file('held-node')}\n`);
    const payload = { hook_event_name: 'SessionStart', source: 'startup', session_id: session };
    this.#done = world.startGuard(payload, { env: { XDG_STATE_HOME: state }, calls: 'process' });
  }

  /** Resolves when the start is waiting, or has ended without reaching the step. */
  async reached(): Promise<void> {
    const waiting = vi.waitUntil(() => existsSync(this.#file('reached')), { timeout: 60_000, interval: 2 });
    await Promise.race([waiting, this.#done]);
  }

  async goOn(): Promise<void> {
    writeFileSync(this.#file('go-on'), '');
    await this.#done;
  }

  #preload(step: string): string {
    return `const fs = require('node:fs');
      const child = require('node:child_process');
      const real = { ...fs };
      let held = false;
      const hold = (doing) => {
        const [verb, mark] = ${JSON.stringify(step.split(' '))};
        if (held || !doing.startsWith(verb + ' ') || !doing.includes(mark)) return;
        held = true;
        real.writeFileSync(${JSON.stringify(this.#file('reached'))}, '');
        const clock = new Int32Array(new SharedArrayBuffer(4));
        while (!real.existsSync(${JSON.stringify(this.#file('go-on'))})) Atomics.wait(clock, 0, 0, 2);
      };
      fs.renameSync = (from, to) => (hold('rename ' + to), real.renameSync(from, to));
      fs.linkSync = (from, to) => (hold('link ' + to), real.linkSync(from, to));
      fs.writeFileSync = (to, ...rest) => (hold('write ' + to), real.writeFileSync(to, ...rest));
      fs.writeSync = (file, text, ...rest) => (hold('append ' + text), real.writeSync(file, text, ...rest));
      const { spawn } = child;
      child.spawn = (name, words, options) => (hold('git ' + words.join(' ')), spawn(name, words, options));`;
  }
}

/** Expects that neither A nor B counts as alone, and that each owns only what it changes. */
export function worksApart(world: SharingWorld): void {
  world.write(A, 'src/a.ts', 'of A\n');
  world.write(B, 'src/new.ts', 'of B\n');
  for (const session of [A, B]) {
    const alone = world.ledger(session).filter(({ t }) => t === 'alone' || t === 'not-alone');
    expect(alone.at(-1)?.['t']).not.toBe('alone');
  }
  expect(existsSync(join(world.path, '.git', 'handoff-solo'))).toBe(false);
  expect(refusal(world.try(A, 'src/new.ts', 'of A\n'))).toContain('claude bbbbbbbb changed it just now');
  expect(refusal(world.try(B, 'src/a.ts', 'of B\n'))).toContain('claude aaaaaaaa changed it just now');
  expect(world.bash(B, 'git add src/new.ts && git commit -qm "of B"').run).toMatchObject({ status: 0 });
  expect(world.bash(A, 'git add src/a.ts && git commit -qm "of A"').run).toMatchObject({ status: 0 });
}
