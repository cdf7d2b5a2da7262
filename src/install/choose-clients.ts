import { Failure } from '../domain/messages.ts';
import { type ClientInstaller, type SettingsFolders, packageFile } from './client.ts';
import { INSTALLERS } from './clients.ts';
import { pathExists } from './disk.ts';
import { isOnPath } from './programs.ts';

const ALL = 'all';
/** Chooses no client: for users who installed our plugins, or who want only git's hooks. */
const NONE = 'none';

interface ChosenInstallers {
  readonly installers: readonly ClientInstaller[];
  readonly notices: readonly string[];
}

/**
 * Finds the installers by their clients' names. `all`, or no name, chooses every client whose settings folder exists (a client
 * makes it when it first runs). If no such folder exists and no name is given, chooses the clients whose program is on PATH, or
 * else Claude Code. Leaves out a client whose plugin has our hooks, unless that client is named.
 *
 * @throws Failure `usage` for an unknown client, for `none` beside others, and when no client is in use
 */
export function chooseInstallers(names: readonly string[], places: SettingsFolders): ChosenInstallers {
  if (names.includes(NONE)) return noInstallers(names);
  const isAsked = names.includes(ALL);
  if (names.length > 0 && !isAsked) return installersNamed([...new Set(names)], places);
  const used = INSTALLERS.filter((installer) => isInUse(installer, places));
  if (used.length > 0 || isAsked) return installersInUse(used, places, isAsked);
  const onPath = INSTALLERS.filter(({ programs }) => isOnPath(programs, places.env));
  return onPath.length > 0 ? installersInUse(onPath, places, false) : installersNamed(['claude'], places);
}

function noInstallers(names: readonly string[]): ChosenInstallers {
  if (names.some((name) => name !== NONE)) {
    throw new Failure('usage', `--client ${NONE} excludes all others`, {
      hint: `git handoff init --client ${NONE}`,
    });
  }
  return { installers: [], notices: ["no client's hooks are registered now; those registered earlier stay"] };
}

function installersNamed(names: readonly string[], places: SettingsFolders): ChosenInstallers {
  const installers = names.map(installerOf);
  const notices = installers.flatMap((installer) => {
    const file = packageFile(installer, places);
    if (file === undefined) return [];
    return [
      `${installer.client}: its plugin has these hooks already (${file}), so every event starts the guard twice; ` +
        "to have git's hooks alone: git handoff uninstall --yes && git handoff init --client none",
    ];
  });
  return { installers, notices };
}

function installersInUse(
  found: readonly ClientInstaller[],
  places: SettingsFolders,
  isAsked: boolean,
): ChosenInstallers {
  const files = new Map(found.map((installer) => [installer, packageFile(installer, places)]));
  const installers = found.filter((installer) => files.get(installer) === undefined);
  const absent = INSTALLERS.flatMap((installer) => {
    const file = files.get(installer);
    if (file !== undefined) return [`${installer.client} (its plugin has the hooks: ${file})`];
    const isMissing = isAsked && !files.has(installer);
    return isMissing ? [`${installer.client} (no folder ${installer.folder(places)})`] : [];
  });
  if (found.length === 0) {
    throw new Failure('usage', `no client is in use here: ${absent.join(', ')}`, {
      hint: 'git handoff init --client claude',
    });
  }
  const chosen = installers.map(({ client }) => client).join(', ') || 'none';
  const left = absent.length === 0 ? '' : `; left out: ${absent.join(', ')}`;
  return { installers, notices: [`clients: ${chosen}${left}`] };
}

/** Whether a client has been used on this account: it makes its settings folder when it first runs. */
export function isInUse(installer: ClientInstaller, places: SettingsFolders): boolean {
  return pathExists(installer.folder(places));
}

export function installerOf(client: string): ClientInstaller {
  const installer = INSTALLERS.find((candidate) => candidate.client === client);
  if (installer !== undefined) return installer;
  const known = INSTALLERS.map((candidate) => candidate.client).join(', ');
  throw new Failure(
    'usage',
    `unknown client ${JSON.stringify(client)}; there are ${known}, ${ALL} and ${NONE}`,
    {
      hint: 'git handoff init --client claude',
    },
  );
}
