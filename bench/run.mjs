// npm run bench: measures the figures that the project promises and prints them beside their targets.
//   --only <text>   rows whose name contains the text
//   --runs <n>      rounds of each row (default 15)
//   --json          one object instead of the table
// Not a test: a figure that is missed does not fail. The exit status is 1 only if a command could not be run.
import { spawnSync } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { commitRows } from './commit-rows.mjs';
import { guardRows } from './guard-rows.mjs';
import { largeRows } from './large-rows.mjs';
import { ledgerRows } from './ledger-rows.mjs';
import { measure } from './measure.mjs';
import { Scenario } from './scenario.mjs';
import { sizeRows } from './size-rows.mjs';
import { travelRows } from './travel-rows.mjs';
import { verbRows } from './verb-rows.mjs';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    runs: { type: 'string', default: '15' },
    json: { type: 'boolean', default: false },
  },
});
const runs = Math.max(1, Number.parseInt(options.runs, 10) || 15);

/** What a reader needs to know of the machine to judge the figures. */
function machine() {
  return {
    node: process.version,
    git: spawnSync('git', ['--version'], { encoding: 'utf8' }).stdout.trim(),
    cores: cpus().length,
    load: loadavg().map((load) => Number(load.toFixed(2))),
    runs,
  };
}

/** Measures the rows of a group that were asked for; a scenario that cannot be built is one failed row. */
function results(group) {
  const scenario = new Scenario();
  try {
    return group(scenario)
      .filter(({ name }) => name.includes(options.only))
      .map((row) => reported(result(row)));
  } catch (error) {
    return [{ name: group.name, failed: String(error) }];
  } finally {
    scenario.remove();
  }
}

/** A table is printed at the end; whoever waits at a terminal sees each figure when it is known. */
function reported(row) {
  if (process.stderr.isTTY) console.error(`${row.name}: ${row.measured ?? row.failed}`);
  return row;
}

function result(row) {
  const { name, unit, target } = row;
  try {
    const measured = Number((row.value ? row.value() : measure(row, runs)).toFixed(2));
    return { name, measured, unit, target, met: measured <= target };
  } catch (error) {
    return { name, unit, target, failed: String(error) };
  }
}

function table(rows) {
  const lines = rows.map((row) =>
    row.failed === undefined
      ? [row.name, String(row.measured), `≤ ${row.target} ${row.unit}`, row.met ? 'yes' : 'no']
      : [row.name, '-', row.failed.split('\n')[0], 'failed'],
  );
  const all = [['figure', 'measured', 'target', 'met'], ...lines];
  const widths = [0, 1, 2].map((column) => Math.max(...all.map((line) => line[column].length)));
  return all.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

const before = machine();
const rows = [guardRows, ledgerRows, commitRows, verbRows, travelRows, largeRows, sizeRows].flatMap((group) =>
  results(group),
);
if (options.json) {
  console.log(JSON.stringify({ machine: before, rows }));
} else {
  const facts = `${before.node}, ${before.git}, ${before.cores} cores, load ${before.load.join(' ')}, ${runs} rounds`;
  console.log([facts, '', ...table(rows)].join('\n'));
}
if (rows.some((row) => row.failed !== undefined)) process.exitCode = 1;
