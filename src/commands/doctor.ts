import { committer, openRepository } from '../git/repository.ts';
import { readSettings } from '../git/config.ts';
import type { CommandResult, Context } from './context.ts';
import { checkGit, checkHookLog, checkInit, checkLocks, checkRefs } from './doctor/repository-checks.ts';
import { checkClients } from './doctor/client-checks.ts';
import type { CheckShape } from './shapes.ts';

export interface DoctorOptions {
  /** Mend what can be mended without losing anything. */
  readonly fix: boolean;
}

export interface DoctorValue {
  readonly items: readonly CheckShape[];
}

/** Checks that hooks are reached, that no handoff was moved by hand, that no lock is left. Exit 1: something is wrong. */
export async function doctor(options: DoctorOptions, context: Context): Promise<CommandResult<DoctorValue>> {
  const { cwd } = context;
  const [repository, settings, person] = await Promise.all([
    openRepository(cwd),
    readSettings(cwd),
    committer(cwd),
  ]);
  const items = [
    ...(await checkGit(cwd)),
    ...checkInit(repository, settings, person),
    ...(await checkClients(repository, settings, context)),
    // A lock that stays would keep the refs from being mended.
    ...checkLocks(repository, options.fix, context.now),
    ...(await checkRefs(repository, options.fix, context.now)),
    ...checkHookLog(repository, context),
  ];
  const wrong = items.some(({ status }) => status === 'problem');
  return { value: { items }, exitCode: wrong ? 1 : 0 };
}
