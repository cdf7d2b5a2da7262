import { dirname, join, relative } from 'node:path';
import { shellWord } from '../../domain/messages.ts';
import { fileWord, literal, pathWords, typedPaths } from '../../changes/hint-words.ts';
import { type FoundRepository, discoverRepository } from '../../git/discover.ts';
import { absolutePath, freePath, realPath } from '../../host/disk.ts';
import type { TreeCall } from '../call.ts';

/** The parts of the commands that a refusal prints. The commands must work where the client's next command will run. */
export interface Typed {
  /** `git`, with `-C <top>` if the client's next command may run elsewhere. */
  readonly git: string;
  /** Returns ` -- <path>...` for git, from paths relative to the top of the working tree. */
  readonly paths: (paths: readonly string[]) => string;
  /** Returns ` -- <path>...` for `git handoff take`, which reads the paths as names, not as patterns. */
  readonly plainPaths: (paths: readonly string[]) => string;
  /** Returns a command that removes these files with a program (`rm`, or the like). */
  readonly remove: (paths: readonly string[], program: string) => string;
  /** Returns, as an argument for git, the path of a folder to make beside the working tree. */
  readonly beside: (name: string) => string;
}

/** Returns the parts for commands in a working tree, by default the one in which the call is judged. */
export function typedAt(call: TreeCall, { workTree, commonDir }: FoundRepository = call.tree): Typed {
  const [top, cwd] = [realPath(workTree), realPath(call.cwd)];
  const isHere = staysThere(call) && realPath(discoverRepository(cwd)?.workTree ?? '/') === top;
  const from = isHere ? cwd : top;
  const at = (path: string) => relative(from, join(top, path));
  return {
    git: isHere ? 'git' : `git -C ${shellWord(top)}`,
    paths: (paths) => pathWords(commonDir, paths, (path) => literal(at(path))),
    plainPaths: (paths) => pathWords(commonDir, paths, at),
    remove: (paths, program) => {
      const words = typedPaths(paths.map((path) => (isHere ? at(path) : join(top, path))));
      if (words !== undefined) return `${program} -- ${words}`;
      return `xargs -0 ${program} -- <${fileWord(commonDir, paths.map((path) => `${join(top, path)}\0`).join(''))}`;
    },
    beside: (name) => shellWord(relative(from, freePath(join(dirname(top), name.replaceAll('/', '-'))))),
  };
}

/** Whether the client's next command runs where this one does: some clients can start a single command elsewhere. */
export function staysThere({ event, cwd, machine }: TreeCall): boolean {
  const folder = event.tool !== undefined && 'cwd' in event.tool ? event.tool.cwd : undefined;
  return folder === undefined || absolutePath(folder, cwd, machine.home) === cwd;
}
