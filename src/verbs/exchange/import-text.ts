import { escapeLine } from '../../domain/surfacing.ts';
import { type Rendered, columns } from '../../ui/terminal.ts';
import { ownerText } from '../handoff-shape.ts';
import type { ImportValue } from './import.ts';

const WRITES = ['create', 'update', 'close'];

/** Lists the place, owner and file of each note, and the files that were left out. */
export function renderImported({ dryRun, items }: ImportValue): Rendered {
  const rows = items.map(({ action, branch, topic, owner, state, to, file, why }): string[] => {
    const source = `${escapeLine(file)}${why === null ? '' : `  (${escapeLine(why)})`}`;
    if (branch === null || topic === null || owner === null) return [action, '-', '', '', source];
    const who = ownerText({ owner, ownerName: null, client: null });
    const address = to === null ? '' : ` to ${escapeLine(to)}`;
    return [action, escapeLine(`${branch}/${topic}`), state ?? '', `${who}${address}`, source];
  });
  const count = (actions: readonly string[]) => items.filter(({ action }) => actions.includes(action)).length;
  const [writes, unchanged] = [count(WRITES), count(['unchanged'])];
  const left = items.length - writes - unchanged;
  const parts = [`${writes} ${dryRun ? 'to import' : 'imported'}`];
  if (unchanged > 0) parts.push(`${unchanged} there already`);
  if (left > 0) parts.push(`${left} left out`);
  const files = writes === 0 || dryRun ? '' : '; the files stay where they are';
  return `${columns(rows)}${parts.join(', ')}${files}\n`;
}
