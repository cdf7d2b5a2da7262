import { relative } from 'node:path';
import type { Verdict } from '../../../agents/dialect.ts';
import type { Snapshot } from '../../../domain/ledger/snapshot.ts';
import type { TreeReach } from '../../../domain/ledger/tree-verbs.ts';
import type { SkippedFile } from '../../../domain/rescue.ts';
import type { SessionId } from '../../../domain/names.ts';
import type { GitVerbCall, ShellEffects } from '../../../domain/shell/effects.ts';
import { escapeLine } from '../../../domain/surfacing.ts';
import { type FoundRepository, discoverRepository } from '../../../git/discover.ts';
import { takeSnapshot } from '../../../git/work-tree.ts';
import { realPath } from '../../../host/disk.ts';
import { knownWorktreeId, worktreeId } from '../../../host/folders.ts';
import { readLedgers } from '../../../store/ledger.ts';
import { reachAt } from '../ledger/tree-refusal.ts';
import type { Scene } from '../scene.ts';
import { removedWorktrees } from '../shared/worktree-refusal.ts';
import { saveWork } from '../../save-work.ts';

/** A worktree whose uncommitted work a command may destroy. */
interface Danger {
  readonly found: FoundRepository;
  readonly command: string;
}

/** What is left for the answer when saving takes too long. Milliseconds. */
const ANSWER_MS = 60;
/**
 * How long a command that may destroy work waits for its rescue: more than any other decision takes, for nothing brings
 * the work back otherwise. Milliseconds.
 */
const RESCUE_MS = 2500;

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
  for (const { found, command } of dangers(scene, effects)) {
    scene.moreTime(RESCUE_MS);
    const isHere = found.gitDir === scene.place?.gitDir;
    lines.push(...(await saveOne(scene, session, found, command, isHere ? look : undefined)));
  }
  return lines.length === 0 ? undefined : { kind: 'context', text: `git-handoff: ${lines.join('\n')}` };
}

function dangers(scene: Scene, effects: ShellEffects): Danger[] {
  const { place } = scene;
  if (place === undefined) return [];
  const trees = new Map<string, Danger>();
  for (const call of effects.gitCalls) {
    const cwd = call.cwd ?? scene.cwd;
    if (!loses(reachAt(call, cwd, scene))) continue;
    const found = discoverRepository(realPath(cwd));
    if (found?.commonDir !== place.commonDir || trees.has(found.gitDir)) continue;
    trees.set(found.gitDir, { found, command: commandOf(call) });
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
  found: FoundRepository,
  command: string,
  look: (() => Promise<Snapshot | undefined>) | undefined,
): Promise<string[]> {
  const notSaved = (why: string) => {
    scene.log('open', `not saved before ${command}: ${why}`);
    return [
      `not saved before \`${escapeLine(command)}\`: ${why}. What is uncommitted ${whereIs(scene, found)} cannot be brought back by git handoff rescue if the command removes it.`,
    ];
  };
  const timeMs = Math.max(1, scene.remaining() - ANSWER_MS);
  const late = new Promise<'late'>((resolve) => setTimeout(() => resolve('late'), timeMs).unref());
  try {
    const saved = await Promise.race([save(scene, session, found, command, timeMs, look), late]);
    if (saved === 'late') return notSaved('there was not enough time');
    return skippedLines(saved, command);
  } catch (error) {
    return notSaved(escapeLine(error instanceof Error ? error.message : String(error)));
  }
}

async function save(
  scene: Scene,
  session: SessionId,
  found: FoundRepository,
  command: string,
  timeMs: number,
  look: (() => Promise<Snapshot | undefined>) | undefined,
): Promise<readonly SkippedFile[]> {
  const { now, settings } = scene;
  const lookAgain = () => takeSnapshot(found.workTree, { now, timeoutMs: timeMs, namesOnly: true });
  const snapshot = look === undefined ? lookAgain() : look().then((seen) => seen ?? lookAgain());
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
    { limits: settings.rescue, now, deadline: performance.now() + timeMs },
  );
  return saved?.skipped ?? [];
}

function whereIs({ cwd, place }: Scene, { workTree, gitDir }: FoundRepository): string {
  return gitDir === place?.gitDir ? 'here' : `in ${escapeLine(relative(cwd, workTree))}`;
}

const MAX_NAMES = 5;
const REASONS = {
  big: 'too big',
  time: 'not enough time',
  unreadable: 'not readable',
  repository: 'a repository of its own',
} as const;

/** One line for everything that is not in the snapshot. */
function skippedLines(skipped: readonly SkippedFile[], command: string): string[] {
  if (skipped.length === 0) return [];
  const names = skipped.slice(0, MAX_NAMES).map(({ path, why }) => `${escapeLine(path)} (${REASONS[why]})`);
  const more = skipped.length > MAX_NAMES ? ` and ${skipped.length - MAX_NAMES} more` : '';
  return [`not saved before \`${escapeLine(command)}\`: ${names.join(', ')}${more}`];
}
