import { mixedSessions } from '../domain/mixed-commit.ts';
import { type SessionId, canMean, meantId } from '../domain/names.ts';
import { peerName, peerNames } from '../domain/owner-name.ts';
import type { Settings } from '../domain/settings.ts';
import { escapeLine, shellWord } from '../domain/surfacing.ts';
import type { IllegalReason } from '../domain/transition.ts';
import {
  HANDOFFS,
  LIVE,
  LOCAL,
  REMOTE,
  KEPT,
  decodeBranch,
  keptRef,
  parsePath,
  parseWorkRef,
  remoteWorkPrefix,
} from '../git/namespace.ts';
import {
  type PushedCommit,
  type PushedRef,
  isAncestor,
  newCommits,
  parsePushedRefs,
} from '../git/push-range.ts';
import { listRefs, listRefNames } from '../git/refs.ts';
import type { GitOptions } from '../git/run.ts';
import { type HandoffMove, judgeMoves } from '../notes/moves.ts';
import { reasonText } from '../notes/report-illegal.ts';
import { typedTopic } from '../notes/topic-argument.ts';
import { judgeWork, workIn } from '../notes/work/pushed-work.ts';
import { findSession } from '../sessions/caller.ts';
import { type StoredSession, clientsOf, judgeSessions, sessionsFrom, sidesOf } from '../sessions/records.ts';
import { type HookAnswer, type HookCall, type HookPlace, PASSED, logHook, settingsOf } from './hook-call.ts';

/** Who pushes, what, and who is at work beside. */
interface PushScene {
  readonly call: HookCall;
  readonly self: SessionId | undefined;
  /** Other live sessions; empty for a person. */
  readonly foreign: ReadonlySet<SessionId>;
  readonly sessions: readonly StoredSession[];
  /** As it is typed. */
  readonly remote: string;
  readonly refs: readonly PushedRef[];
  /** Commits that name a session and are new there, newest first. */
  readonly commits: readonly PushedCommit[];
}

/** The bookkeeping of this machine that would leave it: it holds uncommitted work. To take away what once did is welcome. */
function leakingRefs(refs: readonly PushedRef[]): string[] {
  return refs
    .filter(({ local }) => local !== undefined)
    .flatMap(({ localRef, remoteRef }) => [localRef, remoteRef])
    .filter((name) => name.startsWith(LOCAL) || name.startsWith(REMOTE));
}

interface Finding {
  readonly refused: boolean;
  readonly lines: readonly string[];
}

const NOTHING: Finding = { refused: false, lines: [] };

/**
 * Judges a push: no commit that holds the work of several sessions, no handoff that did not move legally, no work but within its
 * bounds; commits of
 * other live sessions are told. A person is only warned of the first and hears nothing of the last.
 *
 * @throws Failure when git fails; the caller lets the push pass
 */
export async function checkPush(call: HookCall, { cwd, commonDir, gitDir }: HookPlace): Promise<HookAnswer> {
  const all = parsePushedRefs(await call.readInput());
  const leaks = leakingRefs(all);
  if (leaks.length > 0) {
    const lines = leaks.map(
      (name) => `error: ${escapeLine(name)} is the bookkeeping of this machine and is never pushed`,
    );
    const hint = `hint: git push ${shellWord(call.args[0] ?? 'origin')} HEAD`;
    return { refused: true, session: undefined, lines: [...lines, hint], isFinal: true };
  }
  const handoffs = all.filter(({ remoteRef }) => remoteRef.startsWith(HANDOFFS));
  const refs = all.filter((ref) => !handoffs.includes(ref));
  const [remote = '', url = ''] = call.args;
  const name = remote === url || /[*?[\\]/.test(remote) ? undefined : remote;
  const options = { cwd, timeoutMs: call.budget.left() };
  const [settings, live, commits, illegal] = await Promise.all([
    settingsOf(call),
    listRefs({ cwd }, [LIVE], { content: true, timeoutMs: call.budget.left() }),
    newCommits(options, name, refs),
    illegalPushes(options, remote, handoffs),
  ]);
  if (settings.enabled !== true) return PASSED;
  const sessions = sessionsFrom(live);
  const self = findSession(call, sessions, undefined)?.id;
  const judged = judgeSessions(sessions, commonDir, call.processes(), settings.staleAfterMs, call.now);
  const foreign = self === undefined ? new Set<SessionId>() : sidesOf(self, judged).foreign;
  const scene: PushScene = { call, self, foreign, sessions, remote, refs, commits };
  const moved = [...illegal, ...(await illegalWork(options, refs, settings))];
  const findings = [
    { refused: moved.length > 0, lines: moved },
    await mixedCommits(scene),
    settings.pushForeign === 'allow' ? NOTHING : await foreignCommits(scene, settings.pushForeign),
  ];
  const refused = findings.some((finding) => finding.refused);
  const lines = findings.flatMap((finding) => finding.lines);
  if (refused) logHook(call, { cwd, commonDir, gitDir }, 'deny', lines[0] ?? '', self);
  return { refused, session: self, lines };
}

/** How many commits one answer names. */
const MAX_NAMED = 10;

async function mixedCommits(scene: PushScene): Promise<Finding> {
  const { commits, self, call, sessions } = scene;
  const single = commits.filter(({ parents }) => parents.length < 2);
  if (!single.some(({ message }) => mixedSessions(message).length > 0)) return NOTHING;
  // Only now it matters who has carried on whose conversation.
  const [{ kinOf }, { readTopics }] = await Promise.all([
    import('../notes/topic.ts'),
    import('../notes/topic.ts'),
  ]);
  const kin = kinOf(sessions, await readTopics({ cwd: call.cwd }));
  const mixed = single.flatMap((commit) => {
    const ids = mixedSessions(commit.message, kin);
    return ids.length === 0 ? [] : [{ commit, ids }];
  });
  const oldest = mixed.at(-1);
  if (oldest === undefined) return NOTHING;
  const word = self === undefined ? 'warning' : 'error';
  const known = sessions.map(({ record }) => record.session);
  const records = { clients: clientsOf(sessions) };
  const lines = mixed.slice(0, MAX_NAMED).map(
    ({ commit, ids }) =>
      `${word}: ${named(commit)} mixes the work of ${peerNames(
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

async function foreignCommits(scene: PushScene, policy: 'warn' | 'deny'): Promise<Finding> {
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
    ...theirs
      .slice(0, MAX_NAMED)
      .map(
        ({ commit, owner }) =>
          `${word}:   ${named(commit)} by ${peerName(owner, { clients: clientsOf(sessions) })}`,
      ),
  ];
  return { refused, lines: refused ? [...lines, `hint: ${await pushBefore(scene, oldest.commit)}`] : lines };
}

/** The sessions on record that a message names; a short form that fits several names none. */
function ownersOf({ message }: PushedCommit, known: readonly SessionId[]): SessionId[] {
  const ids = message.matchAll(/^[ \t]*Claude-Session-Id[ \t]*:[ \t]*(\S+)/gim);
  return [...ids].flatMap(([, id = '']) => meantId(id, known) ?? []);
}

/** Pushes what comes before a commit. */
async function pushBefore({ call, remote, refs }: PushScene, commit: PushedCommit): Promise<string> {
  if (commit.parents.length === 0) return 'git handoff check';
  const options = { cwd: call.cwd, timeoutMs: call.budget.left() };
  for (const { local, remoteRef } of refs.slice(0, MAX_NAMED)) {
    if (local === undefined || !(await isAncestor(options, commit.oid, local))) continue;
    return `git push ${shellWord(remote)} ${shellWord(`${commit.oid.slice(0, 12)}^:${remoteRef}`)}`;
  }
  return 'git handoff check';
}

function named({ oid, summary }: PushedCommit): string {
  return `${oid.slice(0, 7)} "${escapeLine(summary).slice(0, 60)}"`;
}

/** The refusals of pushed work: it may only be created, within the bounds of its format. */
async function illegalWork(
  options: GitOptions,
  refs: readonly PushedRef[],
  { remotePrefix, maxWork }: Settings,
): Promise<string[]> {
  if (!refs.some(({ remoteRef }) => remoteRef.includes('-work'))) return [];
  const lines: string[] = [];
  for (const work of workIn(refs, [HANDOFFS, remotePrefix])) {
    const why = await judgeWork({ cwd: options.cwd }, work, maxWork);
    if (why === undefined) continue;
    const verb = why === 'deleted' ? 'close' : 'push --with-work';
    const path = parseWorkRef(work.ref.remoteRef, remoteWorkPrefix(work.prefix));
    const branch = path === undefined ? undefined : decodeBranch(path.component);
    const isKnown = path !== undefined && branch !== undefined;
    const hint = isKnown ? `${verb} ${typedTopic(branch, path.topic)}` : 'list';
    lines.push(`error: ${escapeLine(work.ref.remoteRef)}: ${why}`, `hint: git handoff ${hint}`);
  }
  return lines;
}

/** Handoffs may only move as everybody's may: the lines that refuse the others; none when all are legal. */
async function illegalPushes(
  options: GitOptions,
  remote: string,
  refs: readonly PushedRef[],
): Promise<string[]> {
  const lines: string[] = [];
  const reasons = await judgePushes(options, refs);
  for (const [at, ref] of refs.entries()) {
    const reason = reasons[at];
    // A later version's commit is not ours to judge.
    if (reason === undefined || reason === 'unknown format version') continue;
    lines.push(
      `error: ${escapeLine(ref.remoteRef)}: ${reasonText(reason)}`,
      `hint: ${nextCommand(ref, reason, remote)}`,
    );
  }
  return lines;
}

/** Why each of the pushed handoffs may not move; `undefined` where it may. */
async function judgePushes(
  options: GitOptions,
  refs: readonly PushedRef[],
): Promise<(IllegalReason | undefined)[]> {
  const moves = refs.map(({ local, remoteRef, remote }): HandoffMove | IllegalReason => {
    if (local === undefined) return 'deleted';
    const path = parsePath(remoteRef, HANDOFFS);
    return path === undefined ? 'names another branch or topic' : { path, old: remote, next: local };
  });
  const isAccepted = await acceptedBefore(options, moves.length);
  const open = moves.filter((move) => typeof move === 'object').filter((move) => !isAccepted(move));
  const judged = await judgeMoves({ cwd: options.cwd }, open);
  const reasons = new Map(open.map((move, at) => [move, judged[at]]));
  return moves.map((move) => (typeof move === 'object' ? reasons.get(move) : move));
}

/** From so many on it is cheaper to ask what has been judged here already. */
const MANY = 100;

/** What was kept has been judged from its root on, when it was written or accepted: new there, it need not be again. */
async function acceptedBefore({ cwd }: GitOptions, count: number): Promise<(move: HandoffMove) => boolean> {
  if (count < MANY) return () => false;
  const kept = new Map((await listRefNames({ cwd }, [KEPT])).map(({ name, oid }) => [name, oid]));
  return ({ path, old, next }) => old === undefined && kept.get(keptRef(path)) === next;
}

function nextCommand({ remoteRef }: PushedRef, reason: IllegalReason, remote: string): string {
  const path = parsePath(remoteRef, HANDOFFS);
  const branch = path === undefined ? undefined : decodeBranch(path.component);
  if (reason === 'deleted' && path !== undefined && branch !== undefined)
    return `git handoff close ${shellWord(typedTopic(branch, path.topic))}`;
  if (reason === 'not a descendant') {
    const name = /^\w[\w.-]*$/.test(remote) ? remote : 'fetched';
    const refspec = `+${HANDOFFS}*:refs/handoffs-remote/${name}/*`;
    return `git fetch ${shellWord(remote)} ${shellWord(refspec)}`;
  }
  return 'git handoff doctor --fix';
}
