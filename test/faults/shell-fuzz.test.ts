import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { amount, seeded } from '../support/faults/seed.ts';
import { type CampaignOptions, runCampaign } from './shell-fuzz/campaign.ts';
import { shellCase } from './shell-fuzz/commands.ts';
import { ShellLab } from './shell-fuzz/shell-lab.ts';

const CASES = amount(300, 5000);
const LONG_MS = 3_600_000;
/** How many cases are run to find a defect that the test put in. */
const FEW = 25;

let lab: ShellLab;
beforeAll(() => {
  lab = new ShellLab();
});
afterAll(() => lab.remove());

describe('shell commands from a grammar, run for real', () => {
  it(
    `are refused if and only if they change a guarded file or ref, in ${CASES} cases`,
    () =>
      seeded('shell commands', async (random) => {
        const seed = random.below(2 ** 31);
        const { figures, failures } = await runCampaign(lab, { seed, count: CASES });
        const counts = `${JSON.stringify(figures)}; GIT_HANDOFF_FAULTS=long for cases above 300`;
        expect(failures.join('\n\n'), counts).toBe('');
        // If most commands were harmless or hung, the run would prove nothing.
        expect(figures['denied, changes']).toBeGreaterThan(CASES / 8);
        expect(figures['allowed, changes nothing']).toBeGreaterThan(CASES / 8);
        expect(figures['allowed, changes, told at once']).toBeGreaterThan(CASES / 200);
        expect(figures['hangs'] ?? 0).toBeLessThanOrEqual(CASES / 200);
        return figures;
      }),
    LONG_MS,
  );
});

describe('the fuzzer finds', () => {
  const find = (name: string, options: Omit<CampaignOptions, 'seed' | 'count'>, defect: RegExp) =>
    seeded(name, async (random) => {
      const { figures, failures } = await runCampaign(lab, {
        seed: random.below(2 ** 31),
        count: FEW,
        ...options,
      });
      expect(failures.join('\n\n')).toMatch(defect);
      return figures;
    });

  it('an analyser that ignores tee', () => {
    const cases = shellCase.filter(({ text, wrappers }) => wrappers === 0 && text.includes('tee'));
    const seen = (command: string) => command.replaceAll(/\btee\b/g, 'cat');
    return find('without tee', { cases, seeded: { seen } }, /wrong: allowed, changes\n.*\btee\b/s);
  });

  it('a guard that refuses whatever names a note', () =>
    find(
      'by name',
      { seeded: { decide: (command, denied) => denied || command.includes('handoff-main') } },
      /wrong: denied, changes nothing\n/,
    ));

  it('a guard that does not look afterwards', () =>
    find(
      'without a look',
      { cases: shellCase.filter(({ riddles }) => riddles.length > 0), seeded: { isBlind: true } },
      /wrong: allowed, changes, nobody looks\n/,
    ));
});
