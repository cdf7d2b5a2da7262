import { mixedSessions, otherOwners, messageSessions } from '../domain/commit-message.ts';
import {
  type SessionId,
  type WithClients,
  canMean,
  meantId,
  peerName,
  peerNames,
  shortOid,
} from '../domain/names.ts';
import type { Settings } from '../domain/settings.ts';
import { escapeLine, shellWord } from '../domain/messages.ts';
import { checkRemotePrefix } from '../domain/sync.ts';
import { readSettingEntries } from '../git/config.ts';
import { isAncestor } from '../git/histories.ts';
import { HANDOFFS, LIVE, LOCAL, REMOTE } from '../git/namespace.ts';
import {
  type PushedCommit,
  type PushedRef,
  type ShortenedBranch,
  isDropping,
  lostCommits,
  newCommits,
  parsePushedRefs,
  shortenedBranches,
} from '../git/push-range.ts';
import { listRefs } from '../git/refs.ts';
import { judgePush } from '../notes/judge-push.ts';
import { relatedSessions, readTopics } from '../notes/topic.ts';
import { findSession } from '../sessions/caller.ts';
import {
  type StoredSession,
  clientsOf,
  groupSessions,
  judgeSessions,
  sessionsFrom,
} from '../sessions/records.ts';
import { isLeased, parsePushWords } from '../shell/push-words.ts';
import { type HookAnswer, type HookCall, PASSED, logHook, settingsOf } from './hook-call.ts';
import { runningCommand } from './whose-commit.ts';

/** Who pushes, what is pushed, and who else is at work. */
interface PushScene extends WithClients {
  readonly call: HookCall;
  readonly settings: Settings;
  /** `undefined`: a person. */
  readonly self: SessionId | undefined;
  /** Other live sessions; empty for a person. */
  readonly foreign: ReadonlySet<SessionId>;
  readonly sessions: readonly StoredSession[];
  readonly known: readonly SessionId[];
  /** The remote as the user typed it. */
  readonly remote: string;
  /** The remote's name, if it has remote-tracking refs. */
  readonly tracking: string | undefined;
  readonly refs: readonly PushedRef[];
  /** Commits that name a session and that the remote does not have yet, newest first. */
  readonly commits: readonly PushedCommit[];
}

interface PushFinding {
  readonly refused: boolean;
  readonly lines: readonly string[];
}

const optionsOf = ({ cwd, budget }: HookCall) => ({ cwd, timeoutMs: budget.left() });

const NOTHING: PushFinding = { refused: false, lines: [] };

/** The most commits that one answer names. */
const MOST_COMMITS = 10;

function titleOf({ oid, summary }: PushedCommit): string {
  return `${oid.slice(0, 7)} "${escapeLine(summary).slice(0, 60)}"`;
}

const commitCount = ({ length }: readonly unknown[]) => (length === 1 ? 'a commit' : `${length} commits`);

function commitLines<Found extends { readonly commit: PushedCommit }>(
  word: string,
  commits: readonly Found[],
  makerOf: (found: Found) => string,
): string[] {
  return commits
    .slice(0, MOST_COMMITS)
    .map((found) => `${word}:   ${titleOf(found.commit)} by ${makerOf(found)}`);
}

/** Our bookkeeping refs that the push would send: they may hold uncommitted work. Deleting them at a remote is allowed. */
function leakingRefs(refs: readonly PushedRef[]): string[] {
  return refs
    .filter(({ local }) => local !== undefined)
    .flatMap(({ localRef, remoteRef }) => [localRef, remoteRef])
    .filter((name) => name.startsWith(LOCAL) || name.startsWith(REMOTE));
}

/**
 * Judges a push. A push is refused if its commits mix the work of several sessions, if it drops others' commits from a branch,
 * if it moves handoffs against their rules, or if carried work exceeds its limits. Commits of other live sessions are reported.
 * A person is only warned about mixed and dropped commits, and gets no report.
 *
 * @throws Failure when git fails; the caller lets the push pass
 */
export async function checkPush(call: HookCall): Promise<HookAnswer> {
  const { cwd, commonDir } = call;
  const all = parsePushedRefs(await call.readInput());
  const leaks = leakingRefs(all);
  if (leaks.length > 0) {
    const lines = leaks.map(
      (name) => `error: ${escapeLine(name)} is the bookkeeping of this machine and is never pushed`,
    );
    const hint = `hint: git push ${shellWord(call.args[0] ?? 'origin')} HEAD`;
    return { refused: true, session: undefined, lines: [...lines, hint], isFinal: true };
  }
  const [remote = '', url = ''] = call.args;
  const tracking = remote === url || /[*?[\\]/.test(remote) ? undefined : remote;
  const settings = await settingsOf(call);
  if (settings.enabled !== true) return PASSED;
  const { maxWork, remotePrefix } = settings;
  const prefixes = [...new Set([HANDOFFS, checkRemotePrefix(remotePrefix)])];
  const refs = all.filter(({ remoteRef }) => !prefixes.some((prefix) => remoteRef.startsWith(prefix)));
  const [live, commits, judged, drops] = await Promise.all([
    listRefs({ cwd }, [LIVE], { content: true, timeoutMs: call.budget.left() }),
    newCommits(optionsOf(call), tracking, refs),
    judgePush(all, { cwd, prefixes, maxWork, at: 'clone' }),
    settings.pushLease && isDropping(optionsOf(call), all),
  ]);
  const sessions = sessionsFrom(live);
  const self = findSession(call, sessions, undefined)?.id;
  const beside = judgeSessions(sessions, commonDir, call.processes(), settings.staleAfterMs, call.now);
  const foreign = self === undefined ? new Set<SessionId>() : groupSessions(self, beside, []).foreign;
  const known = sessions.map(({ record }) => record.session);
  const who = { self, foreign, sessions, known, clients: clientsOf(sessions) };
  const scene: PushScene = { ...who, call, settings, remote, tracking, refs, commits };
  const moved = judged.refused.flatMap(({ ref, why, hint }) => [
    `error: ${escapeLine(ref.remoteRef)}: ${why}`,
    `hint: ${hint}`,
  ]);
  const findings = [
    { refused: moved.length > 0, lines: moved },
    await mixedCommits(scene),
    drops ? await droppedWork(scene, judged.others) : NOTHING,
    settings.pushForeign === 'allow' ? NOTHING : await foreignCommits(scene, settings.pushForeign),
  ];
  const refused = findings.some((finding) => finding.refused);
  const lines = findings.flatMap((finding) => finding.lines);
  if (refused) logHook(call, 'deny', lines[0] ?? '', self);
  return { refused, session: self, lines };
}

async function mixedCommits(scene: PushScene): Promise<PushFinding> {
  const { commits, self, call, sessions, known } = scene;
  const single = commits.filter(({ parents }) => parents.length < 2);
  if (!single.some(({ message }) => mixedSessions(message).length > 0)) return NOTHING;
  // Only now do we need to know which session continued which conversation.
  const related = relatedSessions(sessions, await readTopics({ cwd: call.cwd }));
  const mixed = single.flatMap((commit) => {
    const ids = mixedSessions(commit.message, related);
    return ids.length === 0 ? [] : [{ commit, ids }];
  });
  const oldest = mixed.at(-1);
  if (oldest === undefined) return NOTHING;
  const word = self === undefined ? 'warning' : 'error';
  const lines = mixed.slice(0, MOST_COMMITS).map(({ commit, ids }) => {
    const owners = ids.map((id) => meantId(id, known) ?? id);
    return `${word}: ${titleOf(commit)} mixes the work of ${peerNames(owners, scene)}`;
  });
  if (self === undefined) return { refused: false, lines };
  const isLast = mixed.length === 1 && scene.refs.some(({ local }) => local === oldest.commit.oid);
  const others = oldest.ids.filter((id) => !canMean(id, self));
  const hint =
    isLast && others.length < oldest.ids.length
      ? `git commit --amend --no-edit${others.map((id) => ` --trailer 'Handoff-Accepted-From: ${id}'`).join('')}`
      : await pushBefore(scene, oldest.commit);
  return { refused: true, lines: [...lines, `hint: ${hint}`] };
}

async function foreignCommits(scene: PushScene, policy: 'warn' | 'deny'): Promise<PushFinding> {
  const { commits, foreign, known } = scene;
  const theirs = commits.flatMap((commit) => {
    // A short id that fits several sessions names none of them.
    const owners = messageSessions(commit.message).map((id) => meantId(id, known));
    const owner = owners.find((id) => id !== undefined && foreign.has(id));
    return owner === undefined ? [] : [{ commit, owner }];
  });
  const oldest = theirs.at(-1);
  if (oldest === undefined) return NOTHING;
  const refused = policy === 'deny';
  const word = refused ? 'error' : 'warning';
  const lines = [
    `${word}: this push includes ${commitCount(theirs)} of other sessions that are at work:`,
    ...commitLines(word, theirs, ({ owner }) => peerName(owner, scene)),
  ];
  return { refused, lines: refused ? [...lines, `hint: ${await pushBefore(scene, oldest.commit)}`] : lines };
}

/** The command that pushes only the commits before this one. */
async function pushBefore({ call, remote, refs }: PushScene, commit: PushedCommit): Promise<string> {
  if (commit.parents.length === 0) return 'git handoff check';
  for (const { local, remoteRef } of refs.slice(0, MOST_COMMITS)) {
    if (local === undefined || !(await isAncestor(optionsOf(call), commit.oid, local))) continue;
    return `git push ${shellWord(remote)} ${shellWord(`${commit.oid.slice(0, 12)}^:${remoteRef}`)}`;
  }
  return 'git handoff check';
}

/** Somebody else's commit that a push would drop; `owners` is empty if its message names no session. */
interface Foreign {
  readonly commit: PushedCommit;
  readonly owners: readonly SessionId[];
}

/** The most branches that one answer names. */
const MOST_BRANCHES = 10;

/**
 * Refuses a push that drops others' commits from branches at the remote. A session that drops them on purpose has to name the
 * branch's tip there, to prove that it has seen them: `--force-with-lease=<branch>:<object name>`. A lease without an object
 * name proves nothing, nor does a reflog: others fetch and commit in the same clone. A person is only warned.
 *
 * @param pushed the refs that are neither handoffs nor carried work
 */
async function droppedWork(scene: PushScene, pushed: readonly PushedRef[]): Promise<PushFinding> {
  const { call, self, tracking } = scene;
  const branches = await shortenedBranches(optionsOf(call), tracking, pushed);
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
  // If we cannot read the push's options, we only warn: otherwise we would also refuse the command in our hint.
  const refused = self !== undefined && (unknown.length > 0 || (left.length > 0 && words !== undefined));
  const word = refused ? 'error' : 'warning';
  const lines = [
    ...unknown.map(
      ({ name, tip }) =>
        `${word}: nobody can tell what this push drops: the remote has ${escapeLine(name)} at ${shortOid(tip)}, which was never fetched`,
    ),
    ...left.flatMap(({ branch: { name }, foreign }) => [
      `${word}: this push drops ${commitCount(foreign)} of others from ${escapeLine(name)}:`,
      ...commitLines(word, foreign, ({ owners }) =>
        owners.length === 0 ? 'the user or an unknown session' : peerNames(owners, scene),
      ),
    ]),
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
async function hasRefspecs(call: HookCall): Promise<boolean> {
  return (await readSettingEntries(optionsOf(call), '^remote\\..*\\.(push|mirror)$')).length > 0;
}

function refspecOf({ localRef, local, remoteRef }: PushedRef): string {
  if (local === undefined) return `:${remoteRef}`;
  return localRef === remoteRef ? remoteRef : `${localRef}:${remoteRef}`;
}

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
  const shortened = found.map(({ branch }) => branch);
  const lost = await lostCommits(optionsOf(call), shortened, pushed);
  return found.flatMap(({ branch, foreign }) => {
    const left = foreign.filter(({ commit }) => lost.has(commit.oid));
    return left.length === 0 ? [] : [{ branch, foreign: left }];
  });
}
