import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { REPOSITORY } from './paths.ts';

/** This package as a person has it who installed the packed tarball. */
export interface Installed {
  /** The folder in which npm linked the program. */
  readonly programs: string;
  remove(): void;
}

/** Packs this repository as built, and installs the tarball into an empty prefix without a network. */
export function installPacked(): Installed {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), 'git-handoff-packed-')));
  const prefix = path.join(root, 'prefix');
  const npm = (args: readonly string[], cwd: string): void => {
    const env = {
      PATH: `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      HOME: root,
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    };
    execFileSync('npm', args, { cwd, env, stdio: 'pipe' });
  };
  npm(['pack', '--ignore-scripts', '--pack-destination', root], REPOSITORY);
  const tarball = readdirSync(root).find((name) => name.endsWith('.tgz')) ?? '';
  mkdirSync(prefix);
  npm(
    ['install', '--global', '--no-audit', '--no-fund', `--prefix=${prefix}`, path.join(root, tarball)],
    root,
  );
  return {
    programs: path.join(prefix, 'bin'),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
