import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configure, commitBase, fingerprint } from './dirty-trees.ts';
import { Random, Tally, amount, seeded } from '../support/faults/seed.ts';
import {
  type Injection,
  NO_STRACE,
  type Position,
  positions,
  readTrace,
  straceWords,
  wasInjected,
} from '../support/faults/strace.ts';
import { TestRepository } from '../support/repository.ts';

const TOPIC = 'half-done';
const CALLS = ['rename', 'unlink', 'rmdir', 'mkdir', 'symlink', 'link', 'fsync', 'openat'];
const DECISIVE = ['rename', 'unlink', 'rmdir', 'symlink'];
const ERRORS = ['ENOSPC', 'EIO', 'EACCES', 'EROFS'];
/**
 * How a process fails or is killed, and in which calls. A failing write(2) would hit the pipes with which libuv and V8
 * wake their threads, which would then abort or hang; full-disk.test.ts tests failing writes to files.
 */
const KINDS = [
  ['signal=KILL', [...CALLS, 'write']],
  ['error', CALLS],
] as const;

let world: TestRepository;
let trace: string;
/** The fingerprint of the uncommitted changes, and that of a clean tree. */
let dirty: string;
let none: string;

beforeEach(() => {
  world = new TestRepository();
  trace = join(world.root, 'trace');
  commitBase(world, new Random(7));
  configure(world);
  world.git(['reset', '-q', '--hard']);
  makeChanges();
  dirty = fingerprint(world);
  world.ok(['write', TOPIC, '-m', 'half', '--with-work', '--', '.']);
  clean();
  none = fingerprint(world);
});
afterEach(() => world.remove());

/** Makes every kind of change, a few of each. */
function makeChanges(): void {
  const script = `set -e
    echo staged > text.txt && git add text.txt && echo disk > text.txt
    rm data.bin && git rm -q --cached run.sh && rm -r src/deep && echo file > src/deep
    rm crlf.txt && mkdir crlf.txt && echo inner > crlf.txt/inner
    ln -sf mixed.txt link && printf 'a\\r\\nb\\n' > mixed.txt
    mkdir -p new/folder && echo new > new/folder/one && echo two > new/two && git add new/two
    echo later > later && git add -N later`;
  expect(world.run('sh', ['-c', script])).toMatchObject({ status: 0 });
}

function clean(): void {
  world.git(['read-tree', '--empty']);
  world.git(['reset', '-q', '--hard']);
  world.git(['clean', '-qffdx']);
}

const traced = (words: readonly string[], calls: readonly string[], injection?: Injection) =>
  world.run('env', [...straceWords(trace, calls, injection), 'git-handoff', ...words]);

/** Removes what a killed process leaves beside its work: locks, and files that were not yet renamed. */
function sweep(): void {
  for (const lock of world.locks()) rmSync(lock, { force: true });
  for (const name of readdirSync(world.path, { recursive: true, encoding: 'utf8' }))
    if (/(?:^|\/)\.git-handoff-[^/]+$/.test(name)) rmSync(join(world.path, name), { force: true });
}

/** Expects that every path on the disk has its old or its new content. */
function expectOldOrNew(told: string): void {
  const known = new Set([...dirty.split('\n'), ...none.split('\n')]);
  const contents = (text: string) =>
    text.split('\n').filter((line) => /: (?:link|\d+ [0-9a-f]{40})/.test(line));
  const other = contents(fingerprint(world)).filter((line) => !known.has(line) && !isWhole(line));
  expect(other, told).toEqual([]);
}

/** Whether a line of the fingerprint is about a file that is as in HEAD. */
const isWhole = (line: string) => {
  const [path = ''] = line.split(': ');
  const { status } = world.run('git', ['diff', '--quiet', 'HEAD', '--', `:(literal)${path}`]);
  return status === 0;
};

/** All positions. A short run tries only some, mostly calls that change what others see. */
function chosen(all: readonly Position[], random: Random): Position[] {
  const [decisive, rest] = [true, false].map((wanted) =>
    all.filter(({ call }) => DECISIVE.includes(call) === wanted),
  );
  return [
    ...random.sample(decisive ?? [], amount(9, Infinity)),
    ...random.sample(rest ?? [], amount(4, Infinity)),
  ];
}

const why = NO_STRACE === undefined ? '' : ` (skipped: ${NO_STRACE})`;

describe.skipIf(NO_STRACE)(`at a system call${why}`, () => {
  it.each(KINDS)('an unpack that ends early (%s) loses and overwrites nothing', (kind, calls) =>
    seeded(`unpack, ${kind}`, (random) => {
      const tally = new Tally();
      traced(['unpack', TOPIC], calls);
      expect(fingerprint(world)).toBe(dirty);
      for (const { call, when } of chosen(positions(readTrace(trace)), random)) {
        clean();
        const fault = kind === 'error' ? (`error=${random.pick(ERRORS)}` as const) : ('signal=KILL' as const);
        const { status, stderr } = traced(['unpack', TOPIC], calls, { call, when, fault });
        const told = `${call} ${when} ${fault}: exit ${status}\n${stderr}`;
        tally.add(wasInjected(trace) ? 'injected' : 'not reached');
        tally.add(status === 0 ? 'done' : 'ended early');
        sweep();
        expectOldOrNew(told);
        if (status === 0) expect(fingerprint(world), told).toBe(dirty);
        const again = world.handoff(['unpack', TOPIC]);
        expect(again.status, `${told}\n${again.stderr}`).toBe(0);
        expect(fingerprint(world), told).toBe(dirty);
      }
      return tally.figures;
    }),
  );

  it.each(KINDS)(
    'a write that ends early (%s) leaves the changes, and no note without its work',
    (kind, calls) =>
      seeded(`write with work, ${kind}`, (random) => {
        const tally = new Tally();
        makeChanges();
        const words = ['write', TOPIC, '-m', 'again', '--with-work', '--', '.'];
        traced(words, calls);
        for (const { call, when } of chosen(positions(readTrace(trace)), random)) {
          const fault =
            kind === 'error' ? (`error=${random.pick(ERRORS)}` as const) : ('signal=KILL' as const);
          const { status, stderr } = traced(words, calls, { call, when, fault });
          const told = `${call} ${when} ${fault}: exit ${status}\n${stderr}`;
          tally.add(wasInjected(trace) ? 'injected' : 'not reached');
          tally.add(status === 0 ? 'done' : 'ended early');
          sweep();
          expect(fingerprint(world), told).toBe(dirty);
          const work = world.git([
            'log',
            '-1',
            '--format=%(trailers:key=Handoff-Work,valueonly)',
            `refs/handoffs/main/${TOPIC}`,
          ]);
          expect(world.run('git', ['rev-list', '--objects', work.trim()]), told).toMatchObject({ status: 0 });
          expect(world.handoff(words), told).toMatchObject({ status: 0 });
        }
        return tally.figures;
      }),
  );
});
