import { dirname, join, relative } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { repositoryEntry, stateFolder } from '../host/folders.ts';
import type { ClientInstaller, InstallContext } from './client.ts';
import type { InstallScope } from './guard-command.ts';
import { type DiskFile, readFileFacts, missingFolders, resolvedPath } from './disk.ts';
import { configWithoutUs, wantedConfig } from './edit-config.ts';
import { type HookFacts, readHooks } from './hook-facts.ts';
import { type InstructionFacts, readInstructionFiles } from './instruction-files.ts';
import { hooksForConfig } from './plan-hooks.ts';
import { parseReceipt } from './receipt.ts';
import { type RepositoryFacts, isIgnored, readRepository } from './repository-facts.ts';
import { type SkillFacts, readSkills } from './skill.ts';

export interface SettingsFacts extends DiskFile {
  readonly installer: ClientInstaller;
}

/** All that the plan of `init` depends on, read once. */
export interface InstallFacts {
  readonly scope: InstallScope;
  readonly packageRoot: string;
  readonly nodePath: string;
  readonly repository: RepositoryFacts;
  /** The config as it is to be, and as it was before us. */
  readonly config: { readonly wanted: Buffer; readonly without: Buffer };
  readonly hooks: readonly HookFacts[];
  /** Also register the user's prompts in clients that ask for trust. */
  readonly nudge: boolean;
  /** One for each client whose hooks are wanted. */
  readonly settings: readonly SettingsFacts[];
  /** `info/exclude` and the lines it needs, when settings files would show up in `git status`. */
  readonly exclude: (DiskFile & { readonly patterns: readonly string[] }) | undefined;
  /** The project's instruction files, when they are to tell of us. */
  readonly instructions: readonly InstructionFacts[] | undefined;
  /** The skill of each client, when it is wanted. */
  readonly skills: readonly SkillFacts[];
  readonly node: DiskFile;
  readonly entry: DiskFile;
  readonly repositoryReceipt: DiskFile;
  readonly userReceipt: DiskFile;
  /** For each folder that a file of ours lies in: the folders on the way that do not exist. */
  readonly missing: ReadonlyMap<string, readonly string[]>;
}

/** What `init` sets up besides hooks, when it is asked for. */
export interface Texts {
  readonly instructions: boolean;
  readonly skill: boolean;
  /** Also register the user's prompts in clients that ask for trust. */
  readonly nudge?: boolean;
}

/**
 * Reads everything that `planInstall` needs; changes nothing.
 *
 * @throws Failure `environment` (no repository, unreadable), `usage` (a client without settings of that scope)
 */
export async function readInstallFacts(
  context: InstallContext,
  installers: readonly ClientInstaller[],
  scope: InstallScope,
  texts: Texts = { instructions: false, skill: false },
): Promise<InstallFacts> {
  const { git } = context;
  const repository = await readRepository(git, context.cwd);
  const state = stateFolder({ ...context.env, HOME: context.home });
  const paths = installers.map((installer) => settingsPath(installer, scope, context, repository));
  const hooks = repository.hooksFolder === undefined ? [] : await readHooks(git, repository.hooksFolder);
  const repositoryReceipt = await readFileFacts(join(repository.commonDir, 'handoff', 'install.json'));
  const facts = {
    scope,
    nudge: texts.nudge === true,
    packageRoot: context.packageRoot,
    nodePath: context.nodePath,
    repository,
    config: await readConfig(context, repository, hooks, repositoryReceipt),
    hooks,
    settings: await Promise.all(
      paths.map(async ({ installer, path }) => ({
        installer,
        ...(await settingsAt(path, scope, repository)),
      })),
    ),
    exclude:
      scope === 'local'
        ? await readExclude(
            context,
            repository,
            paths.map(({ path }) => path),
          )
        : undefined,
    instructions: texts.instructions ? await readInstructions(repository) : undefined,
    skills: texts.skill ? await readSkills(installers, { ...context, topLevel: undefined }) : [],
    node: await readFileFacts(join(state, 'node')),
    entry: await readFileFacts(repositoryEntry(state, repository.commonDir)),
    repositoryReceipt,
    userReceipt: await readFileFacts(join(state, 'install.json')),
  };
  return { ...facts, missing: await readMissing(facts) };
}

async function readConfig(
  { git, packageRoot }: InstallContext,
  repository: RepositoryFacts,
  hooks: readonly HookFacts[],
  { bytes, path }: DiskFile,
): Promise<InstallFacts['config']> {
  const receipt = parseReceipt(bytes, path);
  const isUntouched =
    repository.configHooks.size === 0 && !receipt.files.some(({ role }) => role === 'config');
  const wanted = hooksForConfig(repository, hooks, packageRoot);
  return {
    wanted: await wantedConfig(git, repository, wanted, packageRoot),
    without: isUntouched
      ? repository.config
      : await configWithoutUs(git, repository, receipt.enabledBefore ?? repository.enabled),
  };
}

function settingsPath(
  installer: ClientInstaller,
  scope: InstallScope,
  context: InstallContext,
  { topLevel }: RepositoryFacts,
): { installer: ClientInstaller; path: string } {
  const path = installer.settingsFile(scope, { ...context, topLevel });
  if (path !== undefined) return { installer, path };
  const why =
    topLevel === undefined ? 'there is no working tree here' : `${installer.client} has no settings`;
  throw new Failure('usage', `${why} for --${scope}`, {
    hint: `git handoff init --yes --client ${installer.client}`,
  });
}

/** A link in the working tree comes with the repository: who wrote that must not choose which file of the user's is changed. */
async function settingsAt(
  path: string,
  scope: InstallScope,
  { topLevel }: RepositoryFacts,
): Promise<DiskFile> {
  const facts = await readFileFacts(path);
  if (scope === 'user' || topLevel === undefined) return facts;
  const [real, top] = await Promise.all([resolvedPath(facts.path), resolvedPath(topLevel)]);
  if (!/^(?:\.\.|\.git)(?:\/|$)/.test(relative(top, real))) return facts;
  throw new Failure(
    'environment',
    `${path} is a symbolic link that leads out of the working tree, to ${real}`,
    {
      hint: 'git handoff init',
    },
  );
}

async function readInstructions({ topLevel }: RepositoryFacts): Promise<InstructionFacts[]> {
  if (topLevel !== undefined) return readInstructionFiles(topLevel);
  throw new Failure('usage', 'there is no working tree here for --instructions', {
    hint: 'git handoff init --yes',
  });
}

/** Personal settings in the working tree that git does not overlook yet. */
async function readExclude(
  { git }: InstallContext,
  { topLevel, commonDir }: RepositoryFacts,
  paths: readonly string[],
): Promise<InstallFacts['exclude']> {
  if (topLevel === undefined) return undefined;
  const patterns: string[] = [];
  for (const path of paths) {
    if (!(await isIgnored(git, path))) patterns.push(`/${relative(topLevel, path)}`);
  }
  if (patterns.length === 0) return undefined;
  return { ...(await readFileFacts(join(commonDir, 'info', 'exclude'))), patterns };
}

async function readMissing(facts: Omit<InstallFacts, 'missing'>): Promise<Map<string, string[]>> {
  const { settings, exclude, node, entry, repositoryReceipt, userReceipt, hooks, skills } = facts;
  const files = [...settings, exclude, node, entry, repositoryReceipt, userReceipt, ...hooks, ...skills];
  const folders = files.flatMap((file) => (file === undefined ? [] : [dirname(file.path)]));
  folders.push(join(facts.repository.commonDir, 'handoff', 'beat'));
  const missing = new Map<string, string[]>();
  for (const folder of new Set(folders)) missing.set(folder, await missingFolders(folder));
  return missing;
}
