import { join, basename } from 'node:path';
import { type MarkerFile, isMemoryFolder, markerFileName, markerOwner } from '../domain/marker.ts';
import { patternMatcher } from '../shell/pattern.ts';
import { absolutePath, entries, hardLinkKey, readBeginning, readPart, realPath } from './disk.ts';

/** The handoff files that git-handoff's predecessors left on this disk, and the files that `handoff.guardPath` names. */
export interface MarkerFiles {
  /** Returns the guarded file that a write to `path` would reach, through any link; `undefined` when there is none. */
  reachedBy(path: string, follows: boolean): string | undefined;
  /** Returns the guarded files that exist at a path or inside it. */
  below(path: string): string[];
  /** Returns the guarded files in the memory folders of all projects. */
  all(): string[];
  read(path: string): MarkerFile;
}

/** Finds the guarded files. `guardPath` has shell patterns of further files, matched against whole paths. */
export function markerFiles(home: string, env: NodeJS.ProcessEnv, guardPath: readonly string[]): MarkerFiles {
  const further = guardPath.map((pattern) => patternMatcher(absolutePath(pattern, home, home)));
  const isGuarded = (path: string) =>
    markerFileName(path) !== undefined || further.some((matches) => matches(path));
  let known: string[] | undefined;
  const all = () => (known ??= [...new Set(memoryFolders(home, env).flatMap(filesOf))]);
  const filesOf = (folder: string) =>
    entries(folder)
      .map((name) => join(folder, name))
      .filter(isGuarded);

  return {
    all,
    reachedBy(path, follows) {
      const real = realPath(path, follows);
      if (isGuarded(real)) return real;
      const key = follows ? hardLinkKey(real) : undefined;
      return key && all().find((file) => hardLinkKey(file) === key);
    },
    below(path) {
      const real = realPath(path, false);
      const here = isMemoryFolder(real) ? filesOf(real) : [];
      const within = all().filter((file) => file.startsWith(real === '/' ? '/' : `${real}/`));
      const itself = isGuarded(real) ? [real] : [];
      return [...new Set([...itself, ...here, ...within])];
    },
    read(path) {
      const beginning = readBeginning(path);
      return {
        name: basename(path),
        exists: beginning !== undefined,
        owner: beginning === undefined ? undefined : markerOwner(beginning),
      };
    },
  };
}

/** Returns the memory folders of all projects, for the clients that use this layout. */
export function memoryFolders(home: string, env: NodeJS.ProcessEnv): string[] {
  const roots = new Set([env['CLAUDE_CONFIG_DIR'], join(home, '.claude'), join(home, '.gemini')]);
  return [...roots].flatMap((root) => {
    if (root === undefined || root === '') return [];
    const projects = realPath(join(root, 'projects'));
    return entries(projects).map((project) => realPath(join(projects, project, 'memory')));
  });
}

/** Returns the memory folder that Claude Code uses for sessions started in `cwd`. */
export function memoryFolder(cwd: string, home: string, env: NodeJS.ProcessEnv): string {
  const root = env['CLAUDE_CONFIG_DIR'] ?? join(home, '.claude');
  return join(root, 'projects', cwd.replace(/[/\\.]/g, '-'), 'memory');
}

/** The file at the top of the working tree that lists the people and agents who write and receive notes. */
export const OPERATORS_FILE = 'OPERATORS.md';
const MAX_BYTES = 1024 * 1024;

/** Reads the operators file; `undefined` when it does not exist, is not a regular file, or is too large. */
export function readOperatorsFile(top: string): string | undefined {
  const bytes = readPart(join(top, OPERATORS_FILE), 0, MAX_BYTES + 1);
  return bytes === undefined || bytes.length > MAX_BYTES ? undefined : bytes.toString('utf8');
}
