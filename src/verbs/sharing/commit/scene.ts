import { join, relative, resolve } from 'node:path';
import { Failure } from '../../../domain/failure.ts';
import { type Shares, differsOnDisk, divideWork } from '../../../domain/ledger/shares.ts';
import { type SessionId, isPerson } from '../../../domain/names.ts';
import { succeededBy } from '../../../domain/session.ts';
import { shellWord } from '../../../domain/surfacing.ts';
import { readSettings } from '../../../git/config.ts';
import { topLevel } from '../../../git/repository.ts';
import { matchingPaths } from '../../../git/pathspec.ts';
import { realPath } from '../../../host/disk.ts';
import { literal, pathWords } from '../../../changes/hint-words.ts';
import type { JudgedSession } from '../../../sessions/records.ts';
import { type Context, findSession } from '../../../sessions/caller.ts';
import { type Asker, type DirtyWork, askerOf, lookAtWork } from '../../../changes/dirty-work.ts';
import { judgedSessions, openWorkspace } from '../../workspace.ts';
import { unrecordedClaims, untrackedPaths } from './own-changes.ts';
import { withoutStale } from './stale-shares.ts';

/** Everything that `commit`, `stage --mine` and `write --with-work` decide by, read again at each try. */
export interface CommitScene {
  readonly self: SessionId;
  readonly work: DirtyWork;
  readonly asker: Asker;
  readonly shares: Shares;
  /** The dirty paths named on the command line; `undefined`: it names none. */
  readonly named: ReadonlySet<string> | undefined;
  /** Paths that the session took out of the index and left on the disk (`git rm --cached`). */
  readonly untracked: readonly string[];
  /** Whose claims a commit of this session brings to an end. */
  readonly owners: ReadonlySet<SessionId>;
  /** The worktree's index, absolute. */
  readonly indexFile: string;
  readonly notices: readonly string[];
  /** A path as the caller types it where it is, for hints. */
  readonly typed: (path: string) => string;
  /** ` -- <path>...` as pathspecs. Paths are from the top. */
  readonly typedPaths: (paths: readonly string[]) => string;
  /** The same for `git handoff take`, which knows no patterns. */
  readonly plainPaths: (paths: readonly string[]) => string;
}

interface SceneOptions {
  readonly pathspecs: readonly string[];
  readonly session: string | undefined;
  /** What a person types instead; or who the person is, where persons may. */
  readonly person: { readonly hint: string } | { readonly id: SessionId };
}

/**
 * Reads the scene for the session that runs the command.
 *
 * @throws Failure `usage` for a person, in a bare repository, and for a pathspec that git refuses
 */
export async function readScene(options: SceneOptions, context: Context): Promise<CommitScene> {
  const { cwd, now } = context;
  const [{ repository, sessions, notices }, settings] = await Promise.all([
    openWorkspace(context),
    readSettings(cwd),
  ]);
  const self = callerOf(options, findSession(context, sessions, options.session)?.id);
  const { gitDir, commonDir } = repository;
  const top = await topLevel(repository);
  if (top === undefined) {
    throw new Failure('usage', 'there is no working tree here', { hint: 'cd into a working tree' });
  }
  const here = (path: string) => relative(realPath(cwd), join(realPath(top), path));
  const judged = judgedSessions({ repository, sessions }, settings, now);
  const asker = askerOf(isPerson(self) ? undefined : self, judged);
  const tree = { top, gitDir, commonDir };
  const [work, named] = await Promise.all([
    lookAtWork(tree, judged, now),
    options.pathspecs.length === 0 ? undefined : matchingPaths(cwd, options.pathspecs),
  ]);
  const owners = ownersOf(self, asker, judged);
  const dirty = [...work.snapshot.dirty.values()].filter(differsOnDisk);
  const unrecorded = await unrecordedClaims(self, work, owners, now);
  const facts = { dirty, ledgers: work.ledgers, sides: asker.sides, owners, unrecorded, named };
  const shares = await withoutStale(self, work, divideWork(facts), asker.sides);
  return {
    self,
    work,
    asker,
    shares,
    owners,
    named,
    untracked: untrackedPaths(self, work, owners).filter((path) => named?.has(path) !== false),
    indexFile: resolve(top, context.env['GIT_INDEX_FILE'] ?? join(gitDir, 'index')),
    notices,
    typed: (path) => shellWord(here(path)),
    typedPaths: (paths) => pathWords(commonDir, paths, (path) => literal(here(path))),
    plainPaths: (paths) => pathWords(commonDir, paths, here),
  };
}

function callerOf({ person }: SceneOptions, session: SessionId | undefined): SessionId {
  if (session !== undefined && !isPerson(session)) return session;
  if ('id' in person) return person.id;
  throw new Failure('usage', 'no session runs this command: a person commits with git itself', person);
}

/** Itself, those whose conversation it carries on, and those it started; not the session that started it. */
function ownersOf(
  self: SessionId,
  { sides }: Asker,
  sessions: readonly JudgedSession[],
): ReadonlySet<SessionId> {
  const records = sessions.map(({ record }) => record);
  const above = new Set<SessionId>();
  let at = records.find((record) => record.session === self)?.parent ?? null;
  while (at !== null && !above.has(at)) {
    above.add(at);
    for (const before of succeededBy(at, records)) above.add(before);
    const current: SessionId = at;
    at = records.find((record) => record.session === current)?.parent ?? null;
  }
  return new Set([self, ...[...sides.own].filter((id) => !above.has(id))]);
}
