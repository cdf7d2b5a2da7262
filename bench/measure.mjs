// Paired measurements: the commands of a row run in turn (A B C, A B C, …), a figure is computed within each
// round, and the median of those is reported. The load of the machine is the same on both sides of a ratio.
import { spawnSync } from 'node:child_process';

/**
 * A command to time.
 * @typedef {{ command: string, args: string[], input?: string, cwd?: string, env: Record<string, string>,
 *   silent?: boolean }} Command `silent`: it has to print nothing
 *
 * @typedef {object} Row
 * @property {string} name
 * @property {string} unit
 * @property {number} [target] none for a figure of others
 * @property {boolean} [isBound] the target is the same for every version of Node
 * @property {number} [runs] the most rounds of a slow row
 * @property {number} [times] by which the rounds of a row are multiplied whose figure is the small difference of two times
 * @property {() => Record<string, Command>} [commands]
 * @property {(times: Record<string, number>) => number} [figure]
 * @property {() => number} [value] instead of `commands` and `figure`, where nothing is timed
 */

/** What a row needs, made for the first row that is measured. @template T @param {() => T} build */
export function once(build) {
  let built;
  return () => (built ??= build());
}

/** The middle of some numbers. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Runs a command once. Milliseconds of wall time; throws if it fails, for then the time means nothing. */
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
 * Measures the same row of one or two packages: one round to warm up, then `runs` rounds in which they take turns.
 *
 * @param {Row[]} rows
 * @param {number} runs
 * @returns {number[][]} for each row its figure in every round
 */
export function measure(rows, runs) {
  const all = rows.map((row) => ({ row, commands: Object.entries(row.commands()) }));
  const round = () =>
    all.map(({ row, commands }) =>
      row.figure(Object.fromEntries(commands.map(([name, command]) => [name, time(command)]))),
    );
  round();
  // What was just written for the row would be flushed in the middle of it, at the cost of whoever waits for the disk.
  spawnSync('sync');
  const { runs: most = runs, times = 1 } = rows[0] ?? {};
  const rounds = Array.from({ length: Math.min(runs, most) * times }, round);
  return rows.map((_, n) => rounds.map((figures) => figures[n]));
}
