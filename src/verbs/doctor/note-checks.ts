import { counted } from '../../domain/messages.ts';
import { type Oid, shortId } from '../../domain/names.ts';
import type { Repository } from '../../git/repository.ts';
import { withoutLarge } from '../../git/commits.ts';
import { type BrokenObject, areWhole, brokenBelow, reachableCommits } from '../../git/verify-objects.ts';
import {
  foldTopic,
  isUnreadable,
  restoreKeptTip,
  recordIllegalMove,
  reasonText,
} from '../../notes/report-illegal.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import type { TopicState } from '../../notes/topic.ts';
import { readWork, type KeptWork, leftWork } from '../../notes/work/work-commit.ts';
import { settleWork } from '../notes/settle-work.ts';
import type { CheckShape } from '../shapes.ts';
import { FIX, doctorLine } from './repository-checks.ts';

/** Checks that each public ref matches the kept one; with `fix`, restores those that do not. */
export async function checkRefs(
  repository: Repository,
  states: readonly TopicState[],
  fix: boolean,
  now: number,
): Promise<CheckShape[]> {
  const found: CheckShape[] = [];
  for (const state of states) {
    const name = typedTopic(state.branch, state.topic);
    // An unreadable note counts as not moved: checkObjects reports it.
    if (state.illegal === undefined || isUnreadable(state)) {
      if (fix && state.publicOid !== state.keptOid) await foldTopic(repository, state);
      continue;
    }
    const { reason, bad } = state.illegal;
    const detail = `${name} was moved by hand (${reasonText(reason)}) to ${bad === undefined ? 'nothing' : shortId(bad)}`;
    if (!fix) {
      found.push(doctorLine('refs', 'problem', detail, FIX));
      continue;
    }
    await recordIllegalMove(repository, state, now);
    const { kind } = await restoreKeptTip(repository, state);
    found.push(
      kind === 'done'
        ? doctorLine('refs', 'fixed', `${detail}; put back. What was there: git handoff show ${name} --lost`)
        : doctorLine('refs', 'problem', `${detail}; it moved again meanwhile`, FIX),
    );
  }
  return found.length > 0
    ? found
    : [doctorLine('refs', 'ok', `${counted(states.length, 'handoff')}, none moved by hand`)];
}

/** How many broken objects are listed; the others are only counted. */
const MAX_SHOWN = 20;

/** Checks that every commit of every handoff, and its note, can be read and matches its hash. */
export async function checkObjects(
  { cwd }: Repository,
  states: readonly TopicState[],
): Promise<CheckShape[]> {
  // Objects that are too large for a handoff are left out, because every reader refuses them anyway.
  const tips = await withoutLarge({ cwd }, [...new Set(states.flatMap(tipsOf))]);
  const commits = await reachableCommits({ cwd }, tips);
  if (commits !== undefined && (await areWhole({ cwd }, await withoutLarge({ cwd }, commits)))) {
    return [doctorLine('objects', 'ok', `${counted(commits.length, 'commit')} of handoffs, all readable`)];
  }
  const found: CheckShape[] = [];
  for (const state of states) {
    const all = await Promise.all([...new Set(tipsOf(state))].map((tip) => brokenBelow({ cwd }, tip)));
    const broken = new Map(all.flat().map((one) => [`${one.commit} ${one.what}`, one]));
    found.push(...[...broken.values()].map((one) => brokenCheck(state, one)));
  }
  if (found.length <= MAX_SHOWN) return found;
  const more = doctorLine('objects', 'problem', `and ${found.length - MAX_SHOWN} more`);
  return [...found.slice(0, MAX_SHOWN), more];
}

/** Returns the tips to check. Leaves out a public ref that was moved by hand: another check reports it. */
function tipsOf({ publicOid, keptOid, illegal }: TopicState): Oid[] {
  return [illegal === undefined ? publicOid : undefined, keptOid].filter((oid) => oid !== undefined);
}

function brokenCheck(state: TopicState, { commit, what, oid, why }: BrokenObject): CheckShape {
  const name = typedTopic(state.branch, state.topic);
  const object = oid === undefined ? '' : ` (${oid})`;
  const where = what === 'commit' ? `commit ${commit}` : `the ${what} of commit ${commit}${object}`;
  return doctorLine('objects', 'problem', `${name}: ${where} is ${why}`, 'git fsck --full');
}

/** Younger work may belong to a note that is being written now. Milliseconds. */
const YOUNG_MS = 10 * 60_000;

/** Reports work of closed or missing notes, left by a close elsewhere or a crash. With `fix`, moves such work to the rescues. */
export async function checkWork(repository: Repository, fix: boolean, now: number): Promise<CheckShape[]> {
  const left: KeptWork[] = [];
  for (const one of await leftWork(repository)) {
    const work = await readWork({ cwd: repository.cwd }, one.oid, Infinity);
    if (typeof work !== 'object' || now - work.seconds * 1000 >= YOUNG_MS) left.push(one);
  }
  if (left.length === 0) return [];
  const names = [...new Set(left.map(({ path }) => path.topic))].slice(0, 5).join(', ');
  const detail = `uncommitted work of ${counted(left.length, 'closed or missing note')}: ${names}`;
  if (!fix) return [doctorLine('work', 'warning', detail, FIX)];
  const command = 'git handoff doctor --fix';
  const settled = await settleWork(repository, left, { authors: [], session: null, command, now });
  return settled.map(({ kind, text }) => doctorLine('work', kind === 'stays' ? 'warning' : 'fixed', text));
}
