// npm run bench: measures the figures that the project promises, and prints each beside its target. Each is measured in Linux's
// way and in macOS's (mac-way.mjs), with Node's current LTS version and with the oldest supported one.
//   --only <text>      rows whose name contains the text
//   --runs <n>         rounds of each row (default 35)
//   --way linux|mac    one way only
//   --node 20|24       one version of Node only; a version other than the running one comes from npm, once, into .cache/
//   --against <.tgz>   measures another package of git-handoff in turn with ours, and prints the ratio to it in parentheses
//   --json             one object instead of the table
//   --page             also writes the table into docs/performance.md
// Not a test: it needs a quiet machine. The exit status is 1 if a figure misses its target by more than a tenth, or a
// command could not be run.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { macWay } from './mac-way.mjs';

const ROOT = join(import.meta.dirname, '..');
/** A figure may miss its target by this factor. */
const TOLERANCE = 1.1;
/** Versions of Node, each with the factor for its targets. */
const NODES = new Map([
  ['24', 1],
  ['20', 1.3],
]);
const WAYS = new Map([
  ['linux', 'Linux'],
  ['mac', 'macOS'],
]);

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    runs: { type: 'string', default: '35' },
    way: { type: 'string' },
    node: { type: 'string' },
    against: { type: 'string' },
    json: { type: 'boolean', default: false },
    page: { type: 'boolean', default: false },
  },
});
const runs = Math.max(1, Number.parseInt(options.runs, 10) || 35);

/** The keys of a table that an option selects. */
function chosen(name, table) {
  const all = [...table.keys()];
  const asked = options[name];
  if (asked !== undefined && !all.includes(asked)) throw new Error(`--${name} ${all.join('|')}`);
  return all.filter((one) => asked === undefined || one === asked);
}

/** The path of a version of Node: the running one, or the one in npm's package for this system. */
function nodeOf(major) {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const name = `node-${process.platform}-${process.arch}`;
  const folder = join(ROOT, '.cache', `node-${major}`);
  const path = join(folder, 'node_modules', name, 'bin', 'node');
  if (!existsSync(path)) {
    const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
    const done = spawnSync('npm', [...args, `${name}@${major}`], { encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`npm install ${name}@${major}: ${done.stderr}`);
  }
  return path;
}

/** Unpacks a package that npm packed; returns its folder. */
function unpack(tarball, folder) {
  const done = spawnSync('tar', ['-xzf', resolve(tarball), '-C', folder], { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${tarball}: ${done.stderr}`);
  return join(folder, 'package');
}

function verdictOf({ failed, measured, target, isBound }, major) {
  if (failed !== undefined) return 'failed';
  if (target === undefined) return '';
  const most = target * (isBound ? 1 : NODES.get(major));
  if (measured <= most) return 'met';
  return measured <= most * TOLERANCE ? 'nearly' : 'missed';
}

/** Measures the rows in one way, with one version of Node. On a terminal, it shows each figure as soon as it is known. */
async function column(way, major, mac, others) {
  const node = nodeOf(major);
  const args = [join(import.meta.dirname, 'one-way.mjs'), String(runs), options.only, ...others];
  const { command, args: words } = way === 'mac' ? mac.wrap(node, args) : { command: node, args };
  const env = way === 'mac' ? mac.env : process.env;
  const child = spawn(command, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((done, fail) => child.on('error', fail).on('close', done));
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
  const head = `${version.split('.')[0]} ${WAYS.get(way)}`;
  const rows = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const row = JSON.parse(line);
    row.verdict = verdictOf(row, major);
    rows.push(row);
    if (process.stderr.isTTY) console.error(`${head}, ${row.name}: ${row.measured ?? row.failed}`);
  }
  const status = await ended;
  if (status !== 0) throw new Error(`${head}: ended with ${status}`);
  return { way, node: version, head, rows };
}

/** The verdicts on a row, such as `nearly (24 macOS)` or `met`. */
function verdicts(row, columns) {
  const all = columns.map(({ head, rows }) => ({ head, verdict: rows[row].verdict }));
  const bad = ['failed', 'missed', 'nearly'].flatMap((verdict) => {
    const where = all.filter((one) => one.verdict === verdict).map(({ head }) => head);
    return where.length === 0 ? [] : [`${verdict} (${where.join(', ')})`];
  });
  return bad.join(', ') || (all[0]?.verdict ?? '');
}

const cell = ({ measured, ratio }) =>
  measured === undefined ? '-' : `${measured}${ratio === undefined ? '' : ` (${ratio})`}`;

function table(columns) {
  const [first] = columns;
  if (first === undefined) return [];
  const lines = first.rows.map(({ name, target, unit }, n) => [
    name,
    target === undefined ? unit : `≤ ${target} ${unit}`,
    ...columns.map(({ rows }) => cell(rows[n])),
    verdicts(n, columns),
  ]);
  const all = [['figure', 'target', ...columns.map(({ head }) => head), 'verdict'], ...lines];
  const widths = all[0].map((_, n) => Math.max(...all.map((line) => line[n].length)));
  return all.map((line) =>
    line
      .map((text, n) => text.padEnd(widths[n]))
      .join('  ')
      .trimEnd(),
  );
}

/** Replaces the table on the page. */
function writePage(lines) {
  const page = join(ROOT, 'docs', 'performance.md');
  const block = `<!-- bench -->\n\n\`\`\`text\n${lines.join('\n')}\n\`\`\`\n`;
  const former = readFileSync(page, 'utf8');
  writeFileSync(
    page,
    former.replace(/<!-- bench -->\n\n```text\n[^]*?\n```\n/, () => block),
  );
}

/** What a reader needs to know about the machine to judge the figures. */
function machine() {
  return {
    git: spawnSync('git', ['--version'], { encoding: 'utf8' }).stdout.trim(),
    cores: cpus().length,
    load: loadavg().map((load) => Number(load.toFixed(2))),
    runs,
  };
}

const facts = machine();
const ways = chosen('way', WAYS);
const majors = chosen('node', NODES);
const mac = ways.includes('mac') ? macWay() : {};
const unpacked = mkdtempSync(join(tmpdir(), 'git-handoff-bench-'));
const columns = [];
try {
  const others = options.against === undefined ? [] : [unpack(options.against, unpacked)];
  for (const major of majors) {
    for (const way of ways) {
      if (way === 'mac' && mac.skipped !== undefined) continue;
      columns.push(await column(way, major, mac, others));
    }
  }
} finally {
  mac.remove?.();
  rmSync(unpacked, { recursive: true, force: true });
}

const failures = columns.flatMap(({ head, rows }) =>
  rows.flatMap(({ name, failed }) => (failed === undefined ? [] : [`${head}, ${name}: ${failed.trim()}`])),
);
if (options.json) {
  console.log(JSON.stringify({ machine: facts, ps: mac.psMs, skipped: mac.skipped, columns }));
} else {
  const { git, cores, load } = facts;
  const nodes = [...new Set(columns.map(({ node }) => node))].join(' and ');
  const ofMac = mac.skipped === undefined ? `ps ${mac.psMs} ms` : `skipped: ${mac.skipped}`;
  const lines = [
    `Node ${nodes}, ${git}, ${cores} cores, load ${load.join(' ')}, ${runs} rounds`,
    ...(ways.includes('mac') ? [`macOS's way: ${ofMac}`] : []),
    '',
    ...table(columns),
  ];
  console.log([...lines, '', ...failures].join('\n').trimEnd());
  if (options.page) writePage(lines);
}
const isBad = columns.some(({ rows }) => rows.some(({ verdict }) => /^(?:failed|missed)$/.test(verdict)));
if (isBad || columns.length === 0) process.exitCode = 1;
