import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Clone } from './clones.ts';
import type { Run, TestRepository } from './repository.ts';

/** The amount of memory that no process may reach, in KiB. */
const MOST_KIB = 256 * 1024;

/** A script that records its process's peak memory. On Linux, `maxRSS` would include the parent process's peak. */
const probeFor = (file: string) => `
const { appendFileSync, existsSync, readFileSync } = require('node:fs');
const status = '/proc/self/status';
const taken = () =>
  existsSync(status) ? /VmHWM:\\s*(\\d+)/.exec(readFileSync(status, 'latin1'))[1] : process.resourceUsage().maxRSS;
process.on('exit', () => appendFileSync(${JSON.stringify(file)}, taken() + '\\n'));
`;

/** Runs a clone's commands so that none of their processes may have more than 256 MiB. */
export class MemoryLimit {
  readonly #victim: Clone;
  readonly #env: Record<string, string>;
  /** Where each Node process records its peak memory: one line each, in KiB. */
  readonly #peaks: string;

  constructor(victim: Clone) {
    this.#victim = victim;
    const programs = join(victim.root, 'limited');
    mkdirSync(programs);
    const git = victim.run('sh', ['-c', 'command -v git']).stdout.trim();
    // git's own fetch loads every commit that a ref names, before we can ask for its size.
    const limit = `case " $* " in *" fetch "*) ;; *) ulimit -v ${MOST_KIB} ;; esac`;
    writeFileSync(join(programs, 'git'), `#!/bin/sh\n${limit}\nexec '${git}' "$@"\n`);
    chmodSync(join(programs, 'git'), 0o755);
    this.#peaks = join(victim.root, 'peaks');
    const probe = join(victim.root, 'probe.cjs');
    writeFileSync(probe, probeFor(this.#peaks));
    this.#env = { PATH: `${programs}:${process.env['PATH'] ?? ''}`, NODE_OPTIONS: `--require=${probe}` };
  }

  /** Runs a command, and expects it to stay below the limit. */
  run(args: readonly string[], where: TestRepository = this.#victim, input?: string, env = {}): Run {
    writeFileSync(this.#peaks, '');
    const options = { env: { ...this.#env, ...env }, ...(input === undefined ? {} : { input }) };
    const run = where.handoff(args, { session: this.#victim.session, calls: 'process', ...options });
    const reached = readFileSync(this.#peaks, 'latin1').trim().split('\n').map(Number);
    expect(reached.length, args.join(' ')).toBeGreaterThan(0);
    expect(Math.max(...reached), args.join(' ')).toBeGreaterThan(0);
    expect(Math.max(...reached), args.join(' ')).toBeLessThan(MOST_KIB);
    expect(run.stderr, args.join(' ')).not.toMatch(/out of memory|killed/i);
    return run;
  }
}
