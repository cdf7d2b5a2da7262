import { relative } from 'node:path';
import type { Verdict } from '../../../agents/dialect.ts';
import type { DirtyPath, Snapshot } from '../../../domain/ledger/snapshot.ts';
import type { TreeReach } from '../../../shell/tree-reach.ts';
import type { SkippedFile } from '../../../domain/rescue.ts';
import type { SessionId } from '../../../domain/names.ts';
import type { GitVerbCall, ShellEffects } from '../../../shell/effects.ts';
import { escapeLine, listed } from '../../../domain/surfacing.ts';
import { type FoundRepository, discoverRepository } from '../../../git/discover.ts';
import { ignoredFiles } from '../../../git/ignored-files.ts';
import { diskState, stampOf, takeSnapshot } from '../../../git/work-tree.ts';
import { realPath } from '../../../host/disk.ts';
import { knownWorktreeId, worktreeId } from '../../../host/folders.ts';
import { type Budget, beforeAnswer, inTime } from '../../../host/io.ts';
import { readLedgers } from '../../../changes/ledger.ts';
import { folderIn, reachAt } from '../../checks/reach.ts';
import type { Scene } from '../../scene.ts';
import { removedWorktrees } from '../../checks/worktree-refusal.ts';
import { saveWork } from '../../../rescue/save-work.ts';

/** A worktree whose uncommitted work a command may destroy. */
interface Danger {
  readonly found: FoundRepository;
  readonly command: string;
  /** It removes what git ignores, too. */
  readonly ignored?: TreeReach | undefined;
}

/**
 * Saves the uncommitted work of every worktree that a command may lose, before it runs. What could not be saved is said;
 * the command goes on all the same.
 */
export async function saveBefore(
  scene: Scene,
  session: SessionId,
  effects: ShellEffects,
  look: () => Promise<Snapshot | undefined>,
): Promise<Verdict | undefined> {
  const lines: string[] = [];
  for (const danger of dangers(scene, effects)) {
    const isHere = danger.found.gitDir === scene.place?.gitDir;
    lines.push(...(await saveOne(scene, session, danger, isHere ? look : undefined)));
  }
  return lines.length === 0 ? undefined : { kind: 'context', text: `git-handoff: ${lines.join('\n')}` };
}

function dangers(scene: Scene, effects: ShellEffects): Danger[] {
  const { place } = scene;
  if (place === undefined) return [];
  const trees = new Map<string, Danger>();
  for (const call of effects.gitCalls) {
    const cwd = call.cwd ?? scene.cwd;
    const reach = reachAt(call, cwd, scene);
    if (!loses(reach)) continue;
    const found = discoverRepository(realPath(cwd));
    if (found?.commonDir !== place.commonDir || trees.has(found.gitDir)) continue;
    const ignored = reach?.ignored === false ? undefined : reach;
    trees.set(found.gitDir, { found, command: commandOf(call), ignored });
  }
  for (const { top, gitDir, by } of removedWorktrees(effects, place)) {
    if (trees.has(gitDir)) continue;
    trees.set(gitDir, { found: { workTree: top, gitDir, commonDir: place.commonDir }, command: by });
  }
  return [...trees.values()];
}

/** A switch or a stash of named files takes nothing that does not come back. */
function loses(reach: TreeReach | undefined): boolean {
  if (reach === undefined) return false;
  return reach.does === 'destroy' || reach.paths === undefined || reach.unsure;
}

const MAX_COMMAND = 60;

function commandOf({ verb, words }: GitVerbCall): string {
  const text = ['git', verb, ...words.map((word) => word ?? '…')].join(' ');
  return text.length > MAX_COMMAND ? `${text.slice(0, MAX_COMMAND)}…` : text;
}

async function saveOne(
  scene: Scene,
  session: SessionId,
  danger: Danger,
  look: (() => Promise<Snapshot | undefined>) | undefined,
): Promise<string[]> {
  const { found, command } = danger;
  const notSaved = (why: string) => {
    scene.log('open', `not saved before ${command}: ${why}`);
    return [
      `not saved before \`${escapeLine(command)}\`: ${why}. What is uncommitted ${whereIs(scene, found)} cannot be brought back by git handoff rescue if the command removes it.`,
    ];
  };
  const budget = scene.budget.part(beforeAnswer(scene.budget));
  try {
    const saved = await inTime(save(scene, session, danger, budget, look), budget);
    if (saved === 'late') return notSaved('there was not enough time');
    return skippedLines(saved, command);
  } catch (error) {
    return notSaved(escapeLine(error instanceof Error ? error.message : String(error)));
  }
}

async function save(
  scene: Scene,
  session: SessionId,
  { found, command, ignored }: Danger,
  budget: Budget,
  look: (() => Promise<Snapshot | undefined>) | undefined,
): Promise<readonly SkippedFile[]> {
  const { now, settings } = scene;
  const lookAgain = () => takeSnapshot(found.workTree, { now, timeoutMs: budget.left(), namesOnly: true });
  const looking = look === undefined ? lookAgain() : look().then((seen) => seen ?? lookAgain());
  const snapshot =
    ignored === undefined ? looking : withIgnored(await looking, found.workTree, ignored, budget.left());
  const known = knownWorktreeId(found.gitDir);
  const place = known === undefined ? undefined : { commonDir: found.commonDir, worktreeId: known };
  const owners = new Map(
    (place === undefined ? [] : readLedgers(place)).flatMap((ledger) =>
      [...ledger.claims.keys()].map((path) => [path, ledger.session] as const),
    ),
  );
  const saved = await saveWork(
    { cwd: found.workTree, worktreeId: known ?? worktreeId(found.gitDir) },
    snapshot,
    { kind: 'before', command, session, at: now, ownerOf: (path) => owners.get(path) ?? null },
    { limits: settings.rescue, now, budget },
  );
  return saved?.skipped ?? [];
}

function whereIs({ cwd, place }: Scene, { workTree, gitDir }: FoundRepository): string {
  return gitDir === place?.gitDir ? 'here' : `in ${escapeLine(relative(cwd, workTree))}`;
}

const REASONS = {
  big: 'too big',
  time: 'not enough time',
  unreadable: 'not readable',
  repository: 'a repository of its own',
} as const;

/** One line for everything that is not in the snapshot. */
function skippedLines(all: readonly SkippedFile[], command: string): string[] {
  // git leaves a repository inside of another alone, but for `git clean -ff`.
  const skipped = all.filter(({ why }) => why !== 'repository' || /^git clean\b/.test(command));
  if (skipped.length === 0) return [];
  const names = skipped.map(({ path, why }) => `${escapeLine(path)} (${REASONS[why]})`);
  return [`not saved before \`${escapeLine(command)}\`: ${listed(names)}`];
}

/** Files that git ignores one by one (`.env`, logs); whole folders of them are builds, which can be made again. */
async function withIgnored(
  snapshot: Snapshot,
  top: string,
  { call, paths = [] }: TreeReach,
  timeoutMs: number,
): Promise<Snapshot> {
  const cwd = call.cwd ?? top;
  const names = await ignoredFiles(cwd, paths, { folders: false, timeoutMs });
  const folder = folderIn(realPath(top), cwd);
  const entries = names.map((name): DirtyPath => {
    const path = folder === '' ? name : `${folder}/${name}`;
    const disk = diskState(top, { path });
    return { path, head: null, index: null, disk, stamp: stampOf(top, { path }) };
  });
  return {
    ...snapshot,
    dirty: new Map([...snapshot.dirty, ...entries.map((one) => [one.path, one] as const)]),
  };
}
