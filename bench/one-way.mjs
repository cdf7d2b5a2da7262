// Measures the rows for run.mjs, and prints one line of JSON for each row. The caller chooses Node, and Linux's or macOS's way.
//   node bench/one-way.mjs <rounds> <text in the row's name> [<folder of another package>]
import { growthRows } from './growth-rows.mjs';
import { commitRows, guardRows } from './guard-rows.mjs';
import { measure, median, once } from './measure.mjs';
import { Scenario } from './scenario.mjs';
import { verbRows } from './verb-rows.mjs';

const GROUPS = [guardRows, commitRows, verbRows, growthRows];
const [rounds = '35', only = '', ...others] = process.argv.slice(2);

const rounded = (figure) => Number(figure.toFixed(2));

/** @param rows the row, and the same row for the package that it is compared with */
function result(rows) {
  const [{ name, unit, target, isBound = false }] = rows;
  const row = { name, unit, target, isBound };
  try {
    const figures = rows[0].value ? rows.map((one) => [one.value()]) : measure(rows, Number(rounds));
    const ratios = figures.length > 1 ? figures[0].map((figure, n) => figure / figures[1][n]) : undefined;
    return { ...row, measured: rounded(median(figures[0])), ratio: ratios && rounded(median(ratios)) };
  } catch (error) {
    // The other package may lack what the row measures.
    if (rows.length > 1) return result(rows.slice(0, 1));
    return { ...row, failed: String(error) };
  }
}

/**
 * What was built for the rows. It is removed only at the end: after 100,000 files were deleted, ext4 needs milliseconds to
 * find room for another file, which would slow down the next rows.
 */
const built = [];

/** The rows of a group for a package. The commands of a row are built only once, although `result` may measure it twice. */
function rowsOf(group, root) {
  const scenario = new Scenario(root);
  built.push(scenario);
  return group(scenario).map((row) => ({ ...row, commands: once(row.commands) }));
}

try {
  for (const group of GROUPS) {
    const all = [undefined, ...others].map((root) => rowsOf(group, root));
    for (const [n, { name }] of all[0].entries()) {
      if (!name.includes(only)) continue;
      console.log(JSON.stringify(result(all.map((rows) => rows[n]))));
    }
  }
} finally {
  for (const scenario of built) scenario.remove();
}
