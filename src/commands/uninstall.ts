import { applyChanges } from '../install/apply.ts';
import { INSTALLERS } from '../install/clients.ts';
import type { InstallContext } from '../install/context.ts';
import { describeChanges } from '../install/describe.ts';
import { planUninstall } from '../install/plan-uninstall.ts';
import { readUninstallFacts } from '../install/uninstall-facts.ts';
import { type InstallResult, requireWritablePlaces, result } from './init.ts';

export interface UninstallOptions {
  /** Do not ask. Without a terminal nobody is asked either: what goes can be had again with `init`. */
  readonly yes: boolean;
  /** Remove the hooks in the user's settings even when other repositories use them. */
  readonly user: boolean;
}

/**
 * Takes back what `init` did in this repository, byte for byte where nobody edited the files since, else by
 * removing our entries alone. The notes under `refs/handoffs/` stay.
 *
 * @throws Failure `environment` (no repository, not writable: then nothing is changed), `integrity`
 */
export async function uninstall(options: UninstallOptions, context: InstallContext): Promise<InstallResult> {
  const facts = await readUninstallFacts(context, INSTALLERS, options.user);
  const planned = planUninstall(facts, INSTALLERS, options.user);
  const { changes } = planned;
  const notices = [...planned.notices, 'handoffs stay in the repository, under refs/handoffs/'];
  if (changes.length === 0) return result('unchanged', '', [], planned.notices);
  await requireWritablePlaces(changes);
  const plan = describeChanges(changes);
  if (!options.yes && context.confirm !== undefined && !(await context.confirm(plan))) {
    return result('declined', plan, [], planned.notices);
  }
  await applyChanges(changes);
  return result('applied', plan, changes, notices);
}
