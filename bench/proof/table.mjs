/** The table of the proof: a line for each scenario, with what each tool left, and the totals. */
import { COUNTS } from './oracle.mjs';

/** What a cell says about each count, the worst first. A correct refusal is not mentioned. */
const WORDS = {
  lost: (n) => `${n} lost`,
  away: (n) => `${n} carried off`,
  mixed: (n) => `${n} mixed`,
  astray: (n) => `${n} astray`,
  notes: (n) => `${n} ${n === 1 ? 'note' : 'notes'}`,
  wrong: (n) => `${n} refused`,
};

/** @param {Record<string, number>} counts */
export function cell(counts) {
  const found = Object.entries(WORDS).flatMap(([count, words]) =>
    counts[count] > 0 ? [words(counts[count])] : [],
  );
  return found.length === 0 ? '-' : found.join(', ');
}

/** The sums for every tool. @returns {{ name: string, counts: Record<string, number> }[]} */
export function totalsOf(tools, kinds) {
  const rows = kinds.flatMap((kind) => kind.rows);
  const sum = (at, count) => rows.reduce((total, { counts }) => total + counts[at][count], 0);
  return tools.map((name, at) => ({
    name,
    counts: Object.fromEntries(Object.keys(COUNTS).map((count) => [count, sum(at, count)])),
  }));
}

/** Columns as wide as their widest cell. */
function aligned(rows) {
  const widths = rows[0].map((_, n) => Math.max(...rows.map((row) => row[n].length)));
  return rows.map((row) =>
    row
      .map((text, n) => text.padEnd(widths[n]))
      .join('  ')
      .trimEnd(),
  );
}

/**
 * @param {string[]} tools
 * @param {{ kind: string, rows: { report: string, title: string, counts: Record<string, number>[] }[] }[]} kinds
 */
export function tableLines(tools, kinds) {
  const shown = kinds.filter(({ rows }) => rows.length > 0);
  const blank = tools.map(() => '');
  const body = shown.flatMap(({ kind, rows }) => [
    [`${kind} (${rows.length})`, ...blank],
    ...rows.map(({ report, counts }) => [`  ${report}`, ...counts.map(cell)]),
  ]);
  const totals = totalsOf(tools, shown);
  const sums = Object.entries(COUNTS).map(([count, name]) => [
    name,
    ...totals.map(({ counts }) => String(counts[count])),
  ]);
  const scenarios = shown.reduce((sum, { rows }) => sum + rows.length, 0);
  const lines = aligned([
    ['', ...tools],
    ...body,
    [`all ${scenarios} scenarios`, ...blank],
    ...sums.map(([name, ...rest]) => [`  ${name}`, ...rest]),
  ]);
  return lines;
}

/** What the tools cost; not in the table, because the time differs from run to run. */
export function costLines(tools, costs) {
  const rows = tools.map((name, at) => {
    const sum = (what) => costs[at].reduce((total, cost) => total + cost[what], 0);
    return [name, `${Math.round(sum('ms') / 1_000)} s`, `${Math.round(sum('bytes') / 4)} tokens`];
  });
  return aligned([['', 'in hooks and commands', 'read by the sessions (bytes / 4)'], ...rows]);
}
