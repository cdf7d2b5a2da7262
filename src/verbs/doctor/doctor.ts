import { escapeLine } from '../../domain/messages.ts';
import { readSettings } from '../../git/config.ts';
import { committer, openRepository } from '../../git/repository.ts';
import { readTopics } from '../../notes/topic.ts';
import type { Context } from '../../sessions/caller.ts';
import { type Rendered, type TextContext, columns } from '../../ui/terminal.ts';
import type { CommandResult } from '../verb.ts';
import type { CheckShape } from '../shapes.ts';
import { checkClients, checkName, checkNode } from './client-checks.ts';
import {
  checkGitHooks,
  checkGit,
  checkHookLog,
  checkInit,
  checkRemotes,
  checkBrokenRefs,
  checkLeftovers,
  checkLocks,
  checkShared,
  checkTryTree,
} from './repository-checks.ts';
import { checkObjects, checkRefs, checkWork } from './note-checks.ts';

interface DoctorOptions {
  /** Whether to repair what can be repaired without losing anything. */
  readonly fix: boolean;
  readonly packageRoot: string;
}

interface DoctorValue {
  readonly items: readonly CheckShape[];
}

/**
 * Checks that hooks reach the guard, that every handoff can be read and none was moved by hand, and that dead processes
 * left nothing behind. Exit status 1: something is wrong.
 */
export async function doctor(options: DoctorOptions, context: Context): Promise<CommandResult<DoctorValue>> {
  const { cwd, now } = context;
  const { fix, packageRoot } = options;
  const [repository, settings, person] = await Promise.all([
    openRepository(cwd),
    readSettings(cwd),
    committer(cwd),
  ]);
  const around = [
    ...(await checkGit(cwd)),
    ...checkInit(repository, settings, person),
    ...checkNode(context.env),
    ...checkName(context.env),
    ...(await checkClients(repository, settings, context, packageRoot)),
    ...(settings.enabled === true ? await checkGitHooks(repository, packageRoot) : []),
    // Locks come before refs: a lock that stays would keep refs from being repaired.
    ...checkLocks(repository, fix, now),
    ...(await checkBrokenRefs(repository, fix)),
    ...checkLeftovers(repository, fix, now),
    ...checkShared(repository, fix),
    ...checkTryTree(repository),
  ];
  const states = await readTopics(repository);
  const items = [
    ...around,
    ...(await checkRefs(repository, states, fix, now)),
    ...(await checkRemotes(cwd)),
    ...(await checkObjects(repository, fix ? await readTopics(repository) : states)),
    ...(await checkWork(repository, fix, now)),
    ...checkHookLog(repository, context),
  ];
  const wrong = items.some(({ status }) => status === 'problem');
  return { value: { items }, exitCode: wrong ? 1 : 0 };
}

/** Prints a line for each finding, then the commands that repair what is wrong. */
export function renderDoctor({ items }: DoctorValue, { paint }: TextContext): Rendered {
  const shades = { ok: paint.good, fixed: paint.good, warning: paint.mark, problem: paint.bad };
  const rows = columns(
    items.map((item) => [shades[item.status](item.status), item.check, escapeLine(item.detail)]),
  );
  const hints = items.flatMap((item) =>
    item.hint === null || item.status === 'ok' ? [] : [`hint (${item.check}): ${escapeLine(item.hint)}\n`],
  );
  return rows + hints.join('');
}
