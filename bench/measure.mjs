// Paired measurements: the commands of a row run in turn (A B C, A B C, …), each round gives a figure,
// and the median of the figures is reported. So the load of the machine is the same on both sides of a ratio.
import { spawnSync } from 'node:child_process';

/**
 * A command to time.
 * @typedef {{ command: string, args: string[], input?: string, cwd?: string, env: Record<string, string>,
 *   silent?: boolean }} Command `silent`: it must print nothing
 *
 * @typedef {object} Row
 * @property {string} name
 * @property {string} unit
 * @property {number} [target] none for other programs' figures
 * @property {boolean} [isBound] the target is the same for every version of Node
 * @property {number} [runs] the maximum number of rounds, for a slow row
 * @property {number} [times] a factor for the number of rounds, for a row whose figure is a small difference of two times
 * @property {() => Record<string, Command>} [commands]
 * @property {(times: Record<string, number>) => number} [figure]
 * @property {() => number} [value] instead of `commands` and `figure`, if nothing is timed
 */

/** Builds what several rows need, when the first of them is measured. @template T @param {() => T} build */
export function once(build) {
  let built;
  return () => (built ??= build());
}

/** The median of some numbers. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Runs a command once; returns the wall time in milliseconds. Throws if it fails, since the time would mean nothing. */
export function time({ command, args, silent, ...options }) {
  const start = process.hrtime.bigint();
  const done = spawnSync(command, args, { input: '', maxBuffer: 64 << 20, encoding: 'utf8', ...options });
  const elapsed = Number(process.hrtime.bigint() - start) / 1e6;
  const said = `${done.stderr ?? ''}${done.error?.message ?? ''}`;
  if (done.status !== 0)
    throw new Error(`${command} ${args.join(' ').slice(0, 200)}: ${done.status}: ${said}`);
  if (silent && done.stdout !== '') throw new Error(`${command}: ${done.stdout.slice(0, 200)}`);
  return elapsed;
}

/**
 * Measures a row for one package, or for two in turn: one round to warm up, then `runs` rounds.
 *
 * @param {Row[]} rows
 * @param {number} runs
 * @returns {number[][]} for each row, the figures of all rounds
 */
export function measure(rows, runs) {
  const all = rows.map((row) => ({ row, commands: Object.entries(row.commands()) }));
  const round = () =>
    all.map(({ row, commands }) =>
      row.figure(Object.fromEntries(commands.map(([name, command]) => [name, time(command)]))),
    );
  round();
  // Otherwise what was just written for the row would be flushed during the measurement, and slow down disk access.
  spawnSync('sync');
  const { runs: most = runs, times = 1 } = rows[0] ?? {};
  const rounds = Array.from({ length: Math.min(runs, most) * times }, round);
  return rows.map((_, n) => rounds.map((figures) => figures[n]));
}
