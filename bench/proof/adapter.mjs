/**
 * A tool in the proof: one file in adapters/, which exports `adapter`.
 *
 * @typedef {object} Adapter
 * @property {string} name as in the table
 * @property {boolean} [ownWorktrees] each worker gets a worktree and branch of its own
 * @property {(world: import('./world.mjs').World) => void} [install]
 *   registers its hooks in the world's `~/.claude/settings.json` and in the repository, as a user would
 * @property {(output: { stdout: string, stderr: string }) => boolean} [refused]
 *   whether a command that failed was stopped by the tool, and not by git
 * @property {(commit: { message: string, paths: string[] }) => string} commit
 *   the command line with which a session commits these files of its own
 * @property {(note: { topic: string, text: string, id: string, checkout: string, world: import('./world.mjs').World }) =>
 *   { command: string } | { path: string, text: string }} note
 *   how a session leaves a note: a command line, or a file for the client's Write tool, from the top of its checkout
 * @property {(world: import('./world.mjs').World, checkouts: string[]) => string[]} readableNotes
 *   the texts that the next session finds
 * @property {(world: import('./world.mjs').World) => string[]} [saved]
 *   the texts that the tool's documented command brings back
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const FIRST = ['nothing', 'worktrees', 'handoff-guard'];
const LAST = 'git-handoff';

/** A tool's place in the table: tools without a fixed place come before ours, sorted by name. */
const place = ({ name }) => (name === LAST ? 4 : FIRST.includes(name) ? FIRST.indexOf(name) : 3);

/** Every adapter. @returns {Promise<Adapter[]>} */
export async function adapters() {
  const folder = join(import.meta.dirname, 'adapters');
  const modules = readdirSync(folder)
    .sort()
    .map(async (file) => {
      const { adapter } = await import(join(folder, file));
      if (adapter === undefined) throw new Error(`bench/proof/adapters/${file} exports no "adapter"`);
      return adapter;
    });
  const all = await Promise.all(modules);
  return all.sort((a, b) => place(a) - place(b));
}
