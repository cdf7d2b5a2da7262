import { literal, pathWords } from '../../changes/hint-words.ts';
import { isInitialised } from '../../host/folders.ts';
import { type DirtyWork, type Asker, askerOf, lookAtWork } from '../../changes/dirty-work.ts';
import {
  type SessionPart,
  ownersOf,
  stagedOnly,
  unrecordedClaims,
  withContent,
} from '../../changes/session-parts.ts';
import { escapeLine, Failure } from '../../domain/messages.ts';
import type { OpenClaim } from '../../domain/ledger/claims.ts';
import { divideWork, strong } from '../../domain/ledger/ownership.ts';
import type { DirtyPath } from '../../domain/ledger/tree-status.ts';
import { type SessionId, agentOfOwner, isPerson, sessionOfOwner } from '../../domain/names.ts';
import type { Settings } from '../../domain/settings.ts';
import { matchingPaths } from '../../git/named-files.ts';
import { hashFiles, scratchStore } from '../../git/scratch.ts';
import { type Context, sessionMeant } from '../../sessions/caller.ts';
import type { JudgedSession } from '../../sessions/records.ts';
import { findOwner, openJudged, pathFrom, requireWorkTree } from '../workspace.ts';

/** Whose uncommitted work a verb is about, and in which paths. */
export interface WorkOptions {
  /** A session's full or short id; `undefined`: the session that asks. */
  readonly of: string | undefined;
  /** Empty: everything. */
  readonly pathspecs: readonly string[];
  readonly session: string | undefined;
}

/** The uncommitted work of a working tree, and who asks about it. `commit`, `diff`, `undo` and others start from this. */
export interface SessionWork {
  readonly settings: Settings;
  readonly work: DirtyWork;
  readonly judged: readonly JudgedSession[];
  /** The session or running sub-agent that asks; `undefined`: a person. */
  readonly self: SessionId | undefined;
  readonly asker: Asker;
  /** The paths that the command line names; `undefined`: it names none. */
  readonly named: ReadonlySet<string> | undefined;
  readonly now: number;
  readonly notices: readonly string[];
  /** Makes a path from the top relative to the caller's folder. */
  readonly here: (path: string) => string;
  /** Turns paths from the top into ` -- <pathspec>...`, to be typed in the caller's folder. */
  readonly typedPaths: (paths: readonly string[]) => string;
}

/**
 * Reads the uncommitted work of the working tree around `cwd`.
 *
 * @param keep whether to keep the contents that are found, which needs our folder in the repository
 * @throws Failure `not-found` without that folder, `environment` without a working tree, `usage` for a wrong pathspec
 */
export async function readSessionWork(
  { pathspecs, session }: Omit<WorkOptions, 'of'>,
  { keep = true, ...context }: Context & { readonly keep?: boolean },
): Promise<SessionWork> {
  const { cwd, now } = context;
  const workspace = await openJudged(context);
  const { repository, settings, judged, notices } = workspace;
  if (keep && !isInitialised(repository.commonDir)) {
    throw new Failure('not-found', 'no session is on record in this repository', {
      hint: 'git handoff init',
    });
  }
  const tree = await requireWorkTree(repository);
  const found = findOwner(context, workspace, session);
  const self = found === undefined || isPerson(found) ? undefined : found;
  const [work, named] = await Promise.all([
    lookAtWork(tree, judged, now, { keep }),
    pathspecs.length === 0 ? undefined : matchingPaths(cwd, pathspecs),
  ]);
  const here = pathFrom(cwd, tree.top);
  const typedPaths = (paths: readonly string[]) =>
    pathWords(tree.commonDir, paths, (path) => literal(here(path)));
  const asker = askerOf(self, judged, tree.commonDir);
  return { settings, work, judged, self, asker, named, now, notices, here, typedPaths };
}

/**
 * Returns the session that a full or short id names.
 *
 * @throws Failure `not-found` for an id that is not known here, `usage` for a short id that fits several sessions
 */
export function sessionNamed(text: string, { work, judged }: SessionWork): SessionId {
  const ids = new Set([
    ...work.ledgers.map(({ session }) => session),
    ...judged.map(({ record }) => record.session),
  ]);
  const meant = sessionMeant(text, ids);
  if (meant !== undefined) return meant;
  throw new Failure('not-found', `no session here is named ${escapeLine(text)}`, {
    hint: 'git handoff status',
  });
}

/** Why a path is in no session's part. */
export const UNUSABLE = 'it is a repository of its own, or its name is not UTF-8';

/** What a session has changed, together with the sessions that count as one with it. */
interface OwnWork {
  readonly parts: readonly SessionPart[];
  /** Paths that are in no part: the session or somebody else may have changed them, and no claim on them is sure. */
  readonly doubtful: readonly string[];
  /** Paths that the session changed only in the index: the file is as in HEAD. */
  readonly staged: readonly DirtyPath[];
}

/** Returns a session's part of each uncommitted path. */
export async function workOfSession(scene: SessionWork, session: SessionId): Promise<OwnWork> {
  const { judged, work, named } = scene;
  const asker = askerOf(session, judged, work.tree.commonDir);
  // When somebody else asks, a running sub-agent's changes count as its session's, too.
  const agents =
    scene.self === session ? [] : [...asker.groups.own].filter((id) => agentOfOwner(id) !== undefined);
  const owners = new Set([
    ...ownersOf(session, asker, judged),
    ...(session === sessionOfOwner(session) ? agents : []),
  ]);
  const staged = stagedOnly(work, owners).filter(({ path }) => named?.has(path) !== false);
  return { ...(await partsIn(scene, session, owners)), staged };
}

/** Returns the sessions that have changed something here, each with its own part, the earliest change first. */
export async function allParts(
  scene: SessionWork,
): Promise<{ readonly session: SessionId; readonly parts: readonly SessionPart[] }[]> {
  const { ledgers, lone } = scene.work;
  const ids = new Set([
    ...ledgers.map(({ session }) => session),
    ...(lone === undefined ? [] : [lone.session]),
  ]);
  const found: { session: SessionId; parts: readonly SessionPart[] }[] = [];
  for (const session of ids) {
    const { parts } = await partsIn(scene, session, new Set([session]));
    if (parts.length > 0) found.push({ session, parts });
  }
  const begin = ({ parts }: (typeof found)[number]) =>
    Math.min(...parts.flatMap(({ mine }) => mine.map(({ since }) => since)));
  return found.sort((a, b) => begin(a) - begin(b));
}

async function partsIn(
  { work, named, now }: SessionWork,
  session: SessionId,
  owners: ReadonlySet<SessionId>,
): Promise<Pick<OwnWork, 'parts' | 'doubtful'>> {
  const unrecorded = await unrecordedClaims(session, work, owners, now);
  // Unlike a commit, a session's part leaves out all changes of others, even those of sessions that are over.
  const groups = { own: owners, foreign: new Set<SessionId>() };
  const parts: SessionPart[] = [];
  const doubtful: string[] = [];
  for (const { dirty, mine, claims } of divideWork(work, groups, owners, unrecorded)) {
    if (named?.has(dirty.path) === false) continue;
    const others = claims.left;
    // A weak claim, whose change may be another's, counts only on a path that nobody else claims.
    const counted = others.length > 0 ? strong(mine) : mine;
    if (counted.length > 0) parts.push({ dirty, mine: counted, others });
    else if (mine.length > 0 && strong(others).length === 0) doubtful.push(dirty.path);
  }
  const { top, commonDir } = work.tree;
  // If there were very many files, some were not hashed: these may have changed since the claim.
  const isRead = ({ after }: OpenClaim) => after !== null && after.oid !== null;
  const unread = parts.filter(
    ({ dirty: { disk }, mine }) => disk?.oid === null && disk.mode.startsWith('100') && mine.some(isRead),
  );
  const paths = unread.map(({ dirty }) => dirty.path);
  const oids = await hashFiles(top, paths, { scratch: scratchStore(commonDir), all: true });
  return { parts: parts.map((part) => ({ ...part, dirty: withContent(part.dirty, oids) })), doubtful };
}
