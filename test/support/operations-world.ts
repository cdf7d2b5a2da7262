import { A, B } from './sharing-world.ts';
import { CommitWorld, errorsOf, hintsOf } from './commit-hooks-world.ts';

const LINES = Array.from({ length: 10 }, (_, n) => `l${n}\n`);
const changed = (n: number, text: string) =>
  LINES.map((line, at) => (at === n ? `${text}\n` : line)).join('');

/**
 * `side` and `main` have both changed src/b.ts, which conflicts, and both.md, which merges. `side` also adds and removes a
 * file. A has changed src/a.ts and made own.ts, and committed neither.
 */
export function operationsWorld(): CommitWorld {
  const world = new CommitWorld({ files: { 'both.md': LINES.join(''), 'old.md': 'old\n' } });
  world.git(['switch', '-qc', 'side']);
  world.git(['rm', '-q', 'old.md']);
  world.commit('side', { 'src/b.ts': 'side\n', 'both.md': changed(0, 'side'), 'new.md': 'new\n' });
  world.git(['switch', '-q', 'main']);
  world.commit('main', { 'src/b.ts': 'main\n', 'both.md': changed(9, 'main') });
  world.commit('later', { 'shared.md': 'later\n' });
  world.begin(A);
  world.begin(B);
  world.wrote(A, 'src/a.ts', 'of A\n');
  world.wrote(A, 'own.ts', 'of A\n');
  return world;
}

export const RESOLVE = 'echo resolved >src/b.ts';
export const SWEEP = 'git add -A && git commit -q --no-edit';
export const quiet = { env: { GIT_EDITOR: 'true' } };

/** B runs a command that a git hook must stop, without moving HEAD. Returns our part of the output. */
export function stopped(world: CommitWorld, command: string): { errors: string[]; hints: string[] } {
  const head = world.git(['rev-parse', 'HEAD']);
  const { before, run } = world.bash(B, command, quiet);
  if (before.kind === 'deny' || run?.status === 0) throw new Error(`not stopped by a hook: ${command}`);
  if (world.git(['rev-parse', 'HEAD']) !== head) throw new Error(`HEAD has moved: ${command}`);
  const stderr = run?.stderr ?? '';
  return {
    errors: errorsOf(stderr).filter((line) => /^\S+: /.test(line)),
    hints: hintsOf(stderr).filter((line) => line.startsWith('git ')),
  };
}
