import type { ExportValue } from './export.ts';
import type { ImportValue } from './import.ts';
import type { ImportShape } from '../shapes.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { type Rendered, columns } from '../../ui/terminal.ts';
import { ownerText } from '../owner-text.ts';

/** What goes where, as whose, from which file, and what is left out. */
export function renderPlan(items: readonly ImportShape[]): Rendered {
  return columns(items.map((item) => [item.action, ...target(item), escapeLine(item.file) + remark(item)]));
}

function target({
  branch,
  topic,
  owner,
  state,
  to,
}: ImportShape): [place: string, state: string, who: string] {
  if (branch === null || topic === null || owner === null) return ['-', '', ''];
  const address = to === null ? '' : ` to ${escapeLine(to)}`;
  return [
    escapeLine(`${branch}/${topic}`),
    state ?? '',
    `${ownerText({ owner, ownerName: null, client: null })}${address}`,
  ];
}

const remark = ({ why }: ImportShape) => (why === null ? '' : `  (${escapeLine(why)})`);

const WRITES = ['create', 'update', 'close'];

/** After the plan: what was written. With `--dry-run` the plan is the answer. */
export function renderImported({ dryRun, items }: ImportValue): Rendered {
  const count = (actions: readonly string[]) => items.filter(({ action }) => actions.includes(action)).length;
  const [writes, unchanged] = [count(WRITES), count(['unchanged'])];
  const left = items.length - writes - unchanged;
  const parts = [`${writes} ${dryRun ? 'to import' : 'imported'}`];
  if (unchanged > 0) parts.push(`${unchanged} there already`);
  if (left > 0) parts.push(`${left} left out`);
  const files = writes === 0 || dryRun ? '' : '; the files stay where they are';
  const sum = `${parts.join(', ')}${files}\n`;
  return dryRun ? `${renderPlan(items)}${sum}` : sum;
}

/** A line for each file. */
export function renderExported({ items }: ExportValue): Rendered {
  return items
    .map(({ branch, topic, file, written }) => {
      const what = written ? 'written' : 'up to date';
      return `${escapeLine(file ?? '-')}  ${what}  ${escapeLine(`${branch}/${topic}`)}\n`;
    })
    .join('');
}
