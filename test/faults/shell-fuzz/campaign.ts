import fc from 'fast-check';
import { type Figures, Tally } from '../../support/faults/seed.ts';
import { type ShellCase, shellCase } from './commands.ts';
import type { ShellLab } from './shell-lab.ts';

/** How a case ended; `wrong…` is a defect of the guard. */
type Outcome = string;

/** Defects that a test puts in to show that the fuzzer finds them. */
export interface Seeded {
  /** The command that the guard sees. */
  readonly seen?: (command: string) => string;
  /** What the guard decides instead of its real decision. */
  readonly decide?: (command: string, denied: boolean) => boolean;
  /** The guard does not look afterwards. */
  readonly isBlind?: boolean;
}

/** Runs a case for real, and compares what it changes with what the guard says about it. */
export async function judge(lab: ShellLab, one: ShellCase, seeded: Seeded = {}): Promise<Outcome> {
  lab.reset();
  const command = lab.fill(one.text);
  const seen = seeded.seen?.(command) ?? command;
  const decision = await lab.denies(seen);
  const denied = seeded.decide?.(command, decision) ?? decision;
  const changes = await lab.changes(command);
  if (changes === undefined) return 'hangs';
  if (denied) return changes ? 'denied, changes' : needless(lab, one);
  if (!changes) return 'allowed, changes nothing';
  if (one.riddles.length === 0) return 'wrong: allowed, changes';
  if (seeded.isBlind === true) return 'wrong: allowed, changes, nobody looks';
  const when = lab.noticed(command);
  return when.startsWith('wrong') ? when : `allowed, changes, told ${when}`;
}

/** For a refused command that changed nothing: would it have changed something if nothing in it had failed? */
async function needless(lab: ShellLab, one: ShellCase): Promise<Outcome> {
  lab.reset();
  const reasons = [...new Set(one.lapses)];
  if (reasons.length === 0 || (await lab.changes(lab.fill(one.plainText))) !== true)
    return 'wrong: denied, changes nothing';
  return `denied, changes nothing: ${reasons.length === 1 ? (reasons[0] ?? '') : 'several reasons'}`;
}

export interface Campaign {
  /** Cases by outcome. */
  readonly figures: Figures;
  /** Every case with a wrong outcome. The first few are reduced to their smallest command. */
  readonly failures: readonly string[];
}

export interface CampaignOptions {
  readonly seed: number;
  readonly count: number;
  readonly cases?: fc.Arbitrary<ShellCase>;
  readonly seeded?: Seeded;
}

/** At most this many are shrunk. */
const MAX_SHRUNK = 5;
const SHRINK_MS = 30_000;

/** Runs the cases of a seed; a shorter run has the first cases of a longer one. */
export async function runCampaign(lab: ShellLab, options: CampaignOptions): Promise<Campaign> {
  const { seed, count, cases = shellCase, seeded = {} } = options;
  const tally = new Tally();
  const wrong: { readonly path: string; readonly outcome: Outcome; readonly text: string }[] = [];
  let number = 0;
  const every = fc.asyncProperty(cases, async (one) => {
    const outcome = await judge(lab, one, seeded);
    tally.add(outcome);
    if (outcome.startsWith('wrong')) wrong.push({ path: String(number), outcome, text: one.text });
    number++;
  });
  await fc.assert(every, { seed, numRuns: count });
  const failures: string[] = [];
  for (const { path, outcome, text } of wrong) {
    const small = failures.length < MAX_SHRUNK ? await shrunk(lab, path, outcome, options) : text;
    failures.push(`case ${path}: ${outcome}\n${small}`);
  }
  return { figures: tally.figures, failures };
}

/** The smallest command that goes wrong in the same way. */
async function shrunk(
  lab: ShellLab,
  path: string,
  outcome: Outcome,
  { seed, cases = shellCase, seeded }: CampaignOptions,
): Promise<string> {
  const other = fc.asyncProperty(cases, async (one) => (await judge(lab, one, seeded)) !== outcome);
  const limits = { numRuns: 1, interruptAfterTimeLimit: SHRINK_MS };
  const { counterexample } = await fc.check(other, { seed, path, ...limits });
  return counterexample?.[0].text ?? 'it did not come out wrong again';
}
