import { escapeLine } from '../../domain/surfacing.ts';
import type { ClientInstaller } from '../../install/client.ts';
import { guardCommand } from '../../install/guard-command.ts';
import type { ClientSettings } from '../../install/probe.ts';
import type { CheckShape } from '../shapes.ts';
import { doctorLine } from './finding.ts';
import { type Reach, reachGuard } from './reach-guard.ts';

/** A client with the settings files that were found, and the file that switches its own package of hooks on. */
interface FoundClient {
  readonly installer: ClientInstaller;
  readonly files: readonly ClientSettings[];
  readonly packageFile: string | undefined;
}

/** Whether the client starts the guard at all. */
export function isGuarded({ files, packageFile }: FoundClient): boolean {
  return packageFile !== undefined || files.some(({ hooks }) => hooks.length > 0);
}

/** Fires the command that the client's package brings: it looks on PATH. */
export function packageChecks({ installer, packageFile }: FoundClient, reach: Reach): CheckShape[] {
  if (packageFile === undefined) return [];
  const { client } = installer;
  const command = guardCommand(installer, 'project', reach.launcher);
  const hook = { client, scope: 'project', file: packageFile, command } as const;
  return [{ check: `hooks (${client})`, ...reachGuard(hook, installer, reach, 'npm i -g git-handoff') }];
}

/** A client that starts the guard twice at every event pays twice for every call. */
export function doubleChecks(
  { installer, files, packageFile }: FoundClient,
  all: readonly FoundClient[],
): CheckShape[] {
  const registered = files.filter(({ hooks }) => hooks.length > 0).map(({ file }) => file);
  const places = [...registered, ...(packageFile === undefined ? [] : [packageFile])].map(escapeLine);
  if (places.length < 2) return [];
  const detail = `every event starts the guard ${places.length === 2 ? 'twice' : 'several times'}: ${places.join(' and ')}`;
  const name = `hooks (${installer.client})`;
  if (packageFile === undefined) return [doctorLine(name, 'warning', `${detail}; one of them is enough`)];
  const others = all.filter((one) => one.packageFile === undefined && isGuarded(one));
  const clients = others.map((one) => one.installer.client).join(',') || 'none';
  const hint = `git handoff uninstall --user --yes && git handoff init --yes --client ${clients}`;
  return [doctorLine(name, 'warning', detail, hint)];
}
