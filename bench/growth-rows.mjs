// How the cost of a verb grows when the data is four times as large, and the memory that the largest data needs.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once, time } from './measure.mjs';
import { inSession } from './scenario.mjs';
import { data, fill } from './verb-rows.mjs';

const SIZES = { notes: 5000, versions: 1250, files: 25_000 };
const CASES = [
  ['list', 'notes', ['list', '--all']],
  ['boot', 'notes', ['boot', 'speed-check']],
  ['board', 'notes', ['board', '-o', '-']],
  ['doctor', 'notes', ['doctor']],
  ['log', 'versions', ['log', 'speed-check']],
  ['status', 'files', ['status']],
];

/** A preload that writes a Node process's peak memory, in KiB, to a file of its own. */
const PEAK = `const { writeFileSync } = require('node:fs');
process.on('exit', () => {
  writeFileSync(\`\${process.env.PEAKS}/\${process.pid}\`, String(process.resourceUsage().maxRSS));
});
`;

export function growthRows(scenario) {
  const env = inSession(scenario);
  const lone = (name) => scenario.enabled(name, 1);
  const build = {
    notes: (count) => {
      const root = lone(`${count} notes`);
      fill(scenario, root, count);
      return root;
    },
    versions: (count) => {
      const root = lone(`${count} versions`);
      addVersions(scenario, root, count);
      return root;
    },
    files: (count) => scenario.enabled(`${count} files`, 2, manyFiles(scenario, count)),
  };
  const roots = Object.fromEntries(
    Object.entries(SIZES).map(([what, count]) => [
      what,
      { less: once(() => build[what](count)), more: once(() => build[what](4 * count)) },
    ]),
  );
  const command = (args, cwd) => ({ command: scenario.launcher, args, input: '', cwd, env });
  const growth = CASES.map(([name, what, args]) => ({
    name: `${name}, ${SIZES[what]} to ${4 * SIZES[what]} ${what}`,
    unit: '×',
    target: 3.5,
    runs: 3,
    commands: () => ({ less: command(args, roots[what].less()), more: command(args, roots[what].more()) }),
    figure: (times) => times.more / times.less,
  }));
  const peaks = () => CASES.map(([, what, args]) => peakOf(scenario, command(args, roots[what].more())));
  const memory = { name: 'memory of the worst of these', unit: 'MiB', target: 256, isBound: true };
  return [...growth, { ...memory, value: () => Math.max(...peaks()) }];
}

/** The highest peak memory, in MiB, of the Node processes that a command starts. */
function peakOf(scenario, command) {
  const peaks = join(scenario.dir, 'peaks');
  const recorder = `${peaks}.cjs`;
  mkdirSync(peaks);
  writeFileSync(recorder, PEAK);
  const env = { ...command.env, PEAKS: peaks, NODE_OPTIONS: `--require "${recorder}"` };
  time({ ...command, env });
  const all = readdirSync(peaks).map((name) => Number(readFileSync(join(peaks, name), 'utf8')));
  rmSync(peaks, { recursive: true });
  if (all.length === 0) throw new Error(`${command.args.join(' ')}: no Node process recorded its memory`);
  return Math.max(...all) / 1024;
}

/** Writes a note with this many versions. */
function addVersions(scenario, root, count) {
  const inRoot = { cwd: root, env: inSession(scenario) };
  scenario.run(scenario.launcher, ['write', 'speed-check', '-m', 'goal: be fast'], inRoot);
  const ref = 'refs/handoffs/main/speed-check';
  const git = (...args) => scenario.run('git', args, inRoot);
  const message = git('log', '-1', '--format=%B', ref);
  const tip = git('rev-parse', ref).trim();
  const stream = Array.from({ length: count - 1 }, (_, n) =>
    [
      `commit ${ref}\nmark :${n + 1}\ncommitter A <a@example.com> ${1_700_000_000 + n} +0000\n`,
      data(message),
      `from ${n === 0 ? tip : `:${n}`}\n`,
      `M 100644 inline handoff.md\n${data(`goal: be fast ${n}\n`)}\n`,
    ].join(''),
  );
  stream.push(`reset refs/handoffs-local/kept/main/speed-check\nfrom :${count - 1}\n\n`);
  scenario.run('git', ['fast-import', '--quiet'], { ...inRoot, input: stream.join('') });
}

/**
 * A repository with this many files. git would read again every file that is as new as its index, so `git status` makes a
 * newer index one second later.
 */
export function manyFiles(scenario, count) {
  const root = scenario.repository(`${count} files`);
  for (let n = 0; n < count; n += 1) {
    const folder = join(root, 'many', String(n % 500));
    if (n < 500) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${n}.ts`), 'export {};\n');
  }
  scenario.run('git', ['add', '.'], { cwd: root });
  scenario.run('git', ['commit', '-q', '-m', 'many'], { cwd: root });
  scenario.run('sleep', ['1']);
  scenario.run('git', ['status', '--short'], { cwd: root });
  return root;
}
