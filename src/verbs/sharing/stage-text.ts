import type { StageValue } from './stage.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { type Rendered, columns } from '../../ui/terminal.ts';

/** A line for each path that was staged. */
export function renderStaged({ items }: StageValue): Rendered {
  return columns(items.map(({ path, hunks }) => [hunks ? 'your hunks' : 'whole', escapeLine(path)]));
}
