import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clone, Clones } from '../support/clones.ts';
import { Forger } from '../support/forger.ts';
import type { Run, TestRepository } from '../support/repository.ts';

const NOTES = 34;
const EIGHT_MB = `${`${'x'.repeat(99)}\n`.repeat(80_000)}\n`;
/** What no process may reach; the notes together are larger. */
const MOST_KIB = 256 * 1024;
const NOBODY = '0'.repeat(40);

let world: Clones;
let victim: Clone;
let env: Record<string, string>;
/** Where each Node process leaves the most memory that it had, a line each, in KiB. */
let peaks: string;

beforeAll(async () => {
  world = await Clones.start('path');
  victim = world.clone('Ada', { calls: 'process' });
  victim.write('our-topic', 'ours\n');
  victim.sync();
  const topics = Array.from({ length: NOTES }, (_, at) => `large-note-${at}`);
  new Forger(world.server).plant(topics, EIGHT_MB);
  const programs = join(victim.root, 'limited');
  mkdirSync(programs);
  const git = victim.run('sh', ['-c', 'command -v git']).stdout.trim();
  // git's own fetch holds every commit that a ref names, before we can ask for its size.
  const limit = `case " $* " in *" fetch "*) ;; *) ulimit -v ${MOST_KIB} ;; esac`;
  writeFileSync(join(programs, 'git'), `#!/bin/sh\n${limit}\nexec '${git}' "$@"\n`);
  chmodSync(join(programs, 'git'), 0o755);
  peaks = join(victim.root, 'peaks');
  const probe = join(victim.root, 'probe.cjs');
  writeFileSync(probe, probeFor(peaks));
  env = { PATH: `${programs}:${process.env['PATH'] ?? ''}`, NODE_OPTIONS: `--require=${probe}` };
});
afterAll(() => world.remove());

/** A script that writes what its process took; on Linux `maxRSS` begins with that of the process that started it. */
const probeFor = (file: string) => `
const { appendFileSync, existsSync, readFileSync } = require('node:fs');
const status = '/proc/self/status';
const taken = () =>
  existsSync(status) ? /VmHWM:\\s*(\\d+)/.exec(readFileSync(status, 'latin1'))[1] : process.resourceUsage().maxRSS;
process.on('exit', () => appendFileSync(${JSON.stringify(file)}, taken() + '\\n'));
`;

/** Runs a command whose processes may not have more than `MOST_KIB`. */
function limited(args: readonly string[], where: TestRepository = victim, input?: string): Run {
  writeFileSync(peaks, '');
  const options = input === undefined ? { env } : { env, input };
  const run = where.handoff(args, { session: victim.session, calls: 'process', ...options });
  const reached = readFileSync(peaks, 'latin1').trim().split('\n').map(Number);
  expect(reached.length, args.join(' ')).toBeGreaterThan(0);
  expect(Math.max(...reached), args.join(' ')).toBeGreaterThan(0);
  expect(Math.max(...reached), args.join(' ')).toBeLessThan(MOST_KIB);
  expect(run.stderr, args.join(' ')).not.toMatch(/out of memory|killed/i);
  return run;
}

describe('notes whose messages have 8 MB each', () => {
  it('are refused by sync, which names the limit', () => {
    const run = limited(['sync']);
    expect(run.status).toBe(6);
    expect(run.stderr).toContain(
      `error: ${NOTES} handoffs of origin made an illegal move (a commit object of more than 16 KiB)`,
    );
    expect(victim.list().map(({ topic }) => topic)).toEqual(['our-topic']);
  });

  it('fill no memory where plain git has fetched them', () => {
    victim.git(['fetch', '-q', 'origin', 'refs/handoffs/*:refs/handoffs/*']);
    for (const args of [['boot'], ['board'], ['status'], ['log', 'our-topic']]) limited(args);
    expect(limited(['list']).stdout).toContain('our-topic');
    expect(limited(['show', 'our-topic']).stdout).toContain('ours');
    expect(limited(['write', 'another-topic', '-m', 'ours, too']).stdout).toContain(
      'left main/another-topic',
    );
    const doctor = limited(['doctor']);
    expect(doctor.status).toBe(1);
    expect(doctor.stdout).toContain(
      'main/large-note-0 was moved by hand (a commit object of more than 16 KiB)',
    );
  });

  it('are refused by the gate, which is as small where it has such notes already', () => {
    const refs = victim.git([
      'for-each-ref',
      '--format=%(objectname) %(refname)',
      'refs/handoffs/main/large*',
    ]);
    const pushed = refs.split('\n').map((line) => `${NOBODY} ${line}\n`);
    expect(pushed).toHaveLength(NOTES);
    const gate = limited(['check', '--stdin'], world.server, pushed.join(''));
    expect(gate.status).toBe(1);
    expect(gate.stdout).toContain('refs/handoffs/main/large-note-0: a commit object of more than 16 KiB');
    const tree = world.server.git(['mktree'], { input: '' });
    const mixed = 'mixed\n\nClaude-Session-Id: sess-one-1\nClaude-Session-Id: sess-two-1\n';
    const commit = world.server.git(['commit-tree', tree, '-m', mixed]);
    const branch = limited(['check', '--stdin'], world.server, `${NOBODY} ${commit} refs/heads/mixed\n`);
    expect(branch.stdout).toContain('mixes the work of sessions');
  });
});
