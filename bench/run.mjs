// npm run bench: measures the figures that the project promises and prints each beside its target.
//   --only <text>      rows whose name contains the text
//   --runs <n>         rounds of each row (default 35)
//   --against <.tgz>   the same rows of another package of git-handoff, in turn with ours, and the ratio of the two
//   --json             one object instead of the table
//   --page             puts the table into docs/performance.md, too
// Not a test: it needs a quiet machine. The exit status is 1 if a figure misses its target by more than a tenth, or a
// command could not be run.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { commitRows } from './commit-rows.mjs';
import { growthRows } from './growth-rows.mjs';
import { guardRows } from './guard-rows.mjs';
import { insteadRows } from './instead-rows.mjs';
import { largeRows } from './large-rows.mjs';
import { ledgerRows } from './ledger-rows.mjs';
import { measure, median, once } from './measure.mjs';
import { Scenario } from './scenario.mjs';
import { sizeRows } from './size-rows.mjs';
import { travelRows } from './travel-rows.mjs';
import { verbRows } from './verb-rows.mjs';
import { workRows } from './work-rows.mjs';

const GROUPS = [
  guardRows,
  ledgerRows,
  commitRows,
  verbRows,
  workRows,
  travelRows,
  largeRows,
  growthRows,
  insteadRows,
  sizeRows,
];
/** A figure may miss its target by so much. */
const TOLERANCE = 1.1;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    runs: { type: 'string', default: '35' },
    against: { type: 'string' },
    json: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
  },
});
const runs = Math.max(1, Number.parseInt(options.runs, 10) || 35);

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

/** Unpacks a package as npm packed it; its folder. */
function unpack(tarball, folder) {
  const done = spawnSync('tar', ['-xzf', resolve(tarball), '-C', folder], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${tarball}: ${done.stderr}`);
  return join(folder, 'package');
}

/**
 * What was built for the rows. It is removed at the end: where 100,000 files were just deleted, ext4 takes milliseconds to find
 * room for another one, at the cost of the rows that come next.
 */
const built = [];

function buildScenario(root) {
  const scenario = new Scenario(root);
  built.push(scenario);
  return scenario;
}

/** Measures the rows of a group that were asked for; a scenario that cannot be built is one failed row. */
function results(group, packages) {
  try {
    const scenarios = packages.map(buildScenario);
    // A row that the other package does not know is measured again, alone, in the repository that it has by then.
    const rowsOf = (scenario) => group(scenario).map((row) => ({ ...row, commands: once(row.commands) }));
    const [ours, ...others] = scenarios.map(rowsOf);
    return ours.flatMap((row, n) =>
      row.name.includes(options.only)
        ? [reported(result([row, ...others.flatMap((rows) => rows[n] ?? [])]))]
        : [],
    );
  } catch (error) {
    return [{ name: group.name, failed: String(error) }];
  }
}

/** A table is printed at the end; whoever waits at a terminal sees each figure when it is known. */
function reported(row) {
  if (process.stderr.isTTY) console.error(`${row.name}: ${row.measured ?? row.failed}`);
  return row;
}

const rounded = (figure) => Number(figure.toFixed(2));

/** @param rows the row, and the same of the package that it is measured against */
function result(rows) {
  const [{ name, unit, target }] = rows;
  try {
    const figures = rows[0].value ? rows.map((row) => [row.value()]) : measure(rows, runs);
    const [measured, before] = figures.map((all) => rounded(median(all)));
    const against =
      before === undefined
        ? {}
        : { before, ratio: rounded(median(figures[0].map((figure, n) => figure / figures[1][n]))) };
    return { name, measured, unit, target, verdict: verdictOf(measured, target), ...against };
  } catch (error) {
    // The other package may not know what a row is about.
    if (rows.length > 1) return result(rows.slice(0, 1));
    return { name, unit, target, failed: String(error) };
  }
}

function verdictOf(measured, target) {
  if (target === undefined) return '';
  if (measured <= target) return 'met';
  return measured <= target * TOLERANCE ? 'nearly' : 'missed';
}

function table(rows) {
  const isCompared = options.against !== undefined;
  const lines = rows.map((row) => {
    if (row.failed !== undefined) return [row.name, '-', row.failed.split('\n')[0], 'failed'];
    const { name, measured, target, unit, verdict, before = '', ratio = '' } = row;
    const goal = target === undefined ? unit : `≤ ${target} ${unit}`;
    return [name, String(measured), goal, verdict, ...(isCompared ? [String(before), String(ratio)] : [])];
  });
  const head = ['figure', 'measured', 'target', 'verdict', ...(isCompared ? ['against', 'ratio'] : [])];
  const all = [head, ...lines];
  const widths = head.map((_, column) => Math.max(...all.map((line) => (line[column] ?? '').length)));
  return all.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

const before = machine();
const unpacked = mkdtempSync(join(tmpdir(), 'git-handoff-bench-'));
let rows;
try {
  const packages = [undefined, ...(options.against === undefined ? [] : [unpack(options.against, unpacked)])];
  rows = GROUPS.flatMap((group) => results(group, packages));
} finally {
  for (const scenario of built) scenario.remove();
  rmSync(unpacked, { recursive: true, force: true });
}
/** Puts the table where the page has the former one. */
function writePage(lines) {
  const page = join(import.meta.dirname, '..', 'docs', 'performance.md');
  const block = `<!-- bench -->\n\n\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`;
  const former = readFileSync(page, 'utf8');
  const text = former.replace(/<!-- bench -->\n\n```text\n[^]*?\n```\n/, () => block);
  writeFileSync(page, text);
}

if (options.json) {
  console.log(JSON.stringify({ machine: before, rows }));
} else {
  const facts = `${before.node}, ${before.git}, ${before.cores} cores, load ${before.load.join(' ')}, ${runs} rounds`;
  const lines = [facts, '', ...table(rows)];
  console.log(lines.join('\n'));
  if (options.page) writePage(lines);
}
if (rows.some((row) => row.failed !== undefined || row.verdict === 'missed')) process.exitCode = 1;
