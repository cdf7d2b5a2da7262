import { join } from 'node:path';
import type { Settings } from '../../domain/settings.ts';
import { randomHex } from '../../git/hash.ts';
import { escapeLine } from '../../domain/messages.ts';
import { type Repository, topLevel } from '../../git/repository.ts';
import { homeFolder, repositoryFolder, stateFolder } from '../../host/folders.ts';
import { readLog } from '../../host/log.ts';
import { exists, quietly } from '../../host/disk.ts';
import {
  type ClientInstaller,
  HOW_TO_INSTALL,
  type SettingsFolders,
  packageFile,
  testedWith,
} from '../../install/client.ts';
import { INSTALLERS } from '../../install/clients.ts';
import { isInUse } from '../../install/choose-clients.ts';
import { isHarmless, guardCommand } from '../../install/guard-command.ts';
import {
  type ClientSettings,
  readClientSettings,
  type RegisteredHook,
  fireHook,
  PROBE_TOOL,
} from '../../install/probe.ts';
import { readSettingsText } from '../../install/client-packages.ts';
import { isExecutable, programsOnPath } from '../../install/programs.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CheckShape } from '../shapes.ts';
import { doctorLine } from './repository-checks.ts';

/**
 * Sends a harmless call, in the client's own format, through every registered command line, and checks whether the guard saw
 * it. Reports settings that keep a client from running its hooks. An unregistered client that is in use is worth a warning.
 * It is a problem if no client at all is registered.
 */
export async function checkClients(
  repository: Repository,
  settings: Settings,
  context: Context,
  packageRoot: string,
): Promise<CheckShape[]> {
  const launcher = join(packageRoot, 'bin', 'git-handoff');
  const places = {
    home: homeFolder(context.env),
    env: context.env,
    cwd: context.cwd,
    topLevel: await topLevel(repository),
  };
  const reach = { repository, context, launcher };
  const found = INSTALLERS.map((installer) => ({
    installer,
    files: readClientSettings(installer, places),
    packageFile: packageFile(installer, places),
  }));
  const isAnyGuarded = found.some(isGuarded);
  const checks: CheckShape[] = [];
  for (const one of found) {
    const { installer, files } = one;
    const name = `hooks (${installer.client})`;
    const broken = files.filter(isOursBroken);
    checks.push(...broken.map((file) => brokenCheck(name, 'problem', file)));
    if (isGuarded(one)) {
      checks.push(...files.flatMap((file) => fileChecks(name, installer, file, reach)));
      checks.push(...packageChecks(one, reach), ...doubleChecks(name, one, found));
      checks.push(...offChecks(name, installer, files, places));
      continue;
    }
    const isDefault = installer === INSTALLERS[0] && !isAnyGuarded;
    if (broken.length > 0 || !(isDefault || isInUse(installer, places))) continue;
    const status = isDefault && settings.enabled === true ? 'problem' : 'warning';
    const [unread] = files.filter((file) => file.broken !== undefined);
    const hint = `git handoff init --client ${installer.client}`;
    checks.push(
      unread === undefined
        ? doctorLine(name, status, 'not registered: this client runs unguarded', hint)
        : brokenCheck(name, status, unread),
    );
  }
  return checks;
}

/** Whether a settings file is broken and names git-handoff: other broken files are not reported. */
function isOursBroken({ broken, text }: ClientSettings): boolean {
  return broken !== undefined && text.includes('git-handoff');
}

function brokenCheck(
  name: string,
  status: CheckShape['status'],
  { file, broken = '' }: ClientSettings,
): CheckShape {
  const detail = `${escapeLine(file)} is ${escapeLine(broken)}: the client runs no hook from it`;
  return doctorLine(name, status, detail, 'fix that file, then run: git handoff doctor');
}

function fileChecks(
  name: string,
  installer: ClientInstaller,
  settings: ClientSettings,
  reach: Reach,
): CheckShape[] {
  const { missingEvents, file, scope, hooks } = settings;
  const option = scope === 'user' ? '' : ` --${scope}`;
  const init = `git handoff init --client ${installer.client}${option}`;
  const found = hooks.map((hook) => {
    if (isHarmless(hook, installer, reach.launcher)) return reachGuard(hook, installer, reach, init);
    const detail = `the command in ${escapeLine(hook.file)} is not what git-handoff writes there: it was not tried`;
    return doctorLine(name, 'warning', detail, init);
  });
  if (missingEvents.length > 0) {
    const detail = `${escapeLine(file)} registers nothing for ${missingEvents.join(', ')}: not every call is seen`;
    found.push(doctorLine(name, 'warning', detail, init));
  }
  return found;
}

/** Checks for settings, in any of the client's files, that keep the hooks from running. */
function offChecks(
  name: string,
  installer: ClientInstaller,
  files: readonly ClientSettings[],
  places: SettingsFolders,
): CheckShape[] {
  const switches = installer.switches?.(installer.folder(places), places) ?? [];
  const others = switches.map((file) => ({ file, text: readSettingsText(file) ?? '' }));
  return [...files, ...others].flatMap(({ file, text }) =>
    // A file that cannot be parsed is left to `brokenCheck`.
    (quietly(() => installer.warnings(text)) ?? []).map((warning) => {
      const detail = `${escapeLine(file)}: ${warning}`;
      return doctorLine(name, 'problem', detail, 'remove that setting, then run: git handoff doctor');
    }),
  );
}

/** A client with its settings files, and the file that enables the client's own package of hooks. */
interface FoundClient {
  readonly installer: ClientInstaller;
  readonly files: readonly ClientSettings[];
  readonly packageFile: string | undefined;
}

function isGuarded({ files, packageFile }: FoundClient): boolean {
  return packageFile !== undefined || files.some(({ hooks }) => hooks.length > 0);
}

/** Checks the command in the client's package, which the client looks up on PATH. */
function packageChecks({ installer, packageFile }: FoundClient, reach: Reach): CheckShape[] {
  if (packageFile === undefined) return [];
  const command = guardCommand(installer, 'project', reach.launcher);
  const hook = { scope: 'project', file: packageFile, command } as const;
  return [reachGuard(hook, installer, reach, HOW_TO_INSTALL)];
}

/** Warns if a client starts the guard twice at every event, because each call then costs double. */
function doubleChecks(
  name: string,
  { files, packageFile }: FoundClient,
  all: readonly FoundClient[],
): CheckShape[] {
  const registered = files.filter(({ hooks }) => hooks.length > 0).map(({ file }) => file);
  const places = [...registered, ...(packageFile === undefined ? [] : [packageFile])].map(escapeLine);
  if (places.length < 2) return [];
  const others = all.filter((one) => one.packageFile === undefined && isGuarded(one));
  const clients = others.map((one) => one.installer.client).join(',') || 'none';
  const again = `git handoff uninstall --user --yes && git handoff init --yes --client ${clients}`;
  const detail = `every event starts the guard more than once: ${places.join(' and ')}`;
  return [doctorLine(name, 'warning', detail, packageFile === undefined ? null : again)];
}

interface Reach {
  readonly repository: Repository;
  readonly context: Context;
  readonly launcher: string;
}

/**
 * Sends a call through a registered command line, and checks whether the guard logged it under the client's name.
 *
 * @param init the command that registers the hooks again
 */
function reachGuard(
  hook: RegisteredHook,
  installer: ClientInstaller,
  { repository, context }: Reach,
  init: string,
): CheckShape {
  const nonce = randomHex(8);
  const { client, note } = installer;
  const { cwd } = context;
  const payload = { ...installer.probe('doctor', cwd), cwd, tool_name: PROBE_TOOL, tool_input: {} };
  const { status, shell } = fireHook(hook, installer, payload, {
    cwd,
    env: { ...context.env, GIT_HANDOFF_PROBE: nonce },
  });
  const folders = [repositoryFolder(repository.commonDir), stateFolder(context.env)];
  const lines = folders.flatMap((folder) => readLog(folder).split('\n'));
  const logged = lines.find((line) => line.includes(nonce));
  const file = escapeLine(hook.file);
  if (status === 0 && logged?.includes(`"client":"${client}"`) === true) {
    const detail = `the guard is reached from ${file}; ${testedWith(installer)}`;
    return doctorLine(`hooks (${client})`, 'ok', note === undefined ? detail : `${detail}; ${note}`);
  }
  const exit = `exit status ${status ?? 'none'} of ${escapeLine(shell)}`;
  const why =
    reason(client, hook, context.env) ??
    (logged === undefined ? exit : 'its calls count as those of another client');
  const detail = `the command in ${file} does not reach the guard (${why}): calls pass unguarded`;
  return doctorLine(`hooks (${client})`, 'problem', detail, init);
}

/** Returns why the command ends silently, if a known reason applies. */
function reason(client: string, { command }: RegisteredHook, env: NodeJS.ProcessEnv): string | undefined {
  if (env['GIT_HANDOFF'] === 'off') return 'GIT_HANDOFF=off is set';
  const quoted = /^p='((?:[^']|'\\'')*)'; \[ -x/.exec(command)?.[1];
  if (quoted !== undefined) {
    const path = quoted.replaceAll("'\\''", "'");
    if (isExecutable(path)) return undefined;
    return exists(path)
      ? `${escapeLine(path)} is not executable`
      : `the package is not at ${escapeLine(path)} any more`;
  }
  const [first] = programsOnPath(env);
  if (first === undefined) return 'git-handoff is not on PATH';
  if (!first.isOurs) return `${escapeLine(first.path)}, the first git-handoff on PATH, is another program`;
  return client === 'codex' ? 'perhaps your login shell sets a PATH without git-handoff' : undefined;
}

/** Checks the Node whose path `init` stored for the hooks. If that Node is gone, the hooks need one on the client's PATH. */
export function checkNode(env: NodeJS.ProcessEnv): CheckShape[] {
  const file = join(stateFolder(env), 'node');
  const stored = readSettingsText(file)?.replace(/\n$/, '');
  if (stored === undefined || isExecutable(Buffer.from(stored, 'latin1').toString('utf8'))) return [];
  const folders = (env['PATH'] ?? '').split(':').filter((folder) => folder.startsWith('/'));
  const other = folders.some((folder) => isExecutable(join(folder, 'node')));
  const gone = `the Node that starts the hooks is gone (${escapeLine(stored)})`;
  const [status, now] = other
    ? (['warning', 'they take the one on PATH'] as const)
    : (['problem', 'and PATH has no Node either: every call passes unguarded'] as const);
  return [doctorLine('node', status, `${gone}: ${now}`, 'git handoff init')];
}

/** Checks the programs on PATH that are named git-handoff. */
export function checkName(env: NodeJS.ProcessEnv): CheckShape[] {
  const hint = "put the folder of git-handoff's own program first on PATH, or remove the other program";
  return programsOnPath(env).flatMap(({ path, isOurs }, at) => {
    if (isOurs) return [];
    const detail = `${escapeLine(path)} is another program of the same name`;
    if (at > 0) return [doctorLine('program', 'warning', `${detail}, after ours on PATH`)];
    const first = `${detail}, and the first on PATH: git handoff and project hooks start it`;
    return [doctorLine('program', 'problem', first, hint)];
  });
}
