import { mixedSessions, sessionsIn } from '../domain/commit-message.ts';
import { type SessionId, canMean, meantId, peerName, peerNames } from '../domain/names.ts';
import { escapeLine, shellWord } from '../domain/surfacing.ts';
import { checkRemotePrefix } from '../domain/sync.ts';
import { HANDOFFS, LIVE, LOCAL, REMOTE } from '../git/namespace.ts';
import { isAncestor } from '../git/histories.ts';
import {
  type PushedCommit,
  type PushedRef,
  isDropping,
  newCommits,
  parsePushedRefs,
} from '../git/push-range.ts';
import { listRefs } from '../git/refs.ts';
import { judgePush } from '../notes/judge-push.ts';
import { relatedSessions, readTopics } from '../notes/topic.ts';
import { findSession } from '../sessions/caller.ts';
import { clientsOf, judgeSessions, sessionsFrom, groupSessions } from '../sessions/records.ts';
import { type HookAnswer, type HookCall, PASSED, logHook, settingsOf } from './hook-call.ts';
import { droppedWork } from './push-lease.ts';
import {
  type PushFinding,
  MOST_COMMITS,
  NOTHING,
  type PushScene,
  commitLines,
  titleOf,
} from './push-scene.ts';

/** Our bookkeeping refs that the push would send: they may hold uncommitted work. Deleting them at a remote is allowed. */
function leakingRefs(refs: readonly PushedRef[]): string[] {
  return refs
    .filter(({ local }) => local !== undefined)
    .flatMap(({ localRef, remoteRef }) => [localRef, remoteRef])
    .filter((name) => name.startsWith(LOCAL) || name.startsWith(REMOTE));
}

/**
 * Judges a push. Refuses it if commits mix the work of several sessions, if it drops others' commits from a branch, if
 * handoffs did not move legally, or if carried work exceeds its limits. Reports commits of other live sessions. A person
 * is only warned about mixed and dropped commits, and gets no report.
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
  const options = { cwd, timeoutMs: call.budget.left() };
  const settings = await settingsOf(call);
  if (settings.enabled !== true) return PASSED;
  const { maxWork, remotePrefix } = settings;
  const prefixes = [...new Set([HANDOFFS, checkRemotePrefix(remotePrefix)])];
  const refs = all.filter(({ remoteRef }) => !prefixes.some((prefix) => remoteRef.startsWith(prefix)));
  const [live, commits, judged, drops] = await Promise.all([
    listRefs({ cwd }, [LIVE], { content: true, timeoutMs: call.budget.left() }),
    newCommits(options, tracking, refs),
    judgePush(all, { cwd, prefixes, maxWork, at: 'clone' }),
    settings.pushLease && isDropping(options, all),
  ]);
  const sessions = sessionsFrom(live);
  const self = findSession(call, sessions, undefined)?.id;
  const beside = judgeSessions(sessions, commonDir, call.processes(), settings.staleAfterMs, call.now);
  const foreign = self === undefined ? new Set<SessionId>() : groupSessions(self, beside, []).foreign;
  const scene: PushScene = {
    call,
    settings,
    self,
    foreign,
    sessions,
    remote,
    tracking,
    refs,
    commits,
  };
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
  const { commits, self, call, sessions } = scene;
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
  const known = sessions.map(({ record }) => record.session);
  const records = { clients: clientsOf(sessions) };
  const lines = mixed.slice(0, MOST_COMMITS).map(
    ({ commit, ids }) =>
      `${word}: ${titleOf(commit)} mixes the work of ${peerNames(
        ids.map((id) => meantId(id, known) ?? id),
        records,
      )}`,
  );
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
  const { commits, foreign, sessions } = scene;
  const known = sessions.map(({ record }) => record.session);
  const theirs = commits.flatMap((commit) => {
    const owner = ownersOf(commit, known).find((id) => foreign.has(id));
    return owner === undefined ? [] : [{ commit, owner }];
  });
  const oldest = theirs.at(-1);
  if (oldest === undefined) return NOTHING;
  const refused = policy === 'deny';
  const word = refused ? 'error' : 'warning';
  const count = theirs.length === 1 ? 'a commit' : `${theirs.length} commits`;
  const lines = [
    `${word}: this push includes ${count} of other sessions that are at work:`,
    ...commitLines(word, theirs, ({ owner }) => peerName(owner, { clients: clientsOf(sessions) })),
  ];
  return { refused, lines: refused ? [...lines, `hint: ${await pushBefore(scene, oldest.commit)}`] : lines };
}

/** The sessions on record that a message names. A short id that fits several sessions names none of them. */
function ownersOf({ message }: PushedCommit, known: readonly SessionId[]): SessionId[] {
  return sessionsIn(message).flatMap((id) => meantId(id, known) ?? []);
}

/** The command that pushes only the commits before this one. */
async function pushBefore({ call, remote, refs }: PushScene, commit: PushedCommit): Promise<string> {
  if (commit.parents.length === 0) return 'git handoff check';
  const options = { cwd: call.cwd, timeoutMs: call.budget.left() };
  for (const { local, remoteRef } of refs.slice(0, MOST_COMMITS)) {
    if (local === undefined || !(await isAncestor(options, commit.oid, local))) continue;
    return `git push ${shellWord(remote)} ${shellWord(`${commit.oid.slice(0, 12)}^:${remoteRef}`)}`;
  }
  return 'git handoff check';
}
