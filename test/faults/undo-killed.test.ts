import { existsSync, lstatSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Random, Tally, amount, seeded } from '../support/faults/seed.ts';
import {
  type Injection,
  NO_STRACE,
  positions,
  readTrace,
  straceWords,
  wasInjected,
} from '../support/faults/strace.ts';
import { A, SharingWorld } from '../support/sharing-world.ts';

const CALLS = ['rename', 'unlink', 'rmdir', 'mkdir', 'symlink', 'link', 'fsync', 'openat'];
const DECISIVE = ['rename', 'unlink', 'rmdir', 'symlink'];
const ERRORS = ['ENOSPC', 'EIO', 'EACCES', 'EROFS'];
/** How a process fails or is killed, and in which calls; see carried-work-killed.test.ts. */
const KINDS = [
  ['signal=KILL', [...CALLS, 'write']],
  ['error', CALLS],
] as const;
/** Every kind of change, staged and unstaged. */
const CHANGES = `set -e
  echo A >> shared.md; git add shared.md; echo more >> shared.md; git rm -q --cached src/b.ts; rm src/a.ts
  mkdir -p new/folder; printf 'x\\r\\n' > new/folder/one; echo two > new/two; git add new; ln -s two new/link; chmod +x kept.sh`;
/** How many paths have changes. */
const PATHS = 7;

let world: SharingWorld;
let trace: string;

beforeEach(() => {
  world = new SharingWorld({ calls: 'process', ready: [A], files: { 'kept.sh': 'true\n' } });
  trace = join(world.root, 'trace');
});
afterEach(() => world.remove());

/** The working tree and the index, path by path. */
function fingerprint(): string[] {
  const paths = readdirSync(world.path, { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => !/^\.git(?:\/|$)/.test(path)).flatMap((path) => describeFile(path));
  return [...files, ...world.git(['ls-files', '--stage']).split('\n')].sort();
}

function describeFile(path: string): string[] {
  const file = join(world.path, path);
  const stat = lstatSync(file);
  if (stat.isDirectory()) return [];
  const content = stat.isSymbolicLink() ? readlinkSync(file) : readFileSync(file, 'latin1');
  return [`${path} ${(stat.mode & 0o111) === 0 ? '-' : 'x'} ${JSON.stringify(content)}`];
}

const traced = (calls: readonly string[], injection?: Injection) =>
  world.run('env', [...straceWords(trace, calls, injection), 'git-handoff', 'undo'], { session: A });

/** Removes what a killed process leaves beside its work: locks, and files that were not yet renamed. */
function sweep(): void {
  for (const lock of world.locks()) rmSync(lock, { force: true });
  for (const name of readdirSync(world.path, { recursive: true, encoding: 'utf8' }))
    if (/(?:^|\/)\.git-handoff-[^/]+$/.test(name)) rmSync(join(world.path, name), { force: true });
}

const rescues = () =>
  world.json(['rescue', 'list']).items as { number: number; kind: string; files: unknown[] }[];

const why = NO_STRACE === undefined ? '' : ` (skipped: ${NO_STRACE})`;

describe.skipIf(NO_STRACE)(`at a system call${why}`, () => {
  it.each(KINDS)('an undo that ends early (%s) loses nothing, and works when repeated', (kind, calls) =>
    seeded(`undo, ${kind}`, (random: Random) => {
      const tally = new Tally();
      const none = fingerprint();
      const change = () => expect(world.run('sh', ['-c', CHANGES])).toMatchObject({ status: 0 });
      change();
      const dirty = fingerprint();
      traced(calls);
      expect(fingerprint()).toEqual(none);
      const all = positions(readTrace(trace));
      const [decisive, rest] = [true, false].map((wanted) =>
        all.filter(({ call }) => DECISIVE.includes(call) === wanted),
      );
      const chosen = [
        ...random.sample(decisive ?? [], amount(6, Infinity)),
        ...random.sample(rest ?? [], amount(3, Infinity)),
      ];
      for (const { call, when } of chosen) {
        change();
        const fault = kind === 'error' ? (`error=${random.pick(ERRORS)}` as const) : ('signal=KILL' as const);
        const { status, stderr } = traced(calls, { call, when, fault });
        const told = `${call} ${when} ${fault}: exit ${status}\n${stderr}`;
        tally.add(wasInjected(trace) ? 'injected' : 'not reached');
        tally.add(status === 0 ? 'done' : 'ended early');
        sweep();
        const known = new Set([...dirty, ...none]);
        expect(
          fingerprint().filter((line) => !known.has(line)),
          told,
        ).toEqual([]);
        world.handoff(['undo'], { session: A });
        expect(fingerprint(), told).toEqual(none);
        // One rescue holds everything: that of the interrupted undo, or that of an earlier one.
        const whole = rescues().find(({ kind: what, files }) => what === 'undone' && files.length === PATHS);
        const back = world.handoff(['rescue', 'restore', String(whole?.number ?? '')], { session: A });
        expect(fingerprint(), `${told}\n${back.stderr}`).toEqual(dirty);
        world.ok(['undo'], { session: A });
        expect(existsSync(join(world.path, 'new'))).toBe(false);
      }
      return tally.figures;
    }),
  );
});
