import { dirname, join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import type { Change, FileChange } from './change.ts';
import { type ClientInstaller, testedWith } from './client.ts';
import { markedBlock, withoutBlocks } from './hook-block.ts';
import { SettingsError } from './hook-settings.ts';
import type { DiskFile } from './disk.ts';
import type { InstallFacts, SettingsFacts } from './install-facts.ts';
import { type PlannedFile, planFile } from './plan-file.ts';
import { planHooks } from './plan-hooks.ts';
import { planInstructions } from './plan-instructions.ts';
import { type Receipt, formatReceipt, mergeReceipt, parseReceipt } from './receipt.ts';
import { isEnabled } from './repository-facts.ts';
import { planSkills } from './skill.ts';

/** Changes in their order, and what a person must know or do by hand. */
export interface InstallPlan {
  readonly changes: readonly Change[];
  readonly notices: readonly string[];
}

/**
 * What `init` changes, in an order that may be interrupted anywhere: first the receipts, so that every later
 * step can be undone, last the switch. Pure.
 *
 * @throws Failure `usage` when the settings cannot be edited safely
 */
export function planInstall(facts: InstallFacts): InstallPlan {
  const { repository, scope } = facts;
  const ownReceipt = parseReceipt(facts.repositoryReceipt.bytes, facts.repositoryReceipt.path);
  const userReceipt = parseReceipt(facts.userReceipt.bytes, facts.userReceipt.path);
  const settingsReceipt = scope === 'user' ? userReceipt : ownReceipt;
  const settings = facts.settings.map((one) => planSettings(facts, one, settingsReceipt));
  const settingsFiles = settings.flatMap(({ files }) => files);
  const hooks = planHooks(repository, facts.hooks, ownReceipt, facts.packageRoot);
  const config = planConfig(facts, ownReceipt);
  const exclude = planExclude(facts, ownReceipt);
  const installers = facts.settings.map(({ installer }) => installer);
  const instructions = planInstructions(facts.instructions ?? [], installers, ownReceipt);
  const skills = planSkills(facts.skills, userReceipt);
  const ownSettings = scope === 'user' ? [] : settingsFiles;
  const own = [...hooks.files, ...exclude, ...ownSettings, ...instructions.files];
  const shared = [...(scope === 'user' ? settingsFiles : []), ...skills.files];
  const users = [write(facts.node, `${facts.nodePath}\n`), write(facts.entry, `${repository.commonDir}\n`)];
  const receipts = [
    writeReceipt(facts, facts.repositoryReceipt, ownReceipt, [...own, ...config]),
    writeReceipt(facts, facts.userReceipt, userReceipt, shared),
  ];
  const work = [...shared, ...own, ...config].map((file) => file.change);
  const files = [...receipts, ...users, ...work].filter((change) => change !== undefined);
  const beat = join(repository.commonDir, 'handoff', 'beat');
  return {
    changes: withFolders(facts, files, [beat]),
    notices: [
      ...settings.flatMap(({ notices }) => notices),
      ...hooks.notices,
      ...instructions.notices,
      ...skills.notices,
    ],
  };
}

/** Why a client's settings cannot be edited; undefined where they can. Pure. */
export function whyNotEditable(
  { scope, packageRoot, nudge }: InstallFacts,
  one: SettingsFacts,
): string | undefined {
  try {
    const text = one.bytes?.toString('latin1') ?? '';
    one.installer.register(text, scope, `${packageRoot}/bin/git-handoff`, { nudge });
    return undefined;
  } catch (error) {
    if (error instanceof SettingsError) return error.message;
    throw error;
  }
}

function planSettings(
  { scope, packageRoot, nudge, settings: all }: InstallFacts,
  { installer, ...settings }: SettingsFacts,
  receipt: Receipt,
): { files: PlannedFile[]; notices: readonly string[] } {
  const others = all.map((one) => one.installer.client).filter((client) => client !== installer.client);
  try {
    const isNudged = nudge || installer.isNudged?.(settings.bytes?.toString('latin1') ?? '') === true;
    const register = (text: string) =>
      installer.register(text, scope, `${packageRoot}/bin/git-handoff`, { nudge: isNudged });
    const planned = planFile({
      role: 'settings',
      path: settings.path,
      client: installer.client,
      current: settings.bytes,
      prior: receipt.files.find((file) => file.path === settings.path),
      mode: 0o644,
      strip: (text) => installer.unregister(text),
      want: (base, current) => (current !== '' && register(current) === current ? current : register(base)),
    });
    const notices = installer.warnings(settings.bytes?.toString('latin1') ?? '');
    if (planned === undefined) return { files: [], notices };
    return { files: [planned], notices: [...notices, ...newcomersNotes(installer)] };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new Failure('usage', `${settings.path}: ${error.message}; nothing was changed`, {
      hint: `fix that file, or leave ${installer.client} out: git handoff init --client ${others.join(',') || 'none'}`,
      cause: error,
    });
  }
}

/** What a person has to know of a client whose hooks are registered, or registered differently, just now. */
function newcomersNotes(installer: ClientInstaller): readonly string[] {
  const { title, proven, note } = installer;
  return [
    ...(proven === undefined ? [`${title}: ${testedWith(installer)}`] : []),
    ...(note === undefined ? [] : [note]),
  ];
}

function planConfig({ config, repository }: InstallFacts, receipt: Receipt): PlannedFile[] {
  const planned = planFile({
    role: 'config',
    path: repository.configPath,
    current: repository.config,
    prior: receipt.files.find(({ role }) => role === 'config'),
    mode: 0o644,
    strip: () => config.without.toString('latin1'),
    want: () => config.wanted.toString('latin1'),
  });
  return planned === undefined ? [] : [planned];
}

/** Local settings are personal: git is told to overlook them. */
function planExclude(facts: InstallFacts, receipt: Receipt): PlannedFile[] {
  const { exclude } = facts;
  if (exclude === undefined) return [];
  const strip = (text: string) => withoutBlocks(text) ?? text;
  const planned = planFile({
    role: 'exclude',
    path: exclude.path,
    current: exclude.bytes,
    prior: receipt.files.find((file) => file.path === exclude.path),
    mode: 0o644,
    strip,
    want: (base) => {
      const lineEnd = base === '' || base.endsWith('\n') ? '' : '\n';
      return base + lineEnd + markedBlock(exclude.patterns);
    },
  });
  return planned === undefined ? [] : [planned];
}

/** Bookkeeping that uninstall removes as a whole. */
function write(file: DiskFile, text: string): FileChange | undefined {
  const after = Buffer.from(text, 'utf8');
  if (file.bytes?.equals(after) === true) return undefined;
  const { path, bytes: before } = file;
  return { kind: 'file', role: 'bookkeeping', path, before, after, mode: 0o600 };
}

function writeReceipt(
  facts: InstallFacts,
  file: DiskFile,
  receipt: Receipt,
  planned: readonly PlannedFile[],
): FileChange | undefined {
  const folders = planned.flatMap(({ change }) => facts.missing.get(dirname(change.path)) ?? []);
  // The receipt's own folder goes as a whole; the folders that had to be made above it are recorded.
  folders.push(...(facts.missing.get(dirname(file.path)) ?? []).slice(0, -1));
  const merged = mergeReceipt(
    receipt,
    planned.map(({ receipt: one }) => one),
    folders,
  );
  const setsConfig = !isEnabled(facts.repository.enabled);
  const before =
    setsConfig && file === facts.repositoryReceipt ? { enabledBefore: facts.repository.enabled } : {};
  return write(file, formatReceipt({ ...merged, ...before }).toString('utf8'));
}

/** Puts each missing folder before the first file that needs it; ours are for this user alone. */
function withFolders(facts: InstallFacts, files: readonly FileChange[], folders: string[]): Change[] {
  const changes: Change[] = [];
  const made = new Set<string>();
  const make = (folder: string, mode: number) => {
    for (const path of facts.missing.get(folder) ?? []) {
      if (!made.has(path)) changes.push({ kind: 'folder', path, mode });
      made.add(path);
    }
  };
  for (const folder of folders) make(folder, 0o700);
  for (const file of files) {
    make(dirname(file.path), file.role === 'bookkeeping' ? 0o700 : 0o777);
    changes.push(file);
  }
  return changes;
}
