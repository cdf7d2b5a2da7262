import type { Oid } from '../../domain/names.ts';
import type { Repository } from '../../git/repository.ts';
import { type BrokenObject, areWhole, brokenBelow, reachableCommits } from '../../git/verify-objects.ts';
import type { TopicState } from '../../notes/topic.ts';
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
    const all = await Promise.all([...new Set(tipsOf(state))].map((tip) => brokenBelow({ cwd }, tip)));
    const broken = new Map(all.flat().map((one) => [`${one.commit} ${one.what}`, one]));
    found.push(...[...broken.values()].map((one) => describe(state, one)));
  }
  if (found.length <= MAX_SHOWN) return found;
  const more = doctorLine('objects', 'problem', `and ${found.length - MAX_SHOWN} more`);
  return [...found.slice(0, MAX_SHOWN), more];
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
