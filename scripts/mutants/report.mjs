// The figures: how many mutants the tests of `npm test` kill, and how many all tests kill.

/** The percentage of valid mutants that must be killed. */
const LEAST = { test: 85, all: 100 };

export class Report {
  #judged = [];

  add({ id }, { kind, by, project, isQuick = false }, milliseconds) {
    this.#judged.push({ kind, isQuick });
    const about = [...(project === undefined ? [] : [project]), `${(milliseconds / 1000).toFixed(1)} s`];
    console.log(`${kind.padEnd(8)} ${id} (${about.join(', ')})${by === '' ? '' : `: ${by}`}`);
  }

  /**
   * Prints the figures of the tiers that were run.
   *
   * @param isWhole whether every mutant was run; otherwise `npm test` may kill any share of them
   * @returns whether the figures are good enough
   */
  finish(tier, isWhole) {
    const count = (matches) => this.#judged.filter(matches).length;
    const dead = ({ kind }) => kind === 'killed' || kind === 'timeout';
    const late = count(({ kind }) => kind === 'timeout');
    const invalid = count(({ kind }) => kind === 'invalid');
    const valid = this.#judged.length - invalid;
    console.log(
      `${count(dead)} killed${late === 0 ? '' : ` (${late} by timeout)`}, ` +
        `${count(({ kind }) => kind === 'survived')} survived, ${invalid} invalid`,
    );
    const figures = [
      { name: 'npm test', killed: count((one) => dead(one) && one.isQuick), least: isWhole ? LEAST.test : 0 },
      ...(tier === 'all' ? [{ name: 'all tests', killed: count(dead), least: LEAST.all }] : []),
    ];
    for (const { name, killed, least } of figures) {
      const score = ((100 * killed) / Math.max(1, valid)).toFixed(1);
      console.log(
        `${name}: ${killed} of ${valid} killed, score ${score} %${least === 0 ? '' : ` (at least ${least} %)`}`,
      );
    }
    return invalid === 0 && figures.every(({ killed, least }) => 100 * killed >= least * valid);
  }
}
