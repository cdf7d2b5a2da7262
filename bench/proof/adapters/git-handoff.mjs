/** git-handoff as it is in this clone, built and installed by its own `init`. */
import { join } from 'node:path';
import { quote } from '../world.mjs';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const program = join(ROOT, 'bin', 'git-handoff');

/** @type {import('../adapter.mjs').Adapter} */
export const adapter = {
  name: 'git-handoff',
  install: (world) => world.run(program, ['init', '--yes', '--client', 'claude']),
  // Its git hooks and its own `commit` explain their refusals.
  refused: ({ stderr }) => /^(?:error|hint): .*(?:claude [0-9a-f]{8}|git handoff )/m.test(stderr),
  commit: ({ message, paths }) => `git handoff commit -m ${quote(message)} -- ${paths.map(quote).join(' ')}`,
  note: ({ topic, text }) => ({ command: `git handoff write ${topic} -m ${quote(text)}` }),
  readableNotes: (world) =>
    world
      .git(['for-each-ref', '--format=%(refname)', 'refs/handoffs/'])
      .split('\n')
      .filter(Boolean)
      .map((ref) => world.run(program, ['show', ref.slice('refs/handoffs/'.length)])),
  /** The texts that `git handoff rescue` lists and shows. */
  saved(world) {
    const { items } = JSON.parse(world.run(program, ['rescue', 'list', '--json']));
    return items.map((_, n) => world.run(program, ['rescue', 'show', String(n + 1)]));
  },
};
