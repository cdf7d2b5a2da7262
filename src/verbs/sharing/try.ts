import { join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Inseparable } from '../../changes/session-parts.ts';
import { counted, escapeLine, Failure, listed } from '../../domain/messages.ts';
import { differsOnDisk, isUsable } from '../../domain/ledger/ownership.ts';
import { type DirtyPath, sameState } from '../../domain/ledger/tree-status.ts';
import { type Oid, type SessionId, peerName, sessionOfOwner, shortOid } from '../../domain/names.ts';
import { triedText } from '../../domain/tried.ts';
import { entriesOf, gitFailure, runGit } from '../../git/run.ts';
import { prepareTryTree, submodulesNotice } from '../../git/try-tree.ts';
import { isFolder, realPath } from '../../host/disk.ts';
import { environmentIn, isDependency, linkDependencies } from '../../host/dependency-links.ts';
import { worktreeId } from '../../host/folders.ts';
import { takeLock } from '../../host/process-lock.ts';
import { endLeftGroup, runCommand } from '../../host/run-command.ts';
import type { Context } from '../../sessions/caller.ts';
import { appendEvents } from '../../sessions/journal.ts';
import { clientsOf } from '../../sessions/records.ts';
import type { TriedShape } from '../shapes.ts';
import type { CommandResult } from '../verb.ts';
import { type SessionWork, allParts, readSessionWork, workOfSession } from './session-work.ts';
import { TreeBuilder } from './session-tree.ts';

interface TryOptions {
  readonly argv: readonly string[];
  readonly session: string | undefined;
  readonly tell: (text: string) => void;
}

/**
 * Runs a command in a separate worktree, which has HEAD plus only the caller's uncommitted changes, as `diff` shows
 * them. The exit status is the command's; a session's journal keeps it, with the tree.
 *
 * @throws Failure `refused` where changes cannot be separated from others', `environment` if there is no commit yet
 */
export async function tryCommand(
  { argv, session, tell }: TryOptions,
  context: Context,
): Promise<CommandResult<TriedShape>> {
  const scene = await readSessionWork({ pathspecs: [], session }, context);
  const { work, self } = scene;
  const { top, gitDir, commonDir } = work.tree;
  const head = work.status.head.oid;
  if (head === null) {
    throw new Failure('environment', 'there is no commit yet to try anything on', {
      hint: "git commit --allow-empty -m 'first commit'",
    });
  }
  const who =
    self === undefined ? 'a-person' : peerName(self, { clients: clientsOf(scene.judged) }).replace(' ', '-');
  const release = await waitForTurn(`${commonDir}/handoff-try.lock`, who, tell);
  try {
    const groupFile = `${commonDir}/handoff-try.group`;
    await endLeftGroup(groupFile);
    const { tree, count } = await treeOf(scene, self, context);
    const prepared = await prepareTryTree(top, commonDir, { head, tree });
    const trees = { from: realPath(top), to: realPath(prepared.top) };
    linkDependencies(trees, await dependencies(top, scene.settings.tryLinks));
    if (prepared.submodules.length > 0) tell(submodulesNotice(prepared.submodules));
    const cwd = folderIn(trees, context.cwd, tell);
    tell(
      `on HEAD ${shortOid(head)} plus ${counted(count, 'changed path')} of yours: ${escapeLine(triedText(argv))}`,
    );
    const env = environmentIn(trees, { ...withoutGit(context.env), PWD: cwd });
    const { status, error, isInterrupted } = await runCommand({ argv, cwd, env, groupFile });
    if (error !== undefined) tell(escapeLine(error));
    const tried = { command: triedText(argv), status, tree };
    const notices = [...scene.notices];
    if (self !== undefined && !isInterrupted) {
      const place = work.place ?? { commonDir, worktreeId: worktreeId(gitDir) };
      const event = { t: 'tried', command: tried.command, status, on: tree, at: context.clock() } as const;
      try {
        appendEvents(place, sessionOfOwner(self), [event]);
      } catch (error) {
        // The command may have filled the disk; its exit status is known all the same.
        notices.push(
          `the result was not kept, so your next note will lack it: ${(error as Error).message}. Make room, and try again`,
        );
      }
    }
    return { value: { ...tried, head }, notices, exitCode: status };
  } finally {
    release();
  }
}

/** Waits until no other `git handoff try` runs in this clone. Does not wait for one that was killed. */
async function waitForTurn(lock: string, who: string, tell: TryOptions['tell']): Promise<() => void> {
  for (let isTold = false; ; isTold = true) {
    const taken = await takeLock(lock, who, 0);
    if (taken.kind === 'held') return taken.release;
    if (!isTold)
      tell(
        `${escapeLine(taken.by.replace('-', ' '))} runs git handoff try in this clone; waiting until it is done`,
      );
    await pause(WAIT_MS);
  }
}

/** Milliseconds between two tries to take the lock. */
const WAIT_MS = 300;

/** Makes a tree of HEAD plus the caller's changes. `count`: how many paths they change. */
async function treeOf(
  scene: SessionWork,
  self: SessionId | undefined,
  context: Context,
): Promise<{ tree: Oid; count: number }> {
  const paths = self === undefined ? await pathsOfNobody(scene, context) : [];
  return TreeBuilder.use(scene, context, 'repository', async (trees) => {
    if (self === undefined) {
      await trees.addFromDisk(paths);
      return { tree: await trees.tree(), count: paths.length };
    }
    const { parts, doubtful } = await workOfSession(scene, self);
    const failed = await trees.add(parts);
    requireApart([...pathsIn(failed), ...doubtful.filter(isUsable)]);
    return { tree: await trees.tree(), count: parts.length };
  });
}

/** The paths whose changes cannot be separated, except those that no tree can name. */
const pathsIn = (failed: readonly Inseparable[]) =>
  failed.flatMap(({ part, why }) => (why === 'unusable' ? [] : part.dirty.path));

/** What counts as a person's own: the changed paths, except the work of live sessions. */
async function pathsOfNobody(scene: SessionWork, context: Context): Promise<DirtyPath[]> {
  const { work, judged } = scene;
  const live = new Set(
    judged.filter(({ liveness }) => liveness === 'live').map(({ record }) => record.session),
  );
  const theirs = (await allParts(scene)).filter(({ session }) => live.has(sessionOfOwner(session)));
  return TreeBuilder.use(scene, context, 'scratch', async (trees) => {
    const mixed: string[] = [];
    for (const { parts } of theirs) mixed.push(...pathsIn(await trees.add(parts)));
    const dirty = new Map(theirs.flatMap(({ parts }) => parts.map((part) => [part.dirty.path, part.dirty])));
    for (const one of dirty.values()) if (!sameState(trees.at(one), one.disk)) mixed.push(one.path);
    requireApart(mixed);
    const all = [...work.status.dirty.values()].filter(differsOnDisk);
    return all.filter(({ path }) => isUsable(path) && !dirty.has(path));
  });
}

function requireApart(paths: readonly string[]): void {
  if (paths.length === 0) return;
  const names = listed([...new Set(paths)].map(escapeLine));
  throw new Failure('refused', `your changes cannot be separated from others' in ${names}: nothing was run`, {
    hint: 'git handoff status',
  });
}

/** The ignored paths to link, from the top. */
async function dependencies(top: string, names: readonly string[]): Promise<string[]> {
  const args = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];
  const result = await runGit(args, { cwd: top });
  if (result.code !== 0) throw gitFailure('ls-files', result);
  return entriesOf(result)
    .map((path) => path.replace(/\/$/, ''))
    .filter((path) => isDependency(path, names));
}

/** The caller's folder in the tried tree, or its top. */
function folderIn(
  { from, to }: { readonly from: string; readonly to: string },
  cwd: string,
  tell: TryOptions['tell'],
): string {
  const folder = relative(from, realPath(cwd));
  if (isFolder(join(to, folder))) return join(to, folder);
  tell(`${escapeLine(folder)} is not in the tried tree: the command runs at its top`);
  return to;
}

/** Variables that name a repository to git: they would lead git in the tried tree back to the original worktree. */
const LOCAL =
  /^GIT_(?:DIR|WORK_TREE|IMPLICIT_WORK_TREE|INDEX_FILE|INDEX_VERSION|PREFIX|COMMON_DIR|NAMESPACE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|SHALLOW_FILE|GRAFT_FILE|INTERNAL_SUPER_PREFIX)$/;

const withoutGit = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !LOCAL.test(name) && name !== 'OLDPWD'));
