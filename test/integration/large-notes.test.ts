import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clone, Clones } from '../support/clones.ts';
import { Forger } from '../support/forger.ts';
import { MemoryLimit } from '../support/memory-limit.ts';

const NOTES = 34;
/** Together, the notes are larger than the memory that a process may use. */
const EIGHT_MB = `${`${'x'.repeat(99)}\n`.repeat(80_000)}\n`;
const NOBODY = '0'.repeat(40);

let world: Clones;
let victim: Clone;
let memory: MemoryLimit;
const limited: MemoryLimit['run'] = (...call) => memory.run(...call);

beforeAll(async () => {
  world = await Clones.start('path');
  victim = world.clone('Ada', { calls: 'process' });
  victim.write('our-topic', 'ours\n');
  victim.sync();
  const topics = Array.from({ length: NOTES }, (_, at) => `large-note-${at}`);
  new Forger(world.server).plant(topics, EIGHT_MB);
  memory = new MemoryLimit(victim);
});
afterAll(() => world.remove());

describe('notes whose messages have 8 MB each', () => {
  it('are refused by sync, which names the limit', () => {
    const run = limited(['sync']);
    expect(run.status).toBe(6);
    expect(run.stderr).toContain(
      `error: ${NOTES} handoffs of origin made an illegal move (a commit object of more than 16 KiB)`,
    );
    expect(victim.list().map(({ topic }) => topic)).toEqual(['our-topic']);
  });

  it('do not fill the memory after plain git has fetched them', () => {
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

  it('are refused by the gate, which needs as little memory even if it already has such notes', () => {
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
