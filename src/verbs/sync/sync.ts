import { Failure } from '../../domain/failure.ts';
import { parseBranchName } from '../../domain/names.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { shownAddress } from '../../domain/sync/address.ts';
import { encodeBranch } from '../../git/namespace.ts';
import { openRepository } from '../../git/repository.ts';
import { readTopics } from '../../notes/topic.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import type { CommandResult } from '../result.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import type { SyncShape } from '../shapes.ts';
import { chooseRemotes } from './choose-remotes.ts';
import { askShown, syncRemote } from './one-remote.ts';
import { checkRemotePrefix } from '../../domain/sync/remote-prefix.ts';
import { retireWork, stayedNotices, workRefs } from './retire-work.ts';
import { leavingWork, sendWork } from './send-work.ts';
import { syncFailure } from './sync-failure.ts';
import { openWorkspace } from '../workspace.ts';
import type { SyncOptions } from './world.ts';

export interface SyncValue {
  readonly dryRun: boolean;
  readonly items: readonly SyncShape[];
  readonly remotes: readonly SyncedRemote[];
}

/** What one remote has to do with all this. */
interface SyncedRemote {
  readonly remote: string;
  readonly url: string;
  /** Handoffs that are the same here and there. */
  readonly same: number;
}

/**
 * Brings handoffs from remotes and to them: what moved there is folded into what is here, what is here is
 * pushed, neither ever by force. A part that fails does not keep the rest from being done; the result's failure says so.
 *
 * @throws Failure `remote` when the only remote cannot be asked, `usage` for one that is not configured
 */
export async function sync(options: SyncOptions, context: Context): Promise<CommandResult<SyncValue>> {
  const component = branchComponent(options.branch);
  const repository = await openRepository(context.cwd);
  const chosen = chooseRemotes(repository, options.remotes);
  const asked = chosen.then(({ remotes: [first], settings }) => {
    const prefix = checkRemotePrefix(settings.remotePrefix);
    return askShown({ repository, options, prefix, component }, first);
  });
  // Awaited when its turn comes.
  asked.catch(() => undefined);
  const [{ sessions, notices }, { remotes, settings }, states, kept, leaving] = await Promise.all([
    openWorkspace(context, repository),
    chosen,
    readTopics(repository, component),
    workRefs(repository),
    options.withWork.length === 0 ? [] : leavingWork({ repository, options }, options.withWork),
  ]);
  const prefix = checkRemotePrefix(settings.remotePrefix);
  const illegal = await reportIllegalMoves(repository, states, context.now);
  const me = findSession(context, sessions, options.session)?.id;
  const world = { repository, sessions, context, options, prefix, component, me };
  const items: SyncShape[] = [];
  const summaries: SyncedRemote[] = [];
  const failures: Failure[] = [];
  for (const [at, remote] of remotes.entries()) {
    try {
      await sendWork(world, remote, leaving);
      const done = await syncRemote(world, remote, at === 0 ? { states, shown: asked } : undefined);
      items.push(...done.items);
      summaries.push({ remote: remote.name, url: shownAddress(remote.url), same: done.same });
      if (options.push && !options.dryRun && kept.length > 0) await retireWork(world, remote, kept, states);
    } catch (error) {
      if (!(error instanceof Failure) || remotes.length === 1) throw error;
      failures.push(error);
    }
  }
  const stayed = kept.length === 0 ? [] : stayedNotices(items, states, kept, leaving);
  const failure = allOf(failures) ?? syncFailure(items, settings.remotePrefix);
  return {
    value: { dryRun: options.dryRun, items, remotes: summaries },
    notices: [...notices, ...illegal, ...stayed],
    ...(failure === undefined ? {} : { failure }),
  };
}

/** Every remote that could not be asked, with the next command for the first. */
function allOf(failures: readonly Failure[]): Failure | undefined {
  const [first, ...more] = failures;
  if (first === undefined || more.length === 0) return first;
  const { code, hint } = first;
  const message = failures.map((one) => one.message).join('; ');
  return new Failure(code, message, hint === undefined ? {} : { hint });
}

function branchComponent(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const branch = parseBranchName(text);
  if (branch !== undefined) return encodeBranch(branch);
  throw new Failure('usage', `not a branch name: ${escapeLine(JSON.stringify(text))}`, {
    hint: 'git branch --list',
  });
}
