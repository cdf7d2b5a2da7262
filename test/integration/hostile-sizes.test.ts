import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Clone, Clones } from '../support/clones.ts';
import { Forger, type Forgery } from '../support/forger.ts';
import { MemoryLimit } from '../support/memory-limit.ts';

const NOTES = 10_000;
const ENTRIES = 100_000;
const MERGES = 1000;
/** How many processes a command may start, however many notes there are. */
const MOST_PROCESSES = 200;
const NOBODY = '0'.repeat(40);
/** A text with which a commit object is nearly as large as we allow. */
const FIFTEEN_KIB = `${'y'.repeat(63)}\n`.repeat(240);

let world: Clones;
let victim: Clone;
let memory: MemoryLimit;
const limited: MemoryLimit['run'] = (...call) => memory.run(...call);

/** The kinds of the many notes; each kind is a tenth of them. */
const KINDS = [
  'plain',
  'large',
  'large',
  'large',
  'large',
  'unsigned',
  'misnamed',
  'later',
  'torn',
  'odd',
] as const;

/** A note of some kind, as git-fast-import(1) reads it. */
function noteOf(at: number): string {
  const kind = KINDS[at % KINDS.length] ?? 'plain';
  const topic = `hostile-note-${at}`;
  const trailers = kind === 'unsigned' ? 'x\n' : 'Claude-Session-Id: sess-eve-1\nHandoff-State: open\n';
  const body = kind === 'large' ? `${FIFTEEN_KIB}\n` : '';
  const message = `note ${kind === 'odd' ? '\u001b[31m\u202e' : at}\n\n${body}${trailers}`;
  const state = {
    ...{
      version: kind === 'later' ? 2 : 1,
      branch: 'main',
      topic: kind === 'misnamed' ? 'another-topic' : topic,
    },
    ...{ head: null, upstream: null, dirty: 0, client: null, worktree: null },
  };
  const text = kind === 'torn' ? '{' : JSON.stringify(state);
  const data = (content: string) => `data ${Buffer.byteLength(content)}\n${content}\n`;
  return [
    `commit refs/handoffs/main/${topic}\ncommitter Eve <eve@example.org> ${1767323045 + at} +0000\n`,
    data(message),
    `M 100644 inline handoff.md\n${data(`note ${at}\n`)}M 100644 inline state.json\n${data(text)}`,
  ].join('');
}

/** A commit on one side of a ladder, as git-fast-import(1) reads it: a merge of the two commits on the rung below. */
function rung(side: 'left' | 'right', at: number): string {
  const message = `${side} ${at}\n\nClaude-Session-Id: sess-eve-1\nHandoff-State: open\n`;
  const below = at === 0 ? '' : `from :${2 * at - 1}\nmerge :${2 * at}\n`;
  const state = '{"version":1,"branch":"main","topic":"many-merges"}';
  return [
    `commit refs/heads/${side}\nmark :${2 * at + (side === 'left' ? 1 : 2)}\n`,
    `committer Eve <eve@example.org> ${1767323045 + at} +0000\ndata ${message.length}\n${message}\n${below}`,
    `M 100644 inline handoff.md\ndata 1\nx\nM 100644 inline state.json\ndata ${state.length}\n${state}\n`,
  ].join('');
}

/** The many notes, and three more: with a tree of many files, with many parents, and with a ladder of merges. */
function plantAll(): void {
  const forger = new Forger(world.server);
  const point = (topic: string, more: Forgery) =>
    forger.point(`refs/handoffs/main/${topic}`, forger.commit({ topic, ...more }));
  world.server.git(['fast-import', '--quiet'], {
    input: Array.from({ length: NOTES }, (_, at) => noteOf(at)).join(''),
  });
  const blob = forger.object('blob', 'x');
  const tree = Array.from({ length: ENTRIES }, (_, at) => `100644 blob ${blob}\tfile-${at}`);
  point('huge-tree', { tree });
  const all = world.server.git([
    'for-each-ref',
    '--format=%(objectname)',
    `--count=${MERGES}`,
    'refs/handoffs',
  ]);
  point('many-parents', { parents: all.split('\n') });
  // Each merge has two ways down, which makes 2 to the power of 1000 paths in all.
  const ladder = Array.from({ length: MERGES }, (_, at) => rung('left', at) + rung('right', at)).join('');
  world.server.git(['fast-import', '--quiet'], { input: ladder });
  forger.point('refs/handoffs/main/many-merges', world.server.git(['rev-parse', 'refs/heads/left']));
  for (const side of ['left', 'right']) world.server.git(['update-ref', '-d', `refs/heads/${side}`]);
}

beforeAll(async () => {
  world = await Clones.start('path');
  victim = world.clone('Ada', { calls: 'process' });
  victim.write('our-topic', 'ours\n');
  victim.sync();
  plantAll();
  memory = new MemoryLimit(victim);
});
afterAll(() => world.remove());

describe(`${NOTES} hostile notes, a tree of ${ENTRIES} entries, ${MERGES} parents and ${MERGES} merges`, () => {
  /** Every verb that reads all notes, or our own note. */
  const READING = [
    ['list'],
    ['list', '--json'],
    ['boot'],
    ['board'],
    ['status'],
    ['log', 'our-topic'],
    ['show', 'our-topic'],
  ];

  it('are fetched by sync, which refuses the illegal ones', () => {
    const run = limited(['sync']);
    expect(run.status).toBe(6);
    expect(run.stderr).toMatch(/^error: 400\d handoffs of origin made an illegal move/);
    expect(victim.ref('refs/handoffs/main/hostile-note-1')).toBeDefined();
    expect(victim.ref('refs/handoffs/main/huge-tree')).toBeUndefined();
  });

  it('do not fill the memory afterwards', () => {
    expect(limited(['list']).stdout).toContain('our-topic');
    expect(limited(['write', 'another-topic', '-m', 'ours, too']).stdout).toContain(
      'left main/another-topic',
    );
    expect(limited(['doctor']).status).toBe(0);
  });

  it('do not fill the memory after plain git has fetched them, and cost no process each', () => {
    victim.git(['fetch', '-q', 'origin', '+refs/handoffs/*:refs/handoffs/*']);
    for (const args of READING) {
      const trace = join(victim.root, 'trace');
      writeFileSync(trace, '');
      expect(limited(args, victim, undefined, { GIT_HANDOFF_TRACE: trace }).status, args.join(' ')).toBe(0);
      const processes = readFileSync(trace, 'utf8')
        .split('\n')
        .filter((line) => /\bgit\b/.test(line));
      expect(processes.length, args.join(' ')).toBeGreaterThan(0);
      expect(processes.length, args.join(' ')).toBeLessThan(MOST_PROCESSES);
    }
    for (const topic of ['huge-tree', 'many-parents', 'many-merges'])
      for (const verb of ['show', 'log', 'boot']) limited([verb, topic]);
    expect(limited(['write', 'third-topic', '-m', 'ours, too']).stdout).toContain('left main/third-topic');
    const doctor = limited(['doctor']);
    expect(doctor.stdout).toContain(
      'main/huge-tree was moved by hand (a commit with more files than a note has)',
    );
    expect(doctor.stdout).toContain(
      'main/many-parents was moved by hand (a commit object of more than 16 KiB)',
    );
    expect(limited(['delete', '--yes', 'many-parents']).status).toBe(0);
  });

  it('are judged by the gate', () => {
    const refs = world.server.git([
      'for-each-ref',
      '--format=%(objectname) %(refname)',
      'refs/handoffs/main',
    ]);
    const pushed = refs.split('\n').map((line) => `${NOBODY} ${line}\n`);
    const gate = limited(['check', '--stdin'], world.server, pushed.join(''));
    expect(gate.status).toBe(1);
    expect(gate.stdout).toContain('unreadable trailers');
  });
});
