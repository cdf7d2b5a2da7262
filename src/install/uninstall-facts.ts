import { promises as fs } from 'node:fs';
import { join, dirname } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { stateFolder, repositoryEntry, isInitialised } from '../host/folders.ts';
import type { FileReceipt, FileRole, Change, FileChange } from './change.ts';
import type { ClientInstaller, InstallContext } from './client.ts';
import { type DiskFile, pathExists, readFileFacts, plainFileFacts } from './disk.ts';
import { configWithoutUs } from './edit-config.ts';
import { GIT_HOOKS, hasMarker, withoutBlocks } from './hook-block.ts';
import { SettingsError } from './hook-settings.ts';
import { blockState, withoutInstructions } from './instruction-block.ts';
import { instructionSuspects } from './instruction-files.ts';
import { unplanFile } from './plan-file.ts';
import type { InstallPlan } from './plan-install.ts';
import { type Receipt, parseReceipt } from './receipt.ts';
import { type RepositoryFacts, readRepository } from './repository-facts.ts';
import { isInstalled } from './skill.ts';

/** A file that may hold a part of ours. */
interface Suspect extends DiskFile {
  readonly role: FileRole;
  readonly client: string | undefined;
  readonly existed: boolean;
  readonly receipt: FileReceipt | undefined;
}

interface RepositoryRemains {
  readonly facts: RepositoryFacts;
  readonly receipt: Receipt;
  readonly suspects: readonly Suspect[];
  /** The config without us, for a config that was edited since. */
  readonly restoredConfig: Buffer;
  /** Files that the guard leaves in the git folders of worktrees. */
  readonly markers: readonly DiskFile[];
  readonly folderExists: boolean;
  readonly entry: DiskFile;
}

/** All that the plan of `uninstall` depends on, read once. */
export interface UninstallFacts {
  /** Undefined outside a repository (only the user's part can go there). */
  readonly repository: RepositoryRemains | undefined;
  readonly user: {
    readonly state: string;
    readonly stateExists: boolean;
    readonly receipt: Receipt;
    readonly suspects: readonly Suspect[];
    /** Common dirs of other repositories that still use the user's part. */
    readonly others: readonly string[];
  };
}

/** What tools that take a hook over rename it to: pre-commit, lefthook. */
const RENAMED = ['', '.legacy', '.old'];

const MARKERS = ['handoff-id', 'handoff-solo', 'handoff-checked', 'handoff-committing', 'handoff-operation'];

/**
 * Reads everything that `planUninstall` needs; changes nothing.
 *
 * @param userOnly no repository is needed
 * @throws Failure `environment` (no repository, unreadable), `integrity` (damaged receipt)
 */
export async function readUninstallFacts(
  context: InstallContext,
  installers: readonly ClientInstaller[],
  userOnly: boolean,
): Promise<UninstallFacts> {
  const state = stateFolder({ ...context.env, HOME: context.home });
  const repository = await readRepository(context.git, context.cwd).catch((error: unknown) => {
    if (userOnly && error instanceof Failure) return undefined;
    throw error;
  });
  const receipt = await readReceipt(join(state, 'install.json'));
  const places = { ...context, topLevel: undefined };
  const defaults = installers.map((installer) => ({
    path: installer.settingsFile('user', places),
    client: installer.client,
  }));
  return {
    repository: repository === undefined ? undefined : await readRemains(context, repository, state),
    user: {
      state,
      stateExists: await pathExists(state),
      receipt,
      suspects: await withDefaults(receipt, 'settings', defaults),
      others: await otherRepositories(state, repository?.commonDir),
    },
  };
}

async function readRemains(
  context: InstallContext,
  facts: RepositoryFacts,
  state: string,
): Promise<RepositoryRemains> {
  const folder = join(facts.commonDir, 'handoff');
  const receipt = await readReceipt(join(folder, 'install.json'));
  const hooks = facts.hooksFolder;
  const hookPaths =
    hooks === undefined || hooks.shared ? [] : GIT_HOOKS.map((hook) => ({ path: join(hooks.path, hook) }));
  const markers = facts.worktreeGitDirs.flatMap((dir) => MARKERS.map((name) => join(dir, name)));
  return {
    facts,
    receipt,
    suspects: [
      ...(await withDefaults(receipt, 'git-hook', hookPaths)),
      ...(await instructionSuspects(receipt.files, facts.topLevel)),
    ],
    restoredConfig: await configWithoutUs(context.git, facts, receipt.enabledBefore ?? []),
    markers: (await Promise.all(markers.map(plainFileFacts))).filter((file) => file !== undefined),
    folderExists: await pathExists(folder),
    entry: await readFileFacts(repositoryEntry(state, facts.commonDir)),
  };
}

async function readReceipt(path: string): Promise<Receipt> {
  return parseReceipt((await readFileFacts(path)).bytes, path);
}

/**
 * The receipt's files, and the places where our part may stand without a receipt. What has become a folder is nothing of ours.
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
  for (const file of receipt.files.filter((one) => one.role !== 'instructions')) {
    for (const suffix of file.role === 'git-hook' ? RENAMED : ['']) {
      await add(file.path + suffix, {
        role: file.role,
        client: file.client,
        existed: file.existed,
        receipt: file,
      });
    }
  }
  for (const { path, client } of defaults) {
    if (path !== undefined) await add(path, { role, client, existed: true, receipt: undefined });
  }
  return suspects;
}

/*
 * The user's state folder holds what several repositories share:
 *
 *     node                  absolute path of the Node that the launcher starts
 *     install.json          receipt of the user-scope settings
 *     repositories/<hash>   one file for each repository that uses them, holding its common dir
 */

/** Common dirs of the other repositories that are still set up. */
async function otherRepositories(state: string, commonDir: string | undefined): Promise<string[]> {
  const folder = join(state, 'repositories');
  const names = await fs.readdir(folder).catch((): string[] => []);
  const listed = await Promise.all(
    names.map((name) => fs.readFile(join(folder, name), 'utf8').catch(() => '')),
  );
  const others: string[] = [];
  for (const dir of listed.map((text) => text.replace(/\n$/, ''))) {
    if (dir !== '' && dir !== commonDir && isInitialised(dir)) others.push(dir);
  }
  return others.sort();
}

/**
 * What `uninstall` changes: first the switch, last the receipts, so that an interrupted one can be run again.
 * Pure. The user's part goes with the last repository that uses it, or when it is asked for.
 */
export function planUninstall(
  facts: UninstallFacts,
  installers: readonly ClientInstaller[],
  userToo: boolean,
): InstallPlan {
  const notices: string[] = [];
  const undo = (suspects: readonly Suspect[]) =>
    suspects.flatMap((suspect) => undoFile(suspect, installers, notices));
  const { repository, user } = facts;
  const changes: Change[] = [];
  if (repository !== undefined) {
    changes.push(...undoConfig(repository), ...undo(repository.suspects.filter(isNotConfig)));
    changes.push(...repository.markers.flatMap((file) => removal(file.path, file.bytes)));
  }
  const userGoes = userToo || user.others.length === 0;
  if (userGoes) changes.push(...undo(user.suspects));
  else if (repository !== undefined) changes.push(...removal(repository.entry.path, repository.entry.bytes));
  const tail: Change[] = [];
  if (repository !== undefined) {
    tail.push(...emptyFolders(repository.receipt.folders));
    if (repository.folderExists) tail.push(tree(`${repository.facts.commonDir}/handoff`));
  }
  if (userGoes && user.stateExists) tail.push(tree(user.state), ...emptyFolders(user.receipt.folders));
  if (!userGoes) notices.push(sharedNotice(user.others));
  return { changes: [...changes, ...tail], notices };
}

function sharedNotice(others: readonly string[]): string {
  const list = others.slice(0, 3).map(dirname).join(', ') + (others.length > 3 ? ', …' : '');
  return `the hooks in your own settings stay, other repositories use them (${list}); to remove them: git handoff uninstall --user`;
}

function isNotConfig(suspect: Suspect): boolean {
  return suspect.role !== 'config';
}

function undoConfig(repository: RepositoryRemains): FileChange[] {
  const { facts, receipt, restoredConfig } = repository;
  const change = unplanFile(
    { path: facts.configPath, role: 'config', existed: true },
    facts.config,
    receipt.files.find((file) => file.role === 'config'),
    () => restoredConfig.toString('latin1'),
  );
  return change === undefined ? [] : [change];
}

function undoFile(suspect: Suspect, installers: readonly ClientInstaller[], notices: string[]): FileChange[] {
  const strip = (text: string): string => {
    if (suspect.role === 'settings') {
      return installers.find((one) => one.client === suspect.client)?.unregister(text) ?? text;
    }
    if (suspect.role === 'skill') {
      if (isInstalled(Buffer.from(text, 'latin1'), suspect.receipt)) return '';
      notices.push(`${suspect.path}: somebody edited it; it is left as it is`);
      return text;
    }
    if (suspect.role === 'instructions') {
      if (blockState(text) === 'damaged') {
        notices.push(`${suspect.path}: our block is damaged or occurs twice; remove our lines by hand`);
      }
      return withoutInstructions(text);
    }
    const stripped = withoutBlocks(text);
    if (stripped === undefined && hasMarker(text)) {
      notices.push(`${suspect.path}: the end of our block is missing; remove our lines by hand`);
    }
    return stripped ?? text;
  };
  try {
    const change = unplanFile(suspect, suspect.bytes, suspect.receipt, strip);
    return change === undefined ? [] : [change];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    notices.push(`${suspect.path}: ${error.message}; it is left as it is`);
    return [];
  }
}

function removal(path: string, before: Buffer | undefined): FileChange[] {
  if (before === undefined) return [];
  return [{ kind: 'file', role: 'bookkeeping', path, before, after: undefined, mode: 0o600 }];
}

function tree(path: string): Change {
  return { kind: 'remove-folder', path, tree: true };
}

function emptyFolders(made: readonly string[]): Change[] {
  return [...made].reverse().map((path) => ({ kind: 'remove-folder', path, tree: false }));
}
