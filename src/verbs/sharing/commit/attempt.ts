import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageWords, otherWords, textWords } from '../../../changes/hint-words.ts';
import { appendEvents } from '../../../sessions/journal.ts';
import { Failure } from '../../../domain/failure.ts';
import type { WorktreeEvent } from '../../../domain/journal/events.ts';
import { sameState, type FileState } from '../../../domain/ledger/file-state.ts';
import type { Share } from '../../../domain/ledger/shares.ts';
import type { TreeStatus } from '../../../domain/ledger/tree-status.ts';
import type { Oid } from '../../../domain/names.ts';
import { peerName, peerNames } from '../../../domain/owner-name.ts';
import { escapeLine, listed } from '../../../domain/surfacing.ts';
import { commitNamed, parentsOf } from '../../../git/commits.ts';
import { PrivateIndex, readEntries, whileLocked } from '../../../git/private-index.ts';
import { type GitResult, runGit } from '../../../git/run.ts';
import { stagedPaths } from '../../../git/staged.ts';
import { userGit, isLocked } from '../../../git/user-git.ts';
import { hasSource } from '../../../shell/commit-words.ts';
import type { CommitScene } from './scene.ts';

/** How git is to make the commit; the words of git-commit(1). */
export interface GitCommitOptions {
  readonly messages: readonly string[];
  /** The message of `-F`. */
  readonly text: Uint8Array | undefined;
  readonly amend: boolean;
  readonly noEdit: boolean;
  readonly noVerify: boolean;
  readonly allowEmpty: boolean;
  readonly signoff: boolean;
  readonly gpgSign: boolean;
  /** Options of git-commit(1) with their values, which are not looked at. */
  readonly passed: readonly string[];
  /** What git and its hooks say meanwhile. */
  readonly said: (text: Uint8Array) => void;
}

/** A commit that was made, and what HEAD was before. */
export interface MadeCommit {
  readonly commit: Oid;
  readonly base: Oid | null;
}

/** What is to be committed, decided. */
export interface CommitPlan {
  /** Paths as they are on the disk. */
  readonly whole: readonly string[];
  /** Paths with another content than on the disk; `null`: removed. */
  readonly entries: ReadonlyMap<string, FileState>;
  /** Made through an index of our own; else by git's `--only`, which keeps the worktree's index right itself. */
  readonly isPrivate: boolean;
  /** It finishes a merge or a pick: that index begins with all that the worktree's holds, not with HEAD. */
  readonly finishes?: boolean;
}

export const opensEditor = ({ messages, text, noEdit, passed }: GitCommitOptions): boolean =>
  messages.length === 0 && text === undefined && !noEdit && !hasSource({ kept: passed });

const shown = (words: GitCommitOptions) => (opensEditor(words) ? 'terminal' : words.said);

/**
 * Lets git make the commit, with its hooks and signing.
 *
 * @throws Failure `refused` when git or a hook says no; then the index is as it was
 */
export async function attemptCommit(
  scene: CommitScene,
  plan: CommitPlan,
  words: GitCommitOptions,
  now: number,
): Promise<MadeCommit | 'moved'> {
  const folder = mkdtempSync(join(tmpdir(), 'git-commit-'));
  try {
    const args = ['commit', ...wordsOf(words, folder)];
    return plan.isPrivate
      ? await commitPrivately(scene, plan, words, args, now)
      : await commitOnly(scene, plan, words, args, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function wordsOf(words: GitCommitOptions, folder: string): string[] {
  const args = words.messages.flatMap((message) => ['-m', message]);
  if (words.text !== undefined) {
    const file = join(folder, 'message');
    writeFileSync(file, words.text, { mode: 0o600 });
    args.push('-F', file);
  }
  return [...args, ...optionsOf(words)];
}

/** Everything but the message. */
export function optionsOf(words: GitCommitOptions): string[] {
  const flags = {
    amend: words.amend,
    'no-edit': words.noEdit,
    'no-verify': words.noVerify,
    'allow-empty': words.allowEmpty,
    signoff: words.signoff,
    'gpg-sign': words.gpgSign,
  };
  const given = Object.entries(flags).filter(([, isGiven]) => isGiven);
  return [...given.map(([name]) => `--${name}`), ...words.passed];
}

/** Tells our hook which commit HEAD must still be at. */
function expectation(head: Oid | null): Record<string, string> {
  return head === null ? {} : { GIT_HANDOFF_EXPECT: head };
}

/** `git commit --only`: git takes the paths from the disk, into both indexes. */
async function commitOnly(
  scene: CommitScene,
  { whole }: CommitPlan,
  words: GitCommitOptions,
  args: readonly string[],
  folder: string,
): Promise<MadeCommit | 'moved'> {
  const { top } = scene.work.tree;
  const { oid: head } = scene.work.snapshot.head;
  const paths = join(folder, 'paths');
  writeFileSync(paths, whole.map((path) => `${path}\0`).join(''), { mode: 0o600 });
  const limit = [`--pathspec-from-file=${paths}`, '--pathspec-file-nul'];
  const fresh = await newPaths(scene, whole);
  const announced = await announce(top, fresh);
  const env = words.amend ? expectation(head) : {};
  const only = ['--literal-pathspecs', ...args, '--only', ...(whole.length === 0 ? [] : limit)];
  const result =
    announced.code === 0
      ? await whileLocked(() => userGit(only, { cwd: top, env, show: shown(words) }))
      : announced;
  if (result.code === 0) {
    const commit = await commitOf(result, top);
    const [parent = null] = await parentsOf(top, commit);
    return { commit, base: words.amend ? head : parent };
  }
  await withdraw(top, fresh);
  const moved = ((await commitNamed(top, 'HEAD')) ?? null) !== head;
  if (moved && (result.code === 128 || words.amend)) return 'moved';
  throw commitRefusal(result);
}

/** Through an index of our own, which is HEAD with the session's share. The worktree's index is not touched. */
async function commitPrivately(
  scene: CommitScene,
  plan: CommitPlan,
  words: GitCommitOptions,
  args: readonly string[],
  now: number,
): Promise<MadeCommit | 'moved'> {
  const { place, tree, snapshot, lone } = scene.work;
  const { top } = tree;
  const { oid: head } = snapshot.head;
  const from = { ...tree, indexFile: scene.indexFile };
  const index = plan.finishes === true ? PrivateIndex.copy(from) : await PrivateIndex.open(from, head);
  try {
    await index.takeFromDisk(plan.whole);
    await index.set(plan.entries);
    if (place !== undefined && lone === undefined) {
      // The check before the commit accepts what is on record as put there by this session.
      appendEvents(place, scene.self, stagedEntries(plan.entries, snapshot, now));
    }
    const env = { ...index.env, ...expectation(head) };
    const result = await userGit(args, { cwd: top, env, show: shown(words) });
    if (result.code !== 0) {
      if (((await commitNamed(top, 'HEAD')) ?? null) !== head) return 'moved';
      throw commitRefusal(result);
    }
    const commit = await commitOf(result, top);
    if (words.amend) return { commit, base: head };
    const [parent = null] = await parentsOf(top, commit);
    if (parent === head) return { commit, base: head };
    // Somebody committed while ours began, and no hook noticed: ours would take that back.
    await runGit(['update-ref', '-m', 'git handoff commit: undone', 'HEAD', parent ?? '', commit], {
      cwd: top,
    });
    return 'moved';
  } finally {
    index.remove();
  }
}

/** That the session itself put these states into the index, knowing HEAD, for its ledger. */
export function stagedEntries(
  entries: ReadonlyMap<string, FileState>,
  { dirty }: TreeStatus,
  at: number,
): WorktreeEvent[] {
  return [...entries].map(([path, state]): WorktreeEvent => {
    const known = dirty.get(path);
    return { t: 'staged', path, state, ...(known === undefined ? {} : { head: known.head }), at };
  });
}

/** git names the commit that it made; where its stdout was the editor's, HEAD is it. */
async function commitOf({ stdout }: GitResult, top: string): Promise<Oid> {
  const name = /^\[.*? ([0-9a-f]{4,64})\]/m.exec(stdout.toString('utf8'))?.[1];
  const commit = await commitNamed(top, name ?? 'HEAD');
  if (commit === undefined)
    throw new Failure('integrity', 'git made a commit that cannot be found', { hint: 'git log' });
  return commit;
}

/** Entries of a plan that change something. */
export function changing(
  entries: ReadonlyMap<string, FileState>,
  heads: (path: string) => FileState,
): Map<string, FileState> {
  return new Map([...entries].filter(([path, state]) => !sameState(state, heads(path))));
}

/** After what git itself has said; this says what it came to. */
function commitRefusal(result: GitResult): Failure {
  if (isLocked(result)) {
    const message = 'another git process kept the index locked; nothing was committed';
    return new Failure('environment', message, { hint: 'git handoff doctor' });
  }
  if (result.code === 1) {
    const message = 'nothing was committed: git, or one of its hooks, refused it';
    const skip = /\bgit (?:cherry-pick|rebase) --skip\b/.exec(result.stderr)?.[0]; // HEAD has it all
    return new Failure('refused', message, { hint: skip ?? 'git handoff status' });
  }
  const lines = result.stderr.split('\n').map((line) => line.trim());
  const line = lines.find((one) => one.startsWith('fatal: ')) ?? lines.find((one) => one !== '') ?? '';
  const hint = /user\.email|empty ident/.test(result.stderr)
    ? 'git config user.email you@example.com'
    : 'git handoff status';
  return new Failure('environment', `git commit: ${escapeLine(line)}`, { hint });
}

/** Paths that no index entry announces: `--only` takes what git knows. */
async function newPaths(scene: CommitScene, whole: readonly string[]): Promise<string[]> {
  const { tree, snapshot } = scene.work;
  const candidates = whole.filter((path) => {
    const dirty = snapshot.dirty.get(path);
    return dirty?.index === null && dirty.disk !== null;
  });
  if (candidates.length === 0) return [];
  const known = await readEntries(tree.top, candidates);
  return candidates.filter((path) => known.get(path) === null);
}

async function announce(top: string, paths: readonly string[]): Promise<GitResult> {
  if (paths.length === 0) return { code: 0, stdout: Buffer.alloc(0), stderr: '' };
  const args = [
    '--literal-pathspecs',
    'add',
    '--intent-to-add',
    '--pathspec-from-file=-',
    '--pathspec-file-nul',
  ];
  const input = paths.map((path) => `${path}\0`).join('');
  return whileLocked(() => userGit(args, { cwd: top, input, show: 'quiet' }));
}

/** Takes announced paths out again; one that somebody has staged meanwhile stays. */
async function withdraw(top: string, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return;
  const staged = new Set((await stagedPaths(top)).map(({ path }) => path));
  const input = paths
    .filter((path) => !staged.has(path))
    .map((path) => `${path}\0`)
    .join('');
  const args = ['update-index', '--force-remove', '-z', '--stdin'];
  await whileLocked(() => runGit(args, { cwd: top, input }));
}

/** The command that was typed, to be typed again for a part of what it was meant for. */
export interface Again {
  readonly done: 'committed' | 'staged' | 'written';
  /** Without paths; `undefined` where git takes all or nothing. */
  readonly command: string | undefined;
}

/** `git handoff commit` as it was typed: the message and the options stay. */
export function commitAgain({ work }: CommitScene, words: GitCommitOptions): Again {
  const { commonDir } = work.tree;
  const { messages, text } = words;
  const message = text === undefined ? messageWords(commonDir, messages) : textWords(commonDir, text);
  const asked = opensEditor(words) ? (words.amend ? ' --no-edit' : " -m '<message>'") : message;
  return { done: 'committed', command: `git handoff commit${asked}${otherWords(optionsOf(words))}` };
}

/** The commands of a refusal of some paths: for the rest, where there is one, and the take for all of them. */
export function withoutOrTaken(
  { typedPaths, plainPaths }: CommitScene,
  { command }: Again,
  { rest, refused }: { rest: readonly string[]; refused: readonly string[] },
): { hint: string; otherHint?: string } {
  const take = `git handoff take${plainPaths(refused)}`;
  if (rest.length === 0 || command === undefined) return { hint: take };
  return { hint: `${command}${typedPaths(rest)}`, otherHint: take };
}

/** Notices about what is committed as it is on disk: another session's command has changed it, too. */
export function doubtNotices({ shares: { whole }, asker }: CommitScene): string[] {
  return whole.flatMap(({ dirty, doubts: [first] }) =>
    first === undefined
      ? []
      : [
          `${escapeLine(dirty.path)} was also changed while a command of ${peerName(first.session, asker.sides)} ran`,
        ],
  );
}

/** Notices about what was left out: others' files that a command of this session changed by the way. */
export function passedNotices(passed: readonly Share[], { asker }: CommitScene): string[] {
  const [first] = passed;
  if (first === undefined) return [];
  const names = listed(passed.map(({ dirty }) => escapeLine(dirty.path)));
  const owners = passed.flatMap(({ others }) => others.map(({ session }) => session));
  return [
    `left out: ${names}, uncommitted work of ${peerNames(owners, asker.sides)} that a command ` +
      'of this session only touched; its owner commits the file as it is on disk',
  ];
}

/** The commit holds HEAD's part; the file on the disk does not, and is left as it is. */
export function olderNotices({ shares, typed }: CommitScene): string[] {
  return shares.contended.flatMap(({ dirty: { path }, others }) =>
    others.length > 0
      ? []
      : [`${path} on disk lacks a change that HEAD has: git diff HEAD -- ${typed(path)}`],
  );
}
