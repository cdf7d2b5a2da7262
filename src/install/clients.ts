import { dirname } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { claudeInstaller } from './claude.ts';
import type { ClientInstaller, Places, Scope } from './client.ts';
import { codexInstaller } from './codex.ts';
import { copilotInstaller } from './copilot.ts';
import { cursorInstaller } from './cursor.ts';
import { exists } from './disk.ts';
import { geminiInstaller } from './gemini.ts';

/** Every client whose settings `init` can edit. */
export const INSTALLERS: readonly ClientInstaller[] = [
  claudeInstaller,
  codexInstaller,
  geminiInstaller,
  cursorInstaller,
  copilotInstaller,
];

/** Stands for every client that is in use here. */
const ALL = 'all';

/** The installers that a command line asks for, and what to say about the choice. */
export interface ChosenInstallers {
  readonly installers: readonly ClientInstaller[];
  readonly notices: readonly string[];
}

/**
 * Finds the installers by their clients' names. `all` is every client that has its settings folder (a client
 * makes it when it first runs) and settings of that scope.
 *
 * @throws Failure `usage` for a client that we do not know, and for `all` where there is none
 */
export async function chooseInstallers(
  names: readonly string[],
  scope: Scope,
  places: Places,
): Promise<ChosenInstallers> {
  if (names.includes(ALL)) return installersInUse(scope, places);
  return { installers: [...new Set(names)].map(installerOf), notices: [] };
}

function installerOf(client: string): ClientInstaller {
  const installer = INSTALLERS.find((candidate) => candidate.client === client);
  if (installer !== undefined) return installer;
  const known = INSTALLERS.map((candidate) => candidate.client).join(', ');
  throw new Failure('usage', `unknown client ${JSON.stringify(client)}; there are ${known} and ${ALL}`, {
    hint: 'git handoff init --client claude',
  });
}

async function installersInUse(scope: Scope, places: Places): Promise<ChosenInstallers> {
  const installers: ClientInstaller[] = [];
  const absent: string[] = [];
  for (const installer of INSTALLERS) {
    if (!(await isInUse(installer, places))) {
      absent.push(`${installer.client} (no folder ${userFolder(installer, places)})`);
    } else if (!hasScope(installer, scope, places)) {
      absent.push(`${installer.client} (no settings for --${scope})`);
    } else installers.push(installer);
  }
  if (installers.length === 0) {
    throw new Failure('usage', `no client is in use here: ${absent.join(', ')}`, {
      hint: 'git handoff init --client claude',
    });
  }
  const chosen = installers.map(({ client }) => client).join(', ');
  const left = absent.length === 0 ? '' : `; left out: ${absent.join(', ')}`;
  return { installers, notices: [`clients: ${chosen}${left}`] };
}

/** Whether a client has been used on this account: it makes the folder of its settings when it first runs. */
export function isInUse(installer: ClientInstaller, places: Places): Promise<boolean> {
  return exists(userFolder(installer, places));
}

/** Where a client keeps what is this user's: its settings, its skills. */
export function userFolder(installer: ClientInstaller, places: Places): string {
  return installer.userFolder?.(places) ?? dirname(installer.settingsFile('user', places) ?? places.home);
}

function hasScope(installer: ClientInstaller, scope: Scope, places: Places): boolean {
  return installer.settingsFile(scope, { ...places, topLevel: places.topLevel ?? places.cwd }) !== undefined;
}
