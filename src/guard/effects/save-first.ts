import { relative } from 'node:path';
import type { DirtyPath, TreeStatus } from '../../domain/ledger/tree-status.ts';
import type { SkippedFile } from '../../domain/snapshot.ts';
import { escapeLine, listed } from '../../domain/messages.ts';
import { type FoundRepository, discoverRepository } from '../../git/discover.ts';
import { listIgnored } from '../../git/staged.ts';
import { diskState, stampOf, readTreeStatus } from '../../git/worktrees.ts';
import { realPath } from '../../host/disk.ts';
import { type Budget, beforeAnswer, inTime } from '../../host/io.ts';
import type { GitVerbCall, ShellEffects } from '../../shell/effects.ts';
import type { TreeReach } from '../../shell/tree-verbs.ts';
import { type TreeCall, type Effect, type Finding, workPlaceOf } from '../call.ts';
import { folderIn, reachAt } from '../checks/reach.ts';
import { saveStatus } from './keep-work.ts';
import { removedWorktrees } from '../checks/worktree-removal.ts';
import type { CommandFacts } from '../facts.ts';

/**
 * Before a command that may destroy uncommitted work, saves that work in every worktree that the command touches. Reports
 * what it could not save; the command runs anyway.
 */
export function rescue(call: TreeCall, { effects, looks }: CommandFacts): readonly Effect[] {
  const run = async (): Promise<readonly Finding[]> => {
    const lines: string[] = [];
    for (const danger of dangers(call, effects)) {
      const isHere = danger.found.gitDir === call.tree.gitDir;
      lines.push(...(await saveOne(call, danger, isHere ? looks.dirty : undefined)));
    }
    return lines.length === 0 ? [] : [{ kind: 'tell', text: `git-handoff: ${lines.join('\n')}` }];
  };
  return [{ kind: 'do', when: 'allowed', run }];
}

async function saveOne(
  call: TreeCall,
  danger: Danger,
  look: (() => Promise<TreeStatus | undefined>) | undefined,
): Promise<string[]> {
  const { found, command } = danger;
  const notSaved = (why: string) => {
    call.log('open', `not saved before ${command}: ${why}`);
    const isHere = found.gitDir === call.tree.gitDir;
    const where = isHere ? 'here' : `in ${escapeLine(relative(call.cwd, found.workTree))}`;
    return [
      `not saved before \`${escapeLine(command)}\`: ${why}. If the command removes uncommitted work ${where}, git handoff rescue cannot bring it back.`,
    ];
  };
  const budget = call.budget.part(beforeAnswer(call.budget));
  try {
    const saved = await inTime(save(call, danger, budget, look), budget);
    if (saved === 'late') return notSaved('there was not enough time');
    return skippedLines(saved, command);
  } catch (error) {
    return notSaved(escapeLine(error instanceof Error ? error.message : String(error)));
  }
}

async function save(
  call: TreeCall,
  { found, command, ignored }: Danger,
  budget: Budget,
  look: (() => Promise<TreeStatus | undefined>) | undefined,
): Promise<readonly SkippedFile[]> {
  const { now } = call;
  const lookAgain = () => readTreeStatus(found.workTree, { now, timeoutMs: budget.left(), namesOnly: true });
  const looking = look === undefined ? lookAgain() : look().then((seen) => seen ?? lookAgain());
  const status =
    ignored === undefined ? looking : withIgnored(await looking, found.workTree, ignored, budget.left());
  const cause = { kind: 'before', command } as const;
  return (await saveStatus(call, workPlaceOf(found), status, cause))?.skipped ?? [];
}

const REASONS = {
  big: 'too big',
  time: 'not enough time',
  unreadable: 'not readable',
  repository: 'a repository of its own',
} as const;

/** One line that names the files that the snapshot lacks. */
function skippedLines(all: readonly SkippedFile[], command: string): string[] {
  // git leaves nested repositories alone, except in `git clean -ff`.
  const skipped = all.filter(({ why }) => why !== 'repository' || /^git clean\b/.test(command));
  if (skipped.length === 0) return [];
  const names = skipped.map(({ path, why }) => `${escapeLine(path)} (${REASONS[why]})`);
  return [`not saved before \`${escapeLine(command)}\`: ${listed(names)}`];
}

/** Adds ignored files (`.env`, logs) to the snapshot, but no wholly ignored folders: builds can be repeated. */
async function withIgnored(
  status: TreeStatus,
  top: string,
  { call, paths = [] }: TreeReach,
  timeoutMs: number,
): Promise<TreeStatus> {
  const cwd = call.cwd ?? top;
  const names = await listIgnored({ cwd, timeoutMs }, paths, false);
  const folder = folderIn(realPath(top), cwd);
  const entries = names.map((name): DirtyPath => {
    const path = folder === '' ? name : `${folder}/${name}`;
    const disk = diskState(top, { path });
    return { path, head: null, index: null, disk, stamp: stampOf(top, { path }) };
  });
  return {
    ...status,
    dirty: new Map([...status.dirty, ...entries.map((one) => [one.path, one] as const)]),
  };
}

/** A worktree whose uncommitted work a command may destroy. */
interface Danger {
  readonly found: FoundRepository;
  readonly command: string;
  /** Which ignored files the command also removes. */
  readonly ignored?: TreeReach | undefined;
}

/** The worktrees of this repository in which a command may destroy work, each with the part of the command that may do so. */
export function dangers(call: TreeCall, effects: ShellEffects): Danger[] {
  const { commonDir } = call.tree;
  const trees = new Map<string, Danger>();
  for (const gitCall of effects.gitCalls) {
    const cwd = gitCall.cwd ?? call.cwd;
    const reach = reachAt(gitCall, cwd, call);
    if (!loses(reach)) continue;
    const found = discoverRepository(realPath(cwd));
    if (found?.commonDir !== commonDir || trees.has(found.gitDir)) continue;
    const ignored = reach?.ignored === false ? undefined : reach;
    trees.set(found.gitDir, { found, command: commandOf(gitCall), ignored });
  }
  for (const { top, gitDir, by } of removedWorktrees(effects, call.tree)) {
    if (trees.has(gitDir)) continue;
    trees.set(gitDir, { found: { workTree: top, gitDir, commonDir }, command: by });
  }
  return [...trees.values()];
}

/** Whether work may be lost. A switch loses no work, nor does a stash of named files, which can be applied again. */
function loses(reach: TreeReach | undefined): boolean {
  if (reach === undefined || reach.keepsFiles) return false;
  return reach.does === 'destroy' || reach.paths === undefined || reach.unsure;
}

const MAX_COMMAND = 60;

function commandOf({ verb, words }: GitVerbCall): string {
  const text = ['git', verb, ...words.map((word) => word ?? '…')].join(' ');
  return text.length > MAX_COMMAND ? `${text.slice(0, MAX_COMMAND)}…` : text;
}
