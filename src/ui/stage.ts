import type { StageValue } from '../commands/stage.ts';
import { escapeLine } from '../domain/surfacing.ts';
import { type Rendered, columns } from './terminal.ts';

export function renderStaged({ items }: StageValue): Rendered {
  return columns(items.map(({ path, hunks }) => [hunks ? 'your hunks' : 'whole', escapeLine(path)]));
}
