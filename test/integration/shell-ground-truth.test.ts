import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { analyseShell } from '../../src/shell/analyse.ts';
import type { PathEffect, ShellEffects, ShellWorld } from '../../src/shell/effects.ts';
import { Snapshot } from '../support/disk-snapshot.ts';
import { GuardWorld, HANDOFF_REF } from '../support/guard.ts';
import { type HostileCase, hostileCases } from '../support/hostile-cases.ts';

/** Real shells do not change, so a sample of the cases suffices. `SHELL_CASES=all` runs all, which takes minutes. */
const isSampled = (n: number, every: number) => process.env['SHELL_CASES'] === 'all' || n % every === 0;

// A world without init, so that nothing of ours stops a command.
const world = new GuardWorld({ initialised: false, marker: 'unset' });
world.commit('another of the name', { 'handoff-main-auth-refresh.md': 'unguarded\n' });
world.git(['update-ref', HANDOFF_REF, 'HEAD~1']);
const snapshot = new Snapshot(world.root);
beforeEach(() => snapshot.restore());
afterAll(() => world.remove());

const fill = (text: string) => world.fill(text).replaceAll('@PWN@', `${world.root}/canary`);

/** Whether a command changes the file or a handoff's ref: according to the analysis, and when it is run. */
async function readAndRun(command: string, setup = '', cwd = '@CWD@') {
  if (setup !== '') world.bash(fill(setup));
  const [text, folder] = [fill(command), fill(cwd)];
  const { file, home } = world;
  const watched = [file, `${world.path}/.git/${HANDOFF_REF}`];
  const effects = await analyseShell(
    text,
    diskWorld({ cwd: folder, home, watched, environment: world.env() }),
  );
  const before = state();
  world.bash(text, { cwd: folder });
  return { hit: isHit(effects, file, world.path), mutated: state() !== before };
}

/** What should not change: the file's content, and the handoffs' refs. */
function state(): string {
  const content = existsSync(world.file) ? readFileSync(world.file, 'latin1') : 'absent';
  const refs = ['for-each-ref', '--format=%(refname) %(objectname)', 'refs/handoffs'];
  return `${content}\n${world.run('git', refs).stdout}`;
}

describe('the corpus of hostile commands, run for real', () => {
  const cases = hostileCases<HostileCase>('bash.json')
    .filter(({ groundTruth }) => !groundTruth.startsWith('not-run'))
    .filter((_, n) => isSampled(n, 4));
  it.each(cases)(
    '$id $expect: $why',
    async ({ command, expect: expected, groundTruth, setup, cwd, owner }) => {
      const { hit, mutated } = await readAndRun(command, setup, cwd);
      if (expected !== 'deny-or-detect') expect(hit).toBe(expected === 'deny' || owner === 'caller');
      expect(mutated).toBe(groundTruth === 'mutates');
    },
  );
});

describe('further commands, run for real', () => {
  const sample = hostileCases<HostileCase>('bash-more.json').filter(({ setup }, n) =>
    isSampled(n, setup === undefined ? 40 : 4),
  );
  it.each(sample)('$groundTruth: $command', async ({ command, setup, groundTruth }) => {
    const mutates = groundTruth === 'mutates';
    expect(await readAndRun(command, setup)).toMatchObject({ hit: mutates, mutated: mutates });
  });
});

function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** A world on the real disk, with the environment given. */
function diskWorld(options: {
  readonly cwd: string;
  readonly home: string;
  readonly watched: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}): ShellWorld {
  const environment: Readonly<Record<string, string>> = { HOME: options.home, ...options.environment };
  return {
    cwd: options.cwd,
    home: options.home,
    variable: (name) => environment[name],
    entries: (folder) => attempt(() => readdirSync(folder), []),
    isDirectory: (path) => attempt(() => statSync(path).isDirectory(), false),
    readLink: (path) => attempt(() => readlinkSync(path), undefined),
    watched: (folder) =>
      options.watched.filter((path) => path.startsWith(folder === '/' ? '/' : `${folder}/`)),
  };
}

/** The real path of an effect: the last link of the path is resolved only if the effect follows it. */
function landing(effect: PathEffect): string {
  if (effect.follows) {
    const real = attempt(() => realpathSync(effect.path), undefined);
    if (real !== undefined) return real;
  }
  const parent = dirname(effect.path);
  return join(
    attempt(() => realpathSync(parent), parent),
    basename(effect.path),
  );
}

/** Whether an effect changes a guarded file. Like the guard, it compares real paths and, for writes, inodes. */
function hitsFile(effect: PathEffect, file: string): boolean {
  const path = landing(effect);
  if (path === file) return true;
  if (effect.kind === 'remove') return file.startsWith(path === '/' ? '/' : `${path}/`);
  const inode = (name: string) =>
    attempt(() => {
      const { dev, ino } = lstatSync(name);
      return `${dev}:${ino}`;
    }, name);
  return effect.follows && inode(path) === inode(file);
}

/** Whether effects change the guarded file or a handoff's ref of the repository. */
function isHit(effects: ShellEffects, file: string, repository: string): boolean {
  const loose = join(repository, '.git/refs/handoffs/main/auth-refresh');
  const packed = join(repository, '.git/packed-refs');
  return (
    effects.paths.some((effect) => [file, loose, packed].some((guarded) => hitsFile(effect, guarded))) ||
    effects.refs.some(({ ref }) => ref === '*' || /^refs\/(?:\*$|handoffs)/.test(ref))
  );
}
