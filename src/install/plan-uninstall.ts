import { dirname, join } from 'node:path';
import { Failure } from '../domain/messages.ts';
import { isInitialised, isTryTree, repositoryEntry, stateFolder, tryTree } from '../host/folders.ts';
import { entries, kindOf, readText } from '../host/disk.ts';
import { discoverRepository } from '../git/discover.ts';
import {
  type Change,
  type FileChange,
  type FileRole,
  type Receipt,
  type Suspect,
  parseReceipt,
  unplanFile,
} from './changes.ts';
import { type InstallContext, settingsFile } from './client.ts';
import { INSTALLERS } from './clients.ts';
import { type DiskFile, pathExists, plainFileFacts, readFileFacts } from './disk.ts';
import { configWithoutUs } from './edit-config.ts';
import { GIT_HOOKS, hasMarker, withoutBlocks } from './hook-block.ts';
import { SettingsError } from './hook-settings.ts';
import { findBlock, readInstructionFiles, withoutInstructions } from './instructions.ts';
import { type InstallPlan, isInstalled } from './plan-init.ts';
import { type RepositoryFacts, readRepository } from './repository-facts.ts';

/** The suffixes that pre-commit and lefthook give a hook that they replace; the empty one stands for the hook itself. */
const RENAMED = ['', '.legacy', '.old'];

/** Files that the guard leaves in the git folders of worktrees. */
const MARKERS = ['id', 'solo', 'checked', 'committing', 'operation', 'try.lock', 'try.group'].map(
  (name) => `handoff-${name}`,
);

/**
 * Plans what `uninstall` changes: first the config, last the receipts, so that an interrupted run can be repeated. The files in
 * the user's folders serve all repositories: they are removed with the last one, or on request. Changes nothing itself.
 *
 * @throws Failure `environment` (no repository, unreadable), `integrity` (damaged receipt)
 */
export async function planUninstall(context: InstallContext, userToo: boolean): Promise<InstallPlan> {
  const notices: string[] = [];
  const repository = await readRepository(context.git, context.cwd).catch((error: unknown) => {
    if (userToo && error instanceof Failure) return undefined;
    throw error;
  });
  // Holds `node` (Node's path), `install.json` (the receipt of the user's settings) and `repositories/<hash>` (common dirs).
  const state = stateFolder({ ...context.env, HOME: context.home });
  const users = await readReceipt(join(state, 'install.json'));
  const others = otherRepositories(state, repository?.commonDir);
  const userGoes = userToo || others.length === 0;
  const changes: Change[] = [];
  const tail: Change[] = [];
  if (repository !== undefined) {
    const { commonDir } = repository;
    const folder = join(commonDir, 'handoff');
    const own = await readReceipt(join(folder, 'install.json'));
    const { hooksFolder: at } = repository;
    const hooks =
      at === undefined || at.shared ? [] : GIT_HOOKS.map((hook) => ({ path: join(at.path, hook) }));
    const suspects = await withDefaults(own, 'git-hook', hooks);
    suspects.push(...(await movedInstructions(own, repository.topLevel, suspects)));
    changes.push(...(await undoConfig(context, repository, own)));
    changes.push(...suspects.flatMap((suspect) => undoFile(suspect, notices)));
    for (const dir of repository.worktreeGitDirs)
      for (const name of MARKERS) changes.push(...removal(await plainFileFacts(join(dir, name))));
    if (!userGoes) changes.push(...removal(await readFileFacts(repositoryEntry(state, commonDir))));
    tail.push(...emptyFolders(own.folders));
    // git's folder for the worktree of `try`. The worktree itself is in our folder, which is removed below.
    const tried = discoverRepository(tryTree(commonDir));
    if (tried !== undefined && isTryTree(tried.workTree))
      tail.push({ kind: 'remove-folder', path: tried.gitDir, tree: true });
    if (pathExists(folder)) tail.push({ kind: 'remove-folder', path: folder, tree: true });
  }
  if (userGoes) {
    const places = { ...context, topLevel: undefined };
    const settings = INSTALLERS.map((installer) => ({
      path: settingsFile(installer, 'user', places),
      client: installer.client,
    }));
    const suspects = await withDefaults(users, 'settings', settings);
    changes.push(...suspects.flatMap((suspect) => undoFile(suspect, notices)));
    if (pathExists(state))
      tail.push({ kind: 'remove-folder', path: state, tree: true }, ...emptyFolders(users.folders));
  } else {
    const list = others.slice(0, 3).map(dirname).join(', ') + (others.length > 3 ? ', …' : '');
    notices.push(
      `the hooks in your own settings stay because other repositories use them (${list}); to remove them: git handoff uninstall --user`,
    );
  }
  return { changes: [...changes, ...tail], notices, repository };
}

async function readReceipt(path: string): Promise<Receipt> {
  return parseReceipt((await readFileFacts(path)).bytes, path);
}

/** If an instruction file in the receipt has lost our block, returns the other instruction files: the block may be there. */
async function movedInstructions(
  { files }: Receipt,
  topLevel: string | undefined,
  known: readonly Suspect[],
): Promise<Suspect[]> {
  const recorded = files.filter(({ role }) => role === 'instructions');
  const kept = known.filter(
    ({ role, bytes }) => role === 'instructions' && findBlock(bytes?.toString('latin1') ?? '') !== 'none',
  );
  // If the receipt names no instruction file, any block came with the project, and stays.
  if (topLevel === undefined || kept.length === recorded.length) return [];
  const others = (await readInstructionFiles(topLevel)).filter(
    ({ path, bytes }) => bytes !== undefined && !known.some((one) => one.path === path),
  );
  const more = { role: 'instructions', client: undefined, existed: true, receipt: undefined } as const;
  return others.map(({ path, bytes }) => ({ path, bytes, ...more }));
}

/**
 * The files in the receipt, without the config, and those of `defaults`, where our part may be, too. Leaves out a path that is
 * now a folder, and an instruction file that is now a link, which may lead out of the project.
 */
async function withDefaults(
  receipt: Receipt,
  role: FileRole,
  defaults: readonly { path: string | undefined; client?: string }[],
): Promise<Suspect[]> {
  const suspects: Suspect[] = [];
  const add = async (path: string, file: Omit<Suspect, 'path' | 'bytes'>) => {
    const facts = await plainFileFacts(path);
    if (facts === undefined) return;
    if (!suspects.some((suspect) => suspect.path === facts.path)) suspects.push({ ...facts, ...file });
  };
  for (const file of receipt.files) {
    const { client, existed } = file;
    if (file.role === 'config' || (file.role === 'instructions' && kindOf(file.path) !== 'file')) continue;
    for (const suffix of file.role === 'git-hook' ? RENAMED : [''])
      await add(file.path + suffix, { role: file.role, client, existed, receipt: file });
  }
  for (const { path, client } of defaults)
    if (path !== undefined) await add(path, { role, client, existed: true, receipt: undefined });
  return suspects;
}

/** The common directories of other repositories in which git-handoff is still set up. */
function otherRepositories(state: string, commonDir: string | undefined): string[] {
  const folder = join(state, 'repositories');
  return entries(folder)
    .map((name) => readText(join(folder, name)).replace(/\n$/, ''))
    .filter((dir) => dir !== '' && dir !== commonDir && isInitialised(dir))
    .sort();
}

async function undoConfig(
  { git }: InstallContext,
  repository: RepositoryFacts,
  receipt: Receipt,
): Promise<FileChange[]> {
  // This text is used only if somebody has edited the config since `init`.
  const restored = await configWithoutUs(git, repository, receipt.enabledBefore ?? []);
  const own = receipt.files.find((file) => file.role === 'config');
  const file = { path: repository.configPath, bytes: repository.config, client: undefined, receipt: own };
  return unplanFile({ ...file, role: 'config', existed: true }, () => restored.toString('latin1'));
}

function undoFile(suspect: Suspect, notices: string[]): FileChange[] {
  try {
    return unplanFile(suspect, (text) => withoutUs(text, suspect, notices));
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    notices.push(`${suspect.path}: ${error.message}; it is left as it is`);
    return [];
  }
}

function withoutUs(text: string, { role, path, client, receipt }: Suspect, notices: string[]): string {
  switch (role) {
    case 'settings':
      return INSTALLERS.find((one) => one.client === client)?.unregister(text) ?? text;
    case 'skill':
      if (isInstalled(Buffer.from(text, 'latin1'), receipt)) return '';
      notices.push(`${path}: somebody edited it; it is left as it is`);
      return text;
    case 'instructions':
      if (findBlock(text) === 'damaged')
        notices.push(`${path}: our block is damaged or occurs twice; remove our lines by hand`);
      return withoutInstructions(text);
    default: {
      const stripped = withoutBlocks(text);
      if (stripped === undefined && hasMarker(text))
        notices.push(`${path}: the end of our block is missing; remove our lines by hand`);
      return stripped ?? text;
    }
  }
}

function removal(file: DiskFile | undefined): FileChange[] {
  if (file?.bytes === undefined) return [];
  const { path, bytes } = file;
  return [{ kind: 'file', role: 'bookkeeping', path, before: bytes, after: undefined, mode: 0o600 }];
}

function emptyFolders(made: readonly string[]): Change[] {
  return [...made].reverse().map((path) => ({ kind: 'remove-folder', path, tree: false }));
}
