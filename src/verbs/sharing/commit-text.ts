import type { CommitShape } from '../shapes.ts';
import type { StageValue } from './stage.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { type Rendered, columns } from '../../ui/terminal.ts';

/** A script reads the first line: the object name. */
export function renderCommit({ commit, paths }: CommitShape): Rendered {
  return [commit, ...paths.map((path) => `  ${escapeLine(path)}`), ''].join('\n');
}

/** A line for each path that was staged. */
export function renderStaged({ items }: StageValue): Rendered {
  return columns(items.map(({ path, hunks }) => [hunks ? 'your hunks' : 'whole', escapeLine(path)]));
}
