import { dirname, join, relative } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { stateFolder } from '../host/folders.ts';
import type { ClientInstaller, Scope } from './client.ts';
import type { InstallContext } from './context.ts';
import { followLinks, missingFolders, readBytes } from './disk.ts';
import { type HookFacts, readHooks } from './hook-facts.ts';
import {
  type RepositoryFacts,
  configWith,
  isEnabled,
  isIgnored,
  readRepository,
} from './repository-facts.ts';
import { repositoryEntry } from './user-state.ts';

/** One file's place and bytes. */
export interface FileFacts {
  readonly path: string;
  readonly bytes: Buffer | undefined;
}

/** All that the plan of `init` depends on, read once. */
export interface InstallFacts {
  readonly scope: Scope;
  readonly installer: ClientInstaller;
  readonly packageRoot: string;
  readonly nodePath: string;
  readonly repository: RepositoryFacts;
  /** The config with `handoff.enabled = true`; undefined when it is so already. */
  readonly enabledConfig: Buffer | undefined;
  readonly hooks: readonly HookFacts[];
  readonly settings: FileFacts;
  /** `info/exclude` and the line it needs, when the settings file would show up in `git status`. */
  readonly exclude: (FileFacts & { readonly pattern: string }) | undefined;
  readonly node: FileFacts;
  readonly entry: FileFacts;
  readonly repositoryReceipt: FileFacts;
  readonly userReceipt: FileFacts;
  /** For each folder that a file of ours lies in: the folders on the way that do not exist. */
  readonly missing: ReadonlyMap<string, readonly string[]>;
}

/** Reads one file, through its symbolic links. */
export async function fileFacts(path: string): Promise<FileFacts> {
  const real = await followLinks(path);
  return { path: real, bytes: await readBytes(real) };
}

/**
 * Reads everything that `planInstall` needs; changes nothing.
 *
 * @throws Failure `environment` (no repository, unreadable), `usage` (no working tree for that scope)
 */
export async function readInstallFacts(
  context: InstallContext,
  installer: ClientInstaller,
  scope: Scope,
): Promise<InstallFacts> {
  const { git } = context;
  const repository = await readRepository(git, context.cwd);
  const settingsPath = installer.settingsFile(scope, { ...context, topLevel: repository.topLevel });
  if (settingsPath === undefined) {
    throw new Failure('usage', `there is no working tree here for --${scope}`, {
      hint: 'git handoff init --yes',
    });
  }
  const state = stateFolder({ ...context.env, HOME: context.home });
  const settings = await fileFacts(settingsPath);
  const { topLevel } = repository;
  const visible = scope === 'local' && topLevel !== undefined && !(await isIgnored(git, settingsPath));
  const facts = {
    scope,
    installer,
    packageRoot: context.packageRoot,
    nodePath: context.nodePath,
    repository,
    enabledConfig: isEnabled(repository.enabled)
      ? undefined
      : await configWith(git, repository.config, ['true']),
    hooks: repository.hooksFolder === undefined ? [] : await readHooks(git, repository.hooksFolder),
    settings,
    exclude: visible
      ? {
          ...(await fileFacts(join(repository.commonDir, 'info', 'exclude'))),
          pattern: `/${relative(topLevel, settingsPath)}`,
        }
      : undefined,
    node: await fileFacts(join(state, 'node')),
    entry: await fileFacts(repositoryEntry(state, repository.commonDir)),
    repositoryReceipt: await fileFacts(join(repository.commonDir, 'handoff', 'install.json')),
    userReceipt: await fileFacts(join(state, 'install.json')),
  };
  return { ...facts, missing: await readMissing(facts) };
}

async function readMissing(facts: Omit<InstallFacts, 'missing'>): Promise<Map<string, string[]>> {
  const { settings, exclude, node, entry, repositoryReceipt, userReceipt, hooks } = facts;
  const files = [settings, exclude, node, entry, repositoryReceipt, userReceipt, ...hooks];
  const folders = files.flatMap((file) => (file === undefined ? [] : [dirname(file.path)]));
  folders.push(join(facts.repository.commonDir, 'handoff', 'beat'));
  const missing = new Map<string, string[]>();
  for (const folder of new Set(folders)) missing.set(folder, await missingFolders(folder));
  return missing;
}
