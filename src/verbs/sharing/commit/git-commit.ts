import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appendEvents } from '../../../sessions/journal.ts';
import { escapeLine, Failure } from '../../../domain/messages.ts';
import type { WorktreeEvent } from '../../../domain/journal/events.ts';
import type { FileState } from '../../../domain/ledger/tree-status.ts';
import type { Oid } from '../../../domain/names.ts';
import { commitNamed, parentsOf } from '../../../git/commits.ts';
import { PrivateIndex } from '../../../git/scratch.ts';
import { type GitOptions, type GitResult, git, runGit } from '../../../git/run.ts';
import { userGit } from '../../../git/user-git.ts';
import { hasSource } from '../../../shell/commit-words.ts';
import type { CommitScene } from './scene.ts';

/** How git makes the commit: options of git-commit(1). */
export interface GitCommitOptions {
  readonly messages: readonly string[];
  /** The message of `-F`. */
  readonly text: Uint8Array | undefined;
  /** All other options, each as one word: `--amend`, `--author=…`. */
  readonly words: readonly string[];
  /** Receives what git and its hooks print. */
  readonly pass: (text: Uint8Array) => void;
}

/** What goes into a private index, on top of HEAD. */
export interface IndexPlan {
  /** Paths as they are on the disk. */
  readonly whole: readonly string[];
  /** Paths with other content than on the disk; `null`: removed. */
  readonly entries: ReadonlyMap<string, FileState>;
  /** Whether the commit finishes a merge or a pick: the private index then starts from the worktree's index, not from HEAD. */
  readonly finishes?: boolean;
}

/** Whether git will ask for the message in an editor. */
export const opensEditor = ({ messages, text, words }: GitCommitOptions): boolean =>
  messages.length === 0 && text === undefined && !words.includes('--no-edit') && !hasSource({ kept: words });

/** Puts the plan into a private index. Then calls `run` with that index and with its entries at the plan's paths. */
export async function withOwnIndex<T>(
  { self, work, indexFile }: CommitScene,
  { whole, entries, finishes }: IndexPlan,
  now: number,
  run: (index: PrivateIndex, held: ReadonlyMap<string, FileState>) => Promise<T>,
): Promise<T> {
  const { place, tree, status, lone } = work;
  const from = { ...tree, indexFile };
  const index = finishes === true ? PrivateIndex.copy(from) : await PrivateIndex.open(from, status.head.oid);
  try {
    // Removed paths come first: a file may be where a folder was, or the other way round.
    const isGone = (path: string) => status.dirty.get(path)?.disk === null;
    await index.takeFromDisk([...whole.filter(isGone), ...whole.filter((path) => !isGone(path))]);
    await index.set(entries);
    const held = new Map([...(whole.length === 0 ? [] : await index.read(whole)), ...entries]);
    // Our hook accepts an entry if the ledger says that this session staged it on HEAD's present content.
    const staged = [...held].map(([path, state]): WorktreeEvent => {
      const known = status.dirty.get(path);
      return { t: 'staged', path, state, ...(known === undefined ? {} : { head: known.head }), at: now };
    });
    if (place !== undefined && lone === undefined) appendEvents(place, self, staged);
    return await run(index, held);
  } finally {
    index.remove();
  }
}

/**
 * Lets git make the commit from a private index, with its hooks and signing. The worktree's index is not touched.
 *
 * @returns `moved` when somebody else's commit came first
 * @throws Failure `refused` when git or a hook says no
 */
export async function makeCommit(
  scene: CommitScene,
  plan: IndexPlan,
  options: GitCommitOptions,
  now: number,
): Promise<Oid | 'moved'> {
  const folder = mkdtempSync(join(tmpdir(), 'git-commit-'));
  try {
    const args = ['commit', ...messageOf(options, folder), ...options.words];
    return await withOwnIndex(scene, plan, now, ({ env }) => commitIndex(scene, options, args, env));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function messageOf({ messages, text }: GitCommitOptions, folder: string): string[] {
  if (text === undefined) return messages.flatMap((message) => ['-m', message]);
  const file = join(folder, 'message');
  writeFileSync(file, text, { mode: 0o600 });
  return ['-F', file];
}

async function commitIndex(
  { work }: CommitScene,
  options: GitCommitOptions,
  args: readonly string[],
  index: Readonly<Record<string, string>>,
): Promise<Oid | 'moved'> {
  const cwd = work.tree.top;
  const { oid: head } = work.status.head;
  // Our hook refuses the commit if HEAD has moved since.
  const env = head === null ? index : { ...index, GIT_HANDOFF_EXPECT: head };
  const result = await userGit(args, { cwd, env, show: opensEditor(options) ? 'terminal' : options.pass });
  if (result.code !== 0) {
    if (((await commitNamed(cwd, 'HEAD')) ?? null) !== head) return 'moved';
    throw commitRefusal(result);
  }
  const commit = await commitOf(result, { cwd, env: index }, head);
  const [parent = null] = options.words.includes('--amend') ? [head] : await parentsOf(cwd, commit);
  if (parent === head) return commit;
  // Somebody committed while our commit began, and no hook noticed: our commit would revert that one.
  await runGit(['update-ref', '-m', 'git handoff commit: undone', 'HEAD', parent ?? '', commit], { cwd });
  return 'moved';
}

/** git's output names the new commit. If an editor got the output, we look for the first new commit with the index's tree. */
async function commitOf({ stdout }: GitResult, at: GitOptions, head: Oid | null): Promise<Oid> {
  let name = /^\[.*? ([0-9a-f]{4,64})\]/m.exec(stdout.toString('utf8'))?.[1];
  if (name === undefined) {
    const range = head === null ? ['HEAD'] : ['HEAD', `^${head}`];
    const tree = (await git(['write-tree'], at)).trim();
    const log = ['log', '--reverse', '--first-parent', '--format=%H %T', ...range, '--'];
    const made = (await git(log, at)).split('\n');
    name = made.find((line) => line.endsWith(` ${tree}`))?.slice(0, tree.length);
  }
  const commit = await commitNamed(at.cwd, name ?? 'HEAD');
  if (commit !== undefined) return commit;
  throw new Failure('integrity', 'git made a commit that cannot be found', { hint: 'git log' });
}

function commitRefusal(result: GitResult): Failure {
  if (result.code === 1) {
    const message = 'nothing was committed: git, or one of its hooks, refused it';
    const skip = /\bgit (?:cherry-pick|rebase) --skip\b/.exec(result.stderr)?.[0]; // if HEAD already has the change
    return new Failure('refused', message, { hint: skip ?? 'git handoff status' });
  }
  const [line = ''] = /^fatal: .*/m.exec(result.stderr) ?? /\S.*/.exec(result.stderr) ?? [];
  const hint = /user\.email|empty ident/.test(result.stderr)
    ? 'git config user.email you@example.com'
    : 'git handoff status';
  return new Failure('environment', `git commit: ${escapeLine(line)}`, { hint });
}
