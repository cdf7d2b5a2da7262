import { dirname, join } from 'node:path';
import { Failure } from '../domain/messages.ts';
import { hash } from '../git/hash.ts';
import { realPath } from '../host/disk.ts';
import { repositoryEntry, stateFolder } from '../host/folders.ts';
import {
  type Change,
  type FileChange,
  type FileReceipt,
  type PlannedFiles,
  type Receipt,
  formatReceipt,
  mergeReceipt,
  parseReceipt,
  planFile,
} from './changes.ts';
import {
  type ClientInstaller,
  HOW_TO_INSTALL,
  type InstallContext,
  settingsFile,
  testedWith,
} from './client.ts';
import { chooseInstallers } from './choose-clients.ts';
import { type DiskFile, missingFolders, readBytes, readFileFacts } from './disk.ts';
import { configWithoutUs, wantedConfig } from './edit-config.ts';
import { planHooks, readHooks } from './git-hooks.ts';
import type { GitHook } from './hook-block.ts';
import { SettingsError } from './hook-settings.ts';
import { isInWorkingTree, planInstructions, readInstructionFiles } from './instructions.ts';
import { type RepositoryFacts, isEnabled, readRepository } from './repository-facts.ts';

export interface InitGoal {
  /** Whose client settings get the hooks: the user's or the project's. */
  readonly scope: 'user' | 'project';
  /**
   * The clients whose hooks are registered, such as `claude`. `all` or an empty list stands for all in use, `none` for no client.
   * If the list is empty, `init` skips clients whose settings cannot be edited.
   */
  readonly clients: readonly string[];
  /** Whether to mention git-handoff in the project's AGENTS.md and similar files. */
  readonly instructions?: boolean;
  readonly skill?: boolean;
  /** Whether to register the events of `--context-nudge`, too. */
  readonly contextNudge?: boolean;
}

/** Changes in their order, and what a person must know or do by hand. */
export interface InstallPlan {
  readonly changes: readonly Change[];
  readonly notices: readonly string[];
  readonly repository: RepositoryFacts | undefined;
}

const NOTHING: PlannedFiles = { files: [], notices: [] };

/**
 * Plans what `init` changes, in an order in which an interruption does no harm. The receipts come first, so that every later step
 * can be undone; the config, which switches the repository on, comes last. Changes nothing itself.
 *
 * @throws Failure `environment` (no repository, unreadable), `usage` when the settings cannot be edited safely
 */
export async function planInit(
  context: InstallContext,
  goal: InitGoal,
): Promise<InstallPlan & { readonly repository: RepositoryFacts }> {
  const { git, packageRoot } = context;
  const { scope } = goal;
  const repository = await readRepository(git, context.cwd);
  const { commonDir, hooksFolder, topLevel } = repository;
  const chosen = chooseInstallers(goal.clients, { ...context, topLevel });
  const { installers } = chosen;
  if (installers.length === 0 && goal.skill === true) {
    throw new Failure('usage', '--skill needs a client, and none is chosen; a plugin includes the skill', {
      hint: 'git handoff init --client none',
    });
  }
  const state = stateFolder({ ...context.env, HOME: context.home });
  const ownFile = await readFileFacts(join(commonDir, 'handoff', 'install.json'));
  const userFile = await readFileFacts(join(state, 'install.json'));
  const own = parseReceipt(ownFile.bytes, ownFile.path);
  const users = parseReceipt(userFile.bytes, userFile.path);
  const settings = await planSettings(
    context,
    { ...goal, installers, topLevel },
    scope === 'user' ? users : own,
  );
  const hooks = hooksFolder === undefined ? [] : await readHooks(git, hooksFolder);
  const hookPlan = planHooks(repository, hooks, own, packageRoot);
  if (goal.instructions === true && topLevel === undefined) {
    throw new Failure('usage', 'there is no working tree here for --instructions', {
      hint: 'git handoff init --yes',
    });
  }
  const instructions =
    goal.instructions === true && topLevel !== undefined
      ? planInstructions(await readInstructionFiles(topLevel), installers, own)
      : NOTHING;
  const skills = goal.skill === true ? await planSkills(context, installers, users) : NOTHING;
  const config = await planConfig(context, repository, hookPlan.forConfig, own);
  const inRepository = [
    ...hookPlan.files,
    ...(scope === 'project' ? settings.files : []),
    ...instructions.files,
    ...config,
  ];
  const ofUser = [...(scope === 'user' ? settings.files : []), ...skills.files];
  const enabledBefore = isEnabled(repository.enabled) ? {} : { enabledBefore: repository.enabled };
  const files = [
    write(ownFile, formatReceipt({ ...recorded(ownFile, own, inRepository), ...enabledBefore })),
    write(userFile, formatReceipt(recorded(userFile, users, ofUser))),
    write(await readFileFacts(join(state, 'node')), Buffer.from(`${context.nodePath}\n`)),
    write(await readFileFacts(repositoryEntry(state, commonDir)), Buffer.from(`${commonDir}\n`)),
    ...ofUser,
    ...inRepository,
  ].filter((change) => change !== undefined);
  return {
    changes: withFolders(files, join(commonDir, 'handoff', 'beat')),
    notices: [chosen, settings, hookPlan, instructions, skills].flatMap(({ notices }) => notices),
    repository,
  };
}

interface SettingsGoal extends InitGoal {
  readonly installers: readonly ClientInstaller[];
  readonly topLevel: string | undefined;
}

async function planSettings(
  context: InstallContext,
  goal: SettingsGoal,
  receipt: Receipt,
): Promise<PlannedFiles> {
  const files: FileChange[] = [];
  const notices: string[] = [];
  const failed: { readonly client: string; readonly problem: string; readonly cause: SettingsError }[] = [];
  for (const installer of goal.installers) {
    const file = await readSettingsFile(installer, context, goal);
    try {
      const planned = planSettingsFile(installer, file, context, goal, receipt);
      notices.push(...installer.warnings(file.bytes?.toString('latin1') ?? ''));
      files.push(...planned);
      if (planned.length === 0) continue;
      const { title, proven, note } = installer;
      if (proven === undefined) notices.push(`${title}: ${testedWith(installer)}`);
      if (note !== undefined) notices.push(note);
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      const { client } = installer;
      failed.push({ client, problem: `${file.path}: ${error.message}`, cause: error });
    }
  }
  const [first] = failed;
  if (first === undefined || (goal.clients.length === 0 && failed.length < goal.installers.length)) {
    const left = failed.map(({ client, problem }) => `${client} is left out: ${problem}`);
    return { files, notices: [...left, ...notices] };
  }
  const { client, problem, cause } = first;
  const others = goal.installers.map((one) => one.client).filter((name) => name !== client);
  throw new Failure('usage', `${problem}; nothing was changed`, {
    hint: `fix that file, or leave ${client} out: git handoff init --client ${others.join(',') || 'none'}`,
    cause,
  });
}

/** Reads the settings file. A link in the working tree comes with the repository, and must not lead out of the tree. */
async function readSettingsFile(
  installer: ClientInstaller,
  context: InstallContext,
  { scope, topLevel }: SettingsGoal,
): Promise<DiskFile> {
  const path = settingsFile(installer, scope, { ...context, topLevel });
  if (path === undefined) {
    throw new Failure('usage', `there is no working tree here for --${scope}`, {
      hint: `git handoff init --yes --client ${installer.client}`,
    });
  }
  const facts = await readFileFacts(path);
  if (scope === 'user' || topLevel === undefined) return facts;
  const [real, top] = [realPath(facts.path), realPath(topLevel)];
  if (isInWorkingTree(real, top)) return facts;
  const what = `${path} is a symbolic link that leads out of the working tree, to ${real}`;
  throw new Failure('environment', what, { hint: 'git handoff init' });
}

function planSettingsFile(
  installer: ClientInstaller,
  { path, bytes }: DiskFile,
  { packageRoot }: InstallContext,
  { scope, contextNudge }: InitGoal,
  receipt: Receipt,
): FileChange[] {
  const isNudged = contextNudge === true || installer.isNudged?.(bytes?.toString('latin1') ?? '') === true;
  const register = (text: string) =>
    installer.register(text, scope, `${packageRoot}/bin/git-handoff`, isNudged);
  return planFile({
    role: 'settings',
    path,
    client: installer.client,
    current: bytes,
    receipt,
    mode: 0o644,
    strip: (text) => installer.unregister(text),
    want: (base, current) => (current !== '' && register(current) === current ? current : register(base)),
  });
}

async function planConfig(
  { git, packageRoot }: InstallContext,
  repository: RepositoryFacts,
  hooks: readonly GitHook[],
  receipt: Receipt,
): Promise<FileChange[]> {
  const wanted = await wantedConfig(git, repository, hooks, packageRoot);
  const without =
    repository.configHooks.size === 0 && !receipt.files.some(({ role }) => role === 'config')
      ? repository.config
      : await configWithoutUs(git, repository, receipt.enabledBefore ?? repository.enabled);
  return planFile({
    role: 'config',
    path: repository.configPath,
    current: repository.config,
    receipt,
    mode: 0o644,
    strip: () => without.toString('latin1'),
    want: () => wanted.toString('latin1'),
  });
}

/** The path of the skill, both in the package and in a client's folder. */
const SKILL = join('skills', 'git-handoff', 'SKILL.md');

/** Plans each client's copy of the skill. A file that holds anything but what we put there is left as it is. */
async function planSkills(
  context: InstallContext,
  installers: readonly ClientInstaller[],
  receipt: Receipt,
): Promise<PlannedFiles> {
  const source = join(context.packageRoot, SKILL);
  const text = await readBytes(source);
  if (text === undefined) {
    throw new Failure('environment', `${source} is missing: the package is incomplete`, {
      hint: HOW_TO_INSTALL,
    });
  }
  const files: FileChange[] = [];
  const notices: string[] = [];
  for (const installer of installers) {
    const folder = installer.folder({ ...context, topLevel: undefined });
    const { path, bytes } = await readFileFacts(join(folder, SKILL));
    const prior = receipt.files.find((file) => file.path === path);
    if (bytes !== undefined && !bytes.equals(text) && !isInstalled(bytes, prior)) {
      notices.push(
        `${path}: left as it is, because somebody else wrote or edited it. To have ours, move it away first`,
      );
      continue;
    }
    const planned = planFile({
      role: 'skill',
      path,
      client: installer.client,
      current: bytes,
      receipt,
      mode: 0o644,
      // The file never holds anything but our skill.
      strip: () => '',
      want: () => text.toString('latin1'),
    });
    files.push(...planned);
  }
  return { files, notices };
}

/** Whether a file holds the bytes that we put there. */
export function isInstalled(bytes: Buffer, receipt: FileReceipt | undefined): boolean {
  const found = hash('sha256', bytes);
  return found === receipt?.after || found === receipt?.formerly;
}

/** Plans one of our bookkeeping files, which `uninstall` removes as a whole; undefined if the file is up to date. */
function write({ path, bytes: before }: DiskFile, after: Buffer): FileChange | undefined {
  if (before?.equals(after) === true) return undefined;
  return { kind: 'file', role: 'bookkeeping', path, before, after, mode: 0o600 };
}

/** Adds the planned files and the missing folders to a receipt. The receipt's own folder is left out: `uninstall` removes it. */
function recorded(file: DiskFile, receipt: Receipt, planned: readonly FileChange[]): Receipt {
  const folders = planned.flatMap(({ path }) => missingFolders(dirname(path)));
  const above = missingFolders(dirname(file.path)).slice(0, -1);
  return mergeReceipt(
    receipt,
    planned.flatMap(({ receipt: one }) => one ?? []),
    [...folders, ...above],
  );
}

/** Puts each missing folder before the first file that needs it; only this user may enter our own folders. */
function withFolders(files: readonly FileChange[], ours: string): Change[] {
  const changes: Change[] = [];
  const made = new Set<string>();
  const make = (folder: string, mode: number) => {
    for (const path of missingFolders(folder)) {
      if (!made.has(path)) changes.push({ kind: 'folder', path, mode });
      made.add(path);
    }
  };
  make(ours, 0o700);
  for (const file of files) {
    make(dirname(file.path), file.role === 'bookkeeping' ? 0o700 : 0o777);
    changes.push(file);
  }
  return changes;
}
