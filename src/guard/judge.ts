import { recordRequest } from '../changes/tell-owners.ts';
import { exists } from '../host/disk.ts';
import { bypassFolder } from '../host/folders.ts';
import { traced } from '../host/trace.ts';
import { bypassFor } from './bypass.ts';
import { type Call, type TreeCall, isInTree, orUnchecked } from './call.ts';
import { type Effect, type Finding, type Lift, isRefused } from './findings.ts';
import { withdrawVisits } from './visits.ts';

/** One rule of the guard. Checks judge and write nothing: what is to be written they return as effects. */
export interface Check<C extends Call, Facts> {
  readonly rule: string;
  /** Whether there is anything to judge. Asked at every call, so it starts no process. */
  readonly when: (call: C, facts: Facts) => boolean;
  readonly judge: Judge<C, Facts>;
}

/** Judges a call by one rule. */
export type Judge<C extends Call, Facts> = (
  call: C,
  facts: Facts,
) => readonly Finding[] | Promise<readonly Finding[]>;

/** The call as it concerns one worktree, with what is known there. */
export interface Site<Facts> {
  readonly call: TreeCall;
  readonly facts: Facts;
}

/** What is asked about a call: of the call wherever it is made, then in each worktree that it touches. */
interface Question<Anywhere, InTree> {
  readonly anywhere: readonly Check<Call, Anywhere>[];
  readonly facts: Anywhere;
  readonly inTrees: readonly Check<TreeCall, InTree>[];
  /** The session is on record in each. */
  readonly trees: () => readonly Site<InTree>[] | Promise<readonly Site<InTree>[]>;
}

/** Asks all checks in their order, up to the first refusal that nobody lifts. Then what has to be done is done. */
export async function judge<Anywhere, InTree>(
  call: Call,
  { anywhere, facts, inTrees, trees }: Question<Anywhere, InTree>,
): Promise<readonly Finding[]> {
  const lifts = liftsOf();
  const found = await ask(anywhere, call, facts, await lifts(call));
  if (!isRefused(found)) {
    const sites = await trees();
    for (const { call: there, facts: known } of sites) {
      found.push(...(await ask(inTrees, there, known, await lifts(there))));
      if (!isRefused(found)) continue;
      await orUnchecked(there, () => withdraw(there, found, sites));
      break;
    }
  }
  recordRequests(call, found);
  return [...found, ...(await done(call, found))];
}

/** Those for whose sake the call is refused hear of it. It is refused whatever becomes of that. */
function recordRequests({ session, now, log }: Call, found: readonly Finding[]): void {
  const asked = found.find((one) => one.kind === 'refuse')?.asked;
  if (asked === undefined || session === undefined) return;
  try {
    recordRequest(session, asked, now);
  } catch (error) {
    log('open', `no request was left: ${String(error)}`);
  }
}

/** What a person allowed in one repository is not allowed in another. */
function liftsOf(): (call: Call) => Promise<Lift> {
  const lifts = new Map<string | undefined, Promise<Lift>>();
  return (call) => {
    const repository = call.tree?.commonDir;
    const lift = lifts.get(repository) ?? liftFor(call);
    lifts.set(repository, lift);
    return lift;
  };
}

/** What a person allows the call in its repository: nearly always nothing. */
async function liftFor(call: Call): Promise<Lift> {
  if (!isInTree(call) || !hasBypass(call)) return () => Promise.resolve(false);
  return bypassFor(call);
}

/** Whether a person has left a bypass in the repository, or one is in use. */
export function hasBypass({ tree }: Call): boolean {
  return tree !== undefined && exists(bypassFolder(tree.commonDir));
}

async function ask<C extends Call, Facts>(
  checks: readonly Check<C, Facts>[],
  call: C,
  facts: Facts,
  lift: Lift,
): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const check of checks) {
    if (!check.when(call, facts)) continue;
    const judging = async () => check.judge(call, facts);
    const findings = await orUnchecked(call, () => traced('check', check.rule, judging, kindsOf));
    for (const finding of findings ?? []) {
      if (finding.kind === 'refuse' && (await lift(finding))) continue;
      found.push(
        finding.kind === 'do' ? { ...finding, run: tracedEffect(check.rule, finding.run) } : finding,
      );
      if (finding.kind === 'refuse') return found;
    }
  }
  return found;
}

/** What was found, for a trace. */
const kindsOf = (findings: readonly Finding[]) =>
  findings.map(({ kind }) => (kind === 'do' ? 'effect' : kind)).join(', ') || 'nothing';

/** An effect that shows in a trace under the name of the rule that asked for it. */
const tracedEffect = (rule: string, run: Effect['run']) => () => traced('effect', rule, run, kindsOf);

/** Refused in one worktree, a session is no visitor in any. */
async function withdraw(there: TreeCall, found: readonly Finding[], sites: readonly Site<unknown>[]) {
  const visits = sites.flatMap(({ call }) => (call.tree.visiting === true ? call : []));
  if (visits.length > 0) await withdrawVisits(there, found, visits);
}

/** Carries out the effects, in their order. */
async function done(call: Call, found: readonly Finding[]): Promise<readonly Finding[]> {
  const refused = isRefused(found);
  const more: Finding[] = [];
  for (const effect of found) {
    if (effect.kind !== 'do' || (refused && effect.when === 'allowed')) continue;
    more.push(...((await orUnchecked(call, effect.run)) ?? []));
  }
  return more;
}
