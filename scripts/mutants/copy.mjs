// Temporary copies of the repository: a mutant never touches the working tree.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { run } from './run.mjs';

const PATIENCE_MS = 180_000;

/** Copies the working tree (what git tracks or would add), or a commit, into an empty folder. */
export function copyRepository(root, folder, commit) {
  const git = (args, cwd = root) => {
    const done = spawnSync('git', args, { cwd, maxBuffer: 1 << 26 });
    if (done.status !== 0) throw new Error(`git ${args[0]}: ${done.stderr}`);
    return done.stdout.toString('utf8');
  };
  if (commit === undefined) {
    const names = git(['ls-files', '-z', '--cached', '--others', '--exclude-standard']).split('\0');
    for (const name of names.filter((one) => one !== '' && existsSync(join(root, one)))) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      cpSync(join(root, name), join(folder, name), { verbatimSymlinks: true });
    }
    git(['init', '-q'], folder);
  } else {
    git(['clone', '-q', '--shared', '--no-checkout', '--', root, folder]);
    git(['checkout', '-q', '--detach', commit], folder);
  }
  symlinkSync(realpathSync(join(root, 'node_modules')), join(folder, 'node_modules'));
}

/** A copy for one mutant at a time, rebuilt if the sources have changed since the last build. */
export class Copy {
  #built;

  /** @param base a folder for the copy (in `copy`) and for what the tests leave behind (in `tmp`) */
  constructor(root, base, commit) {
    this.folder = join(base, 'copy');
    for (const name of ['copy', 'tmp']) mkdirSync(join(base, name), { recursive: true });
    copyRepository(root, this.folder, commit);
  }

  /**
   * @param sources a name for the present contents of `src`; nothing is built if the last build had the same name
   * @returns why it cannot be built; `undefined` if it can
   */
  async build(sources) {
    if (this.#built === sources) return undefined;
    this.#built = undefined;
    const { status, output } = await run(process.execPath, ['scripts/build.mjs'], this.folder, PATIENCE_MS);
    if (status !== 0) return output.trim().split('\n')[0];
    this.#built = sources;
    return undefined;
  }
}
