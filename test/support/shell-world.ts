import { lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { PathEffect, ShellEffects, ShellWorld } from '../../src/shell/effects.ts';

function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** A world on the real disk, with the environment given. */
export function diskWorld(options: {
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

/** Where an effect lands: its path with links resolved as the kernel would for that effect. */
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

/** Whether an effect changes a guarded file, as the guard decides it: by real path, and by inode for writes. */
export function hitsFile(effect: PathEffect, file: string): boolean {
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
export function isHit(effects: ShellEffects, file: string, repository: string): boolean {
  const loose = join(repository, '.git/refs/handoffs/main/auth-refresh');
  const packed = join(repository, '.git/packed-refs');
  return (
    effects.paths.some((effect) => [file, loose, packed].some((guarded) => hitsFile(effect, guarded))) ||
    effects.refs.some(({ ref }) => ref === '*' || /^refs\/(?:\*$|handoffs)/.test(ref))
  );
}

export interface HostileCase {
  readonly id: string;
  readonly command: string;
  readonly expect: 'deny' | 'allow' | 'deny-or-detect';
  readonly why: string;
  readonly groundTruth: string;
  readonly setup?: string;
  readonly cwd?: string;
  readonly owner?: string;
}

function readCases<T>(name: string): T[] {
  const text = readFileSync(new URL(`../../fixtures/hostile/${name}`, import.meta.url), 'utf8');
  return (JSON.parse(text) as { cases: T[] }).cases;
}

/** The corpus of `fixtures/hostile/bash.json`. */
export function readCorpus(): HostileCase[] {
  return readCases('bash.json');
}

/** Further commands and their effects, found by running them. */
export function readFurtherCases(): Pick<HostileCase, 'command' | 'setup' | 'groundTruth'>[] {
  return readCases('bash-more.json');
}
