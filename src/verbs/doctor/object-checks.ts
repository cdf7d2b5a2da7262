import type { Oid } from '../../domain/names.ts';
import { handoffRef, keptRef } from '../../git/namespace.ts';
import type { Repository } from '../../git/repository.ts';
import {
  type BrokenObject,
  type WholeCommit,
  areWhole,
  isBroken,
  reachableCommits,
  readWhole,
  walkChain,
} from '../../git/verify-objects.ts';
import { type TopicState, readTopics } from '../../notes/topic.ts';
import type { CheckShape } from '../shapes.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import { doctorLine } from './finding.ts';
import { counted } from '../../ui/terminal.ts';

/** More of them are counted. */
const MAX_SHOWN = 20;

/** Every commit of every handoff can be read, with its note, and is what its name says. */
export async function checkObjects(
  { cwd }: Repository,
  states: readonly TopicState[],
): Promise<CheckShape[]> {
  const tips = [...new Set(states.flatMap(tipsOf))];
  const commits = await reachableCommits({ cwd }, tips);
  if (commits !== undefined && (await areWhole({ cwd }, commits))) {
    return [doctorLine('objects', 'ok', `${counted(commits.length, 'commit')} of handoffs, all readable`)];
  }
  const found: CheckShape[] = [];
  for (const state of states) {
    const chains = await Promise.all([...new Set(tipsOf(state))].map((tip) => walkChain({ cwd }, tip)));
    const broken = new Map(
      chains
        .flat()
        .filter(isBroken)
        .map((one) => [`${one.commit} ${one.what}`, one]),
    );
    found.push(...[...broken.values()].map((one) => describe(state, one)));
  }
  return shown(found, 'objects');
}

function tipsOf({ publicOid, keptOid }: TopicState): Oid[] {
  return [publicOid, keptOid].filter((oid) => oid !== undefined);
}

function describe(state: TopicState, { commit, what, oid, why }: BrokenObject): CheckShape {
  const name = typedTopic(state.branch, state.topic);
  const object = oid === undefined ? '' : ` (${oid})`;
  const where = what === 'commit' ? `commit ${commit}` : `the ${what} of commit ${commit}${object}`;
  return doctorLine('objects', 'problem', `${name}: ${where} is ${why}`, 'git fsck --full');
}

function shown(found: readonly CheckShape[], name: string): CheckShape[] {
  if (found.length <= MAX_SHOWN) return [...found];
  const more = doctorLine(name, 'problem', `and ${found.length - MAX_SHOWN} more`);
  return [...found.slice(0, MAX_SHOWN), more];
}

/** `--verify`: isomorphic-git reads every handoff again; the slightest difference is a problem. */
export async function verifyHandoffs(
  { cwd, commonDir, gitDir }: Repository,
  progress: ((line: string) => void) | undefined,
): Promise<CheckShape[]> {
  // Only here a second implementation of git is loaded.
  const { SecondReader, cannotVerify } = await import('../../git/verify-second.ts');
  const reason = await cannotVerify(cwd, commonDir);
  if (reason !== undefined) {
    return [doctorLine('verify', 'warning', `isomorphic-git cannot read this repository: ${reason}`)];
  }
  const states = await readTopics({ cwd });
  const reader = new SecondReader(commonDir);
  const found: CheckShape[] = [];
  let count = 0;
  for (const [at, state] of states.entries()) {
    progress?.(`verifying handoffs: ${at + 1} of ${states.length}`);
    const name = typedTopic(state.branch, state.topic);
    const differences = await refDifferences(reader, state);
    const chains = await Promise.all([...new Set(tipsOf(state))].map((tip) => wholeChain(cwd, tip)));
    const commits = new Map(chains.flat().map((commit) => [commit.oid, commit]));
    count += commits.size;
    for (const commit of commits.values()) differences.push(...(await reader.compareCommit(commit)));
    found.push(
      ...differences.map((text) => doctorLine('verify', 'problem', `${name}: isomorphic-git ${text}`)),
    );
  }
  if (found.length > 0) return shown(found, 'verify');
  const linked =
    gitDir === commonDir ? '' : '; read from the main worktree, because it does not support linked worktrees';
  const what = `${counted(states.length, 'handoff')}, ${counted(count, 'commit')}`;
  return [doctorLine('verify', 'ok', `isomorphic-git reads what git reads: ${what}${linked}`)];
}

async function refDifferences(
  reader: { compareRef: (ref: ReturnType<typeof handoffRef>, expected: Oid) => Promise<string | undefined> },
  { path, publicOid, keptOid }: TopicState,
): Promise<string[]> {
  const differences = [
    publicOid === undefined ? undefined : await reader.compareRef(handoffRef(path), publicOid),
    keptOid === undefined ? undefined : await reader.compareRef(keptRef(path), keptOid),
  ];
  return differences.filter((text) => text !== undefined);
}

/** What git cannot read is told by the check of the objects. */
async function wholeChain(cwd: string, tip: Oid): Promise<WholeCommit[]> {
  const commits = await reachableCommits({ cwd }, [tip]);
  const chain = commits === undefined ? await walkChain({ cwd }, tip) : await readWhole({ cwd }, commits);
  return chain.filter((one): one is WholeCommit => !isBroken(one));
}
