// How the cost of a verb grows when there is four times as much, and the memory that the most of it takes.
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { once, time } from './measure.mjs';
import { session } from './scenario.mjs';
import { fill } from './verb-rows.mjs';

const NOTES = 5000;
const VERSIONS = 1250;
const FILES = 50_000;

/** Writes the most memory that a process of Node had, in KiB, to a file of its own. */
const PEAK = `const { writeFileSync } = require('node:fs');
process.on('exit', () => {
  writeFileSync(\`\${process.env.PEAKS}/\${process.pid}\`, String(process.resourceUsage().maxRSS));
});
`;

export function growthRows(scenario) {
  const env = { ...scenario.env, CLAUDE_CODE_SESSION_ID: session };
  const build = {
    notes: (count) => {
      const root = scenario.enabled(`${count} notes`, 1);
      fill(scenario, root, count);
      return root;
    },
    versions: (count) => {
      const root = scenario.enabled(`${count} versions`, 1);
      grow(scenario, root, count);
      return root;
    },
    files: (count) => manyFiles(scenario, count),
  };
  const sizes = { notes: NOTES, versions: VERSIONS, files: FILES };
  const roots = Object.fromEntries(
    Object.entries(sizes).map(([what, count]) => [
      what,
      { less: once(() => build[what](count)), more: once(() => build[what](4 * count)) },
    ]),
  );
  const cases = [
    ['list', 'notes', ['list', '--all']],
    ['boot', 'notes', ['boot', 'speed-check']],
    ['board', 'notes', ['board', '-o', '-']],
    ['doctor', 'notes', ['doctor']],
    ['log', 'versions', ['log', 'speed-check']],
    ['status', 'files', ['status']],
  ];
  const command = (args, cwd) => ({ command: scenario.launcher, args, input: '', cwd, env });
  return cases.flatMap(([name, what, args]) => {
    const { less, more } = roots[what];
    return [
      {
        name: `${name}, ${sizes[what]} to ${4 * sizes[what]} ${what}`,
        unit: '×',
        target: 3.2,
        runs: 3,
        commands: () => ({ less: command(args, less()), more: command(args, more()) }),
        figure: (times) => times.more / times.less,
      },
      {
        name: `${name}, memory with ${4 * sizes[what]} ${what}`,
        unit: 'MiB',
        target: 256,
        value: () => peakOf(scenario, command(args, more())),
      },
    ];
  });
}

/** The most memory of any process of Node that a command starts. MiB. */
function peakOf(scenario, command) {
  const peaks = join(scenario.dir, 'peaks');
  const recorder = `${peaks}.cjs`;
  mkdirSync(peaks);
  writeFileSync(recorder, PEAK);
  const env = { ...command.env, PEAKS: peaks, NODE_OPTIONS: `--require "${recorder}"` };
  time({ ...command, env });
  const all = readdirSync(peaks).map((name) => Number(readFileSync(join(peaks, name), 'utf8')));
  rmSync(peaks, { recursive: true });
  return Math.max(...all) / 1024;
}

/** Makes the one handoff as many versions long, in one branch. */
function grow(scenario, root, count) {
  const inRoot = { cwd: root, env: { ...scenario.env, CLAUDE_CODE_SESSION_ID: session } };
  scenario.run(scenario.launcher, ['write', 'speed-check', '-m', 'goal: be fast'], inRoot);
  const ref = 'refs/handoffs/main/speed-check';
  const git = (...args) => scenario.run('git', args, inRoot);
  const message = git('log', '-1', '--format=%B', ref);
  const tip = git('rev-parse', ref).trim();
  const data = (text) => `data ${Buffer.byteLength(text)}\n${text}\n`;
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

function manyFiles(scenario, count) {
  const root = scenario.repository(`${count} files`);
  for (let n = 0; n < count; n += 1) {
    const folder = join(root, 'many', String(n % 500));
    if (n < 500) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${n}.ts`), 'export {};\n');
  }
  scenario.commitAll(root);
  return scenario.share(root);
}
