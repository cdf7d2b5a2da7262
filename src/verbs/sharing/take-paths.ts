import type { DirtyPath } from '../../domain/ledger/snapshot.ts';
import { Failure } from '../../domain/failure.ts';
import { shortId } from '../../domain/names.ts';
import { personId } from '../../domain/person.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { readSettings } from '../../git/config.ts';
import { hash } from '../../git/hash.ts';
import { committer } from '../../git/repository.ts';
import { isInitialised } from '../../host/folders.ts';
import { type JudgedSession, clientsOf } from '../../sessions/records.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import type { CommandResult } from '../result.ts';
import {
  type Asker,
  type DirtyWork,
  type WorkTree,
  askerOf,
  lookAtWork,
  openClaims,
} from '../../changes/dirty-work.ts';
import { type Taker, type Target, takeIn } from './hand-over.ts';
import { type PathArgument, isNamed, parsePathArgument } from '../../changes/path-argument.ts';
import type { TakenPathShape } from '../shapes.ts';
import { prefixIn, workTreeOf } from './status.ts';
import { judgedSessions, openWorkspace } from '../workspace.ts';

interface TakePathsOptions {
  readonly paths: readonly string[];
  readonly session: string | undefined;
}

export interface TakePathsValue {
  /** Top of the working tree that the command ran in, and where in it; both empty in a bare repository. */
  readonly worktree: string;
  readonly prefix: string;
  readonly items: readonly TakenPathShape[];
}

/**
 * Becomes the owner of other sessions' uncommitted changes, on the record; they are told. Nothing on the disk
 * changes. All paths or none: the names are looked at before the first claim moves.
 */
export async function takePaths(
  options: TakePathsOptions,
  context: Context,
): Promise<CommandResult<TakePathsValue>> {
  const { cwd, now } = context;
  const [{ repository, sessions, notices }, settings] = await Promise.all([
    openWorkspace(context),
    readSettings(cwd),
  ]);
  const { commonDir } = repository;
  if (!isInitialised(commonDir)) {
    throw new Failure('not-found', 'no session is on record in this repository', {
      hint: 'git handoff init',
    });
  }
  const current = await workTreeOf(repository);
  const named = options.paths.map((path) => parsePathArgument(path, cwd, commonDir, current));
  const judged = judgedSessions({ repository, sessions }, settings, now);
  const taker = await takerOf(options, context, judged);
  const plans: { work: DirtyWork; targets: readonly Target[] }[] = [];
  for (const tree of new Set(named.map((one) => one.tree.gitDir))) {
    const here = named.filter((one) => one.tree.gitDir === tree);
    const work = await lookAtWork(here[0]?.tree as WorkTree, judged, now, { keep: true });
    plans.push({ work, targets: targetsOf(here, work, taker.asker) });
  }
  const items: TakenPathShape[] = [];
  for (const { work, targets } of plans) items.push(...(await takeIn(work, targets, taker, judged)));
  const worktree = current?.top ?? '';
  return { value: { worktree, prefix: prefixIn(worktree, cwd), items }, notices, clients: clientsOf(judged) };
}

async function takerOf(
  { session: option }: TakePathsOptions,
  context: Context,
  judged: readonly JudgedSession[],
): Promise<Taker> {
  const { now } = context;
  const found = findSession(context, judged, option)?.id;
  const session = found?.startsWith('person-') === true ? undefined : found;
  if (session !== undefined && !judged.some(({ record }) => record.session === session)) {
    throw new Failure('not-found', `session ${escapeLine(shortId(session))} is not on record here`, {
      hint: 'git handoff sessions --all',
    });
  }
  const { email = '' } = found === undefined ? await committer(context.cwd) : {};
  const id = found ?? personId(email, (text) => hash('sha256', text));
  return { session, id, asker: askerOf(session, judged), now };
}

function targetsOf(named: readonly PathArgument[], work: DirtyWork, asker: Asker): Target[] {
  const targets = new Map<string, Target>();
  for (const one of named)
    for (const target of pathsBelow(one, work, asker)) targets.set(target.dirty.path, target);
  return [...targets.values()];
}

/** The path itself, or everything below it that somebody has claimed. */
function pathsBelow({ typed, path }: PathArgument, work: DirtyWork, asker: Asker): Target[] {
  const target = (dirty: DirtyPath): Target => {
    const { own, foreign, left } = openClaims(work, dirty, asker);
    return { dirty, own, others: [...foreign, ...left] };
  };
  const exact = work.snapshot.dirty.get(path);
  if (exact !== undefined) return [target(exact)];
  const below = [...work.snapshot.dirty.values()].filter((dirty) => isNamed(dirty.path, path));
  const claimed = below.map(target).filter(({ own, others }) => own.length + others.length > 0);
  if (claimed.length > 0) return claimed;
  const name = escapeLine(typed);
  const message =
    below.length === 0
      ? `${name} has no uncommitted change`
      : `no session has changed anything below ${name}`;
  throw new Failure('not-found', message, { hint: 'git handoff status' });
}
