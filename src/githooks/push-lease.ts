import { otherOwners } from '../domain/commit-message.ts';
import { type SessionId, peerNames, shortOid } from '../domain/names.ts';
import { escapeLine, shellWord } from '../domain/surfacing.ts';
import { readSettingEntries } from '../git/config.ts';
import {
  type PushedCommit,
  type PushedRef,
  type ShortenedBranch,
  lostCommits,
  shortenedBranches,
} from '../git/push-range.ts';
import { readTopics, relatedSessions } from '../notes/topic.ts';
import { clientsOf } from '../sessions/records.ts';
import { isLeased, parsePushWords } from '../shell/push-words.ts';
import type { HookCall } from './hook-call.ts';
import { type PushFinding, NOTHING, type PushScene, commitLines } from './push-scene.ts';
import { runningCommand } from './whose-commit.ts';

/** Somebody else's commit that a push drops; `owners` is empty if its message names no session. */
interface Foreign {
  readonly commit: PushedCommit;
  readonly owners: readonly SessionId[];
}

/** The most branches that one answer names. */
const MOST_BRANCHES = 10;

/**
 * Refuses a push that drops others' commits from branches at the remote. To drop them on purpose, a session names the
 * commit up to which it has seen them: `--force-with-lease=<branch>:<object name>`. A lease without an object name proves
 * nothing, nor does a reflog: in a shared clone both also show others' fetches and commits. A person is only warned.
 *
 * @param pushed the refs that are neither handoffs nor carried work
 */
export async function droppedWork(scene: PushScene, pushed: readonly PushedRef[]): Promise<PushFinding> {
  const { call, self, tracking } = scene;
  const options = { cwd: call.cwd, timeoutMs: call.budget.left() };
  const branches = await shortenedBranches(options, tracking, pushed);
  const unseen = branches.filter(({ dropped }) => dropped === undefined);
  const found = await foreignIn(scene, branches, pushed);
  if (unseen.length + found.length === 0) return NOTHING;
  const words = runningCommand(call, parsePushWords);
  const left = found
    .filter(({ branch }) => words === undefined || !isLeased(words, branch.ref.remoteRef, branch.tip))
    .slice(0, MOST_BRANCHES);
  // Without force, git itself refuses to drop commits that were never fetched.
  const isForced = words?.isForced !== false || (await hasRefspecs(call));
  const unknown = isForced ? unseen.slice(0, MOST_BRANCHES) : [];
  // If we cannot read the push's options, we would refuse the command of our own hint, too.
  const refused = self !== undefined && (unknown.length > 0 || (left.length > 0 && words !== undefined));
  const word = refused ? 'error' : 'warning';
  const lines = [
    ...unknown.map(
      ({ name, tip }) =>
        `${word}: nobody can tell what this push drops: the remote has ${escapeLine(name)} at ${shortOid(tip)}, which was never fetched`,
    ),
    ...left.flatMap(({ branch, foreign }) => lossLines(word, branch, foreign, scene)),
  ];
  if (!refused) return { refused, lines };
  const remote = shellWord(scene.remote);
  if (unknown.length > 0) {
    const names = unknown.map(({ ref }) => shellWord(ref.remoteRef));
    return { refused, lines: [...lines, `hint: git fetch ${remote} ${names.join(' ')}`] };
  }
  const leases = left.map(({ branch }) => `--force-with-lease=${shellWord(`${branch.name}:${branch.tip}`)}`);
  const refspecs = left.map(({ branch }) => shellWord(refspecOf(branch.ref)));
  return {
    refused,
    lines: [
      ...lines,
      `${word}: Merge or rebase to keep them. To drop them on purpose:`,
      `hint: git push ${[...leases, remote, ...refspecs].join(' ')}`,
    ],
  };
}

/** Whether the configuration has refspecs for pushing, which may force the push. */
async function hasRefspecs({ cwd, budget }: HookCall): Promise<boolean> {
  return (await readSettingEntries('^remote\\..*\\.(push|mirror)$', cwd, budget.left())).length > 0;
}

function lossLines(
  word: string,
  { name }: ShortenedBranch,
  foreign: readonly Foreign[],
  scene: PushScene,
): string[] {
  const count = foreign.length === 1 ? 'a commit' : `${foreign.length} commits`;
  const records = { clients: clientsOf(scene.sessions) };
  return [
    `${word}: this push drops ${count} of others from ${escapeLine(name)}:`,
    ...commitLines(word, foreign, ({ owners }) =>
      owners.length === 0 ? 'the user or an unknown session' : peerNames(owners, records),
    ),
  ];
}

function refspecOf({ localRef, local, remoteRef }: PushedRef): string {
  if (local === undefined) return `:${remoteRef}`;
  return localRef === remoteRef ? remoteRef : `${localRef}:${remoteRef}`;
}

/** The branches that lose others' commits, each with those commits. */
async function foreignIn(
  scene: PushScene,
  branches: readonly ShortenedBranch[],
  pushed: readonly PushedRef[],
): Promise<{ branch: ShortenedBranch; foreign: Foreign[] }[]> {
  const { call, self, sessions, settings } = scene;
  if (branches.every(({ dropped = [] }) => dropped.length === 0)) return [];
  const related = relatedSessions(sessions, await readTopics({ cwd: call.cwd }));
  // A person's commits have no trailer, and with `handoff.trailer=off` a session's have none either.
  const isSigned = self !== undefined && settings.trailer !== 'off';
  const found = branches.flatMap((branch) => {
    const foreign = (branch.dropped ?? []).flatMap((commit) => {
      const owners = otherOwners(commit.message, self, related);
      const isOwn = owners === undefined ? !isSigned : owners.length === 0;
      return isOwn ? [] : [{ commit, owners: owners ?? [] }];
    });
    return foreign.length === 0 ? [] : [{ branch, foreign }];
  });
  if (found.length === 0) return [];
  const options = { cwd: call.cwd, timeoutMs: call.budget.left() };
  const lost = await lostCommits(
    options,
    found.map(({ branch }) => branch),
    pushed,
  );
  return found.flatMap(({ branch, foreign }) => {
    const left = foreign.filter(({ commit }) => lost.has(commit.oid));
    return left.length === 0 ? [] : [{ branch, foreign: left }];
  });
}
