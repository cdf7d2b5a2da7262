import { dirname } from 'node:path';
import type { Change, FileChange } from './change.ts';
import type { ClientInstaller } from './client.ts';
import { hasMarker, withoutBlocks } from './hook-block.ts';
import { SettingsError } from './hook-settings.ts';
import { blockState, withoutInstructions } from './instruction-block.ts';
import { unplanFile } from './plan-file.ts';
import type { InstallPlan } from './plan-install.ts';
import { isInstalled } from './skill.ts';
import type { RepositoryRemains, Suspect, UninstallFacts } from './uninstall-facts.ts';

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
