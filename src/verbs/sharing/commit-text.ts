import type { CommitShape } from '../shapes.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import type { Rendered } from '../../ui/terminal.ts';

/** A script reads the first line: the object name. */
export function renderCommit({ commit, paths }: CommitShape): Rendered {
  return [commit, ...paths.map((path) => `  ${escapeLine(path)}`), ''].join('\n');
}
