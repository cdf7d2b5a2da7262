// node bench/counts.mjs: which processes each case starts, and in how many stages. Counts, not times: a loaded machine
// changes none of them. Needs Linux and strace.
//   --only <text>   cases whose name contains the text
//   --each          every process with its start and end, in milliseconds (strace makes all of them slower)
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { commitRows } from './commit-rows.mjs';
import { guardRows } from './guard-rows.mjs';
import { ledgerRows } from './ledger-rows.mjs';
import { Scenario } from './scenario.mjs';
import { verbRows } from './verb-rows.mjs';

const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, each: { type: 'boolean', default: false } },
});

/** The command of a row that is ours: not the one that it is compared with. */
function ours({ commands }) {
  const all = commands();
  return all.guard ?? all.command ?? all.list ?? all.hooked;
}

/** Runs a command below strace; the calls of each of its processes. `-D`: its parent stays the one that it has without. */
function trace(scenario, { command, args, silent: _, ...rest }) {
  const folder = join(scenario.dir, 'trace');
  rmSync(folder, { recursive: true, force: true });
  scenario.run('mkdir', [folder]);
  const calls = 'trace=execve,fork,vfork,clone,clone3,openat,exit_group';
  const strace = ['-D', '-ff', '-ttt', '-s', '300', '-e', calls, '-o', join(folder, 't'), command, ...args];
  const done = spawnSync('strace', strace, { input: '', maxBuffer: 64 << 20, encoding: 'utf8', ...rest });
  if (done.status !== 0) throw new Error(`${command}: ${done.status}: ${done.stderr}`);
  spawnSync('sleep', ['0.3']);
  return readdirSync(folder).map((name) => parse(readFileSync(join(folder, name), 'utf8')));
}

/** One process or thread: its programs, its end, what of our bundles it opened. */
function parse(text) {
  const life = { programs: [], loaded: [], forks: 0, start: undefined, end: undefined };
  for (const line of text.split('\n')) {
    const [, at, call] = /^(\d+\.\d+) (.*)$/.exec(line) ?? [];
    if (call === undefined) continue;
    life.start ??= Number(at);
    life.end = Number(at);
    if (call.startsWith('execve(') && call.endsWith(' = 0')) {
      const words = [...(/\[(.*)\]/.exec(call)?.[1] ?? '').matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(
        (word) => word[1],
      );
      life.programs.push({ words, at: Number(at) });
    }
    if (/^(?:v?fork|clone3?)\(/.test(call) && !call.includes('CLONE_THREAD')) life.forks += 1;
    const opened = /^openat\([^"]*"([^"]*\/dist\/[^"]*)".* = \d+$/.exec(call)?.[1];
    if (opened !== undefined) life.loaded.push(opened);
  }
  return life;
}

const isGit = ({ words: [name = ''] }) => basename(name) === 'git';

/** How many of the processes must have run one after another: the longest row of those that do not overlap. */
function stages(processes) {
  let count = 0;
  let until = -Infinity;
  for (const { at, end } of [...processes].sort((one, other) => one.end - other.end)) {
    if (at < until) continue;
    count += 1;
    until = end;
  }
  return count;
}

function counts(scenario, command) {
  const lives = trace(scenario, command);
  const programs = lives.flatMap((life) => life.programs.map((program) => ({ ...program, end: life.end })));
  const git = programs.filter(isGit);
  const loaded = [...new Set(lives.flatMap((life) => life.loaded))];
  const bytes = loaded.reduce((sum, file) => sum + readFileSync(file).length, 0);
  const node = programs.filter(({ words: [name = ''] }) => basename(name) === 'node').length;
  const forks = lives.reduce((sum, life) => sum + life.forks, 0);
  return { git: git.length, stages: stages(git), node, forks, files: loaded.length, bytes, programs, loaded };
}

/** A command line without the settings that each of ours carries. */
const short = (words) =>
  words
    .join(' ')
    .replaceAll(/ -c \S+=\S+/g, '')
    .slice(0, 200);

function print(name, { programs, loaded, ...figures }) {
  const { git, stages: steps, node, forks, files, bytes } = figures;
  console.log(
    `| ${name} | ${forks} | ${node} | ${git} | ${steps} | ${files} | ${Math.round(bytes / 1024)} |`,
  );
  if (!options.each) return;
  const first = Math.min(...programs.map(({ at }) => at));
  const ms = (at) => ((at - first) * 1000).toFixed(1).padStart(7);
  for (const { words, at, end } of programs.sort((one, other) => one.at - other.at)) {
    console.log(`    ${ms(at)} ${ms(end)}  ${short(words)}`);
  }
  console.log(`    ${loaded.map((file) => basename(file)).join(' ')}`);
}

console.log('| case | forks | node | git | stages of git | files loaded | KiB loaded |');
console.log('| --- | --: | --: | --: | --: | --: | --: |');
for (const group of [guardRows, ledgerRows, commitRows, verbRows]) {
  const scenario = new Scenario();
  try {
    for (const row of group(scenario).filter(({ name }) => name.includes(options.only))) {
      const command = ours(row);
      if (command === undefined) continue;
      // The first call may fill a cache.
      spawnSync(command.command, command.args, { ...command, input: command.input ?? '' });
      print(row.name, counts(scenario, command));
    }
  } finally {
    scenario.remove();
  }
}
