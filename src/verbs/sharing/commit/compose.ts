import { Failure } from '../../../domain/failure.ts';
import type { FileState } from '../../../domain/ledger/tree-status.ts';
import { type HunkPlan, contentsOf, planHunks } from '../../../domain/ledger/hunks.ts';
import { type Share, atWorkBeside } from '../../../domain/ledger/ownership.ts';
import { type Oid, parseOid, peerName, peerNames, type SessionId } from '../../../domain/names.ts';
import { listed, escapeLine } from '../../../domain/surfacing.ts';
import { objectName } from '../../../git/hash.ts';
import { TextMerger } from '../../../git/merge-file.ts';
import { ObjectBatch } from '../../../git/objects.ts';
import { objectFormat } from '../../../git/repository.ts';
import { hashFiles, readContents, scratchStore } from '../../../git/scratch-store.ts';
import type { CommitScene } from './scene.ts';
import { messageWords, otherWords, textWords } from '../../../changes/hint-words.ts';
import { findUnfinished, operationText, whoBeganText, ownWorktree } from '../../../changes/operations.ts';
import { ago } from '../../../domain/age.ts';
import type { Operation } from '../../../git/operations.ts';
import { recordRefusal } from '../../../sessions/happenings.ts';
import { type GitCommitOptions, opensEditor, optionsOf } from './git-commit.ts';

/** Most files that the command of a hint names. */
const MAX_LOOK = 5;

/** What to commit of the contended paths. */
interface Composed {
  readonly entries: ReadonlyMap<string, FileState>;
  /** The contents of the entries, not stored yet. */
  readonly contents: ReadonlyMap<Oid, Buffer>;
  /** Others' paths that a command of this session changed in passing, and whose hunks cannot be separated. */
  readonly passed: readonly Share[];
}

/** A contended path whose hunks cannot be separated. */
interface Inseparable {
  readonly share: Share;
  readonly why: 'overlap' | 'unknown';
}

/**
 * Composes HEAD's content with this session's hunks for each contended path, and stores it in the repository for the
 * commit.
 *
 * @throws Failure as `composeHunks` does
 */
export async function composeContended(scene: CommitScene, again: Again): Promise<Composed> {
  const composed = await composeHunks(scene, again);
  if (composed.contents.size === 0) return composed;
  const { top: cwd } = scene.work.tree;
  const batch = new ObjectBatch(await objectFormat({ cwd }));
  for (const content of composed.contents.values()) batch.blob(content);
  await batch.store({ cwd });
  return composed;
}

/**
 * Does the same as `composeContended`, but stores nothing. Leaves out files that no command of this session named, if
 * their hunks cannot be separated.
 *
 * @throws Failure `not-owner` when hunks of other files overlap, touch, or cannot be separated
 */
export async function composeHunks(scene: CommitScene, again: Again): Promise<Composed> {
  const { contended } = scene.shares;
  if (contended.length === 0) return { entries: new Map(), contents: new Map(), passed: [] };
  const { entries, contents, failed } = await composeAll(scene);
  const named = failed.filter(({ share }) => !share.isPassing);
  if (named.length > 0) throw inseparable(scene, named, again, [...entries.keys()]);
  return { entries, contents, passed: failed.map(({ share }) => share) };
}

async function composeAll(scene: CommitScene): Promise<{
  entries: Map<string, FileState>;
  contents: Map<Oid, Buffer>;
  failed: readonly Inseparable[];
}> {
  const entries = new Map<string, FileState>();
  const contents = new Map<Oid, Buffer>();
  const failed: Inseparable[] = [];
  const { contended } = scene.shares;
  const { top, commonDir } = scene.work.tree;
  const scratch = scratchStore(commonDir);
  const paths = contended.map(({ dirty }) => dirty.path);
  const onDisk = await hashFiles(top, paths, { scratch });
  const format = await objectFormat({ cwd: top });
  const merger = new TextMerger();
  try {
    for (const share of contended) {
      const { path, head, disk: seen } = share.dirty;
      const oid = onDisk.get(path);
      const disk = seen === null || oid === undefined ? seen : { ...seen, oid };
      const plan = planHunks({ head, disk, mine: share.mine, others: share.others });
      if (plan.kind === 'removed') {
        entries.set(path, null);
        continue;
      }
      if (plan.kind !== 'apply') {
        failed.push({ share, why: plan.kind });
        continue;
      }
      const read = await contentReader(top, scratch, plan, disk?.oid ?? null);
      const content = await merge(merger, plan, read, disk?.oid ?? null);
      if (typeof content === 'string') failed.push({ share, why: content });
      else {
        const name = parseOid(objectName(format, 'blob', content)) ?? null;
        if (name !== null) contents.set(name, content);
        entries.set(path, { mode: plan.mode, oid: name });
      }
    }
  } finally {
    merger.close();
  }
  return { entries, contents, failed };
}

type Reader = (oid: Oid | null) => Buffer | undefined;

async function contentReader(
  top: string,
  scratch: ReturnType<typeof scratchStore>,
  plan: Extract<HunkPlan, { kind: 'apply' }>,
  disk: Oid | null,
): Promise<Reader> {
  const names = [...contentsOf(plan), ...(disk === null ? [] : [disk])];
  const contents = await readContents(top, scratch, names);
  const known = new Map(names.map((name, n) => [name, contents[n]]));
  return (oid) => (oid === null ? Buffer.alloc(0) : known.get(oid));
}

/**
 * Applies the steps. Merging the result into the file on the disk must change nothing: otherwise hunks of several
 * sessions overlap or touch, or somebody has undone some of them.
 */
async function merge(
  merger: TextMerger,
  plan: Extract<HunkPlan, { kind: 'apply' }>,
  read: Reader,
  disk: Oid | null,
): Promise<Buffer | 'overlap' | 'unknown'> {
  const start = read(plan.start);
  const now = read(disk);
  if (start === undefined || now === undefined) return 'unknown';
  let content = start;
  for (const step of plan.steps) {
    const [before, after] = [read(step.before), read(step.after)];
    if (before === undefined || after === undefined) return 'unknown';
    const merged = await merger.apply(content, before, after);
    if (merged.kind !== 'merged') return merged.kind === 'conflict' ? 'overlap' : 'unknown';
    content = merged.content;
  }
  const again = await merger.apply(now, start, content);
  if (again.kind === 'binary') return 'unknown';
  return again.kind === 'merged' && again.content.equals(now) ? content : 'overlap';
}

function inseparable(
  scene: CommitScene,
  failed: readonly Inseparable[],
  again: Again,
  composed: readonly string[],
): Failure {
  const { self, typed, typedPaths, shares } = scene;
  const { done, command } = again;
  const { groups } = scene.asker;
  const own = peerName(self, groups);
  const rest = [...shares.whole.map(({ dirty }) => dirty.path), ...composed];
  const beside = failed.filter(({ share }) => share.others.length === 0).map(({ share }) => share.dirty.path);
  if (beside.length > 0) {
    const message = `${listed(beside)}: HEAD has a new change where this session (${own}) changed it; nothing was ${done}. Merge the two in the file, then commit again`;
    const look = `git diff HEAD -- ${beside.slice(0, MAX_LOOK).map(typed).join(' ')}`;
    const hints = { hint: `${command ?? ''}${typedPaths(rest)}`, otherHint: look };
    return new Failure(
      'not-owner',
      message,
      rest.length === 0 || command === undefined ? { hint: look } : hints,
    );
  }
  const sessions = failed.flatMap(({ share }) => share.others.map(({ session }) => session));
  const whose = peerNames(sessions, groups);
  const paths = failed.map(({ share }) => share.dirty.path);
  const why = failed.every((one) => one.why === 'overlap')
    ? 'overlap or touch'
    : 'cannot be separated (not text, or too large)';
  const message =
    `${listed(paths)}: the changes of this session (${own}) and of ${whose} ${why}; nothing was ` +
    `${done}. Wait until ${whose} commits; if neither can, ask the user to commit ${paths.length === 1 ? 'it' : 'them'}`;
  return new Failure(
    'not-owner',
    message,
    withoutOrTaken(scene, again, { rest, refused: paths, owners: sessions }),
  );
}

/** The command as it was typed, for hints that repeat it with fewer paths. */
export interface Again {
  readonly done: 'committed' | 'staged' | 'written';
  /** The command without paths; `undefined` where git commits all or nothing. */
  readonly command: string | undefined;
}

/** `git handoff commit` with its message and options as they were typed. */
export function commitAgain({ work }: CommitScene, words: GitCommitOptions): Again {
  const { commonDir } = work.tree;
  const { messages, text } = words;
  const message = text === undefined ? messageWords(commonDir, messages) : textWords(commonDir, text);
  const asked = opensEditor(words) ? (words.amend ? ' --no-edit' : " -m '<message>'") : message;
  return { done: 'committed', command: `git handoff commit${asked}${otherWords(optionsOf(words))}` };
}

/**
 * The hints of a refusal: the same command for the other paths, if there are any, and, if no owner of a refused path is
 * at work, the command that takes these paths over.
 */
function withoutOrTaken(
  { typedPaths, plainPaths, asker }: CommitScene,
  { command }: Again,
  {
    rest,
    refused,
    owners,
  }: { rest: readonly string[]; refused: readonly string[]; owners: readonly SessionId[] },
): { hint: string; otherHint?: string } {
  const hints = [
    ...(rest.length === 0 || command === undefined ? [] : [`${command}${typedPaths(rest)}`]),
    ...(atWorkBeside(owners, asker.groups).length > 0 ? [] : [`git handoff take${plainPaths(refused)}`]),
  ];
  const [hint = 'git handoff status', otherHint] = hints;
  return { hint, ...(otherHint === undefined ? {} : { otherHint }) };
}

/**
 * Refuses named paths that belong to other live sessions, and leaves these sessions a request.
 *
 * @throws Failure `not-owner`
 */
export function requireOwnership(scene: CommitScene, again: Again, now: number): void {
  const { shares } = scene;
  if (shares.refused.length === 0) return;
  const refused = shares.refused.map(({ path }) => path);
  const sessions = shares.refused.map(({ claim }) => claim.session);
  const whose = peerNames(sessions, scene.asker.groups);
  const holds = refused.length > 1 ? 'hold' : 'holds';
  const rest = [...shares.whole, ...shares.contended].map(({ dirty }) => dirty.path);
  const message = `${listed(refused)} ${holds} uncommitted changes of ${whose}; nothing was ${again.done}`;
  const { self, work } = scene;
  const claims = shares.refused.map(({ claim }) => claim);
  const asked =
    work.place === undefined ? undefined : ({ place: work.place, wish: 'commit', claims } as const);
  recordRefusal({ commonDir: work.tree.commonDir, session: self, text: message, asked, now });
  const hints = withoutOrTaken(scene, again, { rest, refused, owners: sessions });
  throw new Failure('not-owner', message, hints);
}

/**
 * Returns the operation that a commit here would finish: a merge, or a single pick or revert, that this session began.
 *
 * @throws Failure `not-owner` when another live session began it, `usage` when nobody knows who did, or when git itself
 * makes the commits of a sequence
 */
export function unfinishedHere(
  { work, asker, self, typed }: CommitScene,
  now: number,
): Operation | undefined {
  const { tree, place } = work;
  const found = findUnfinished(tree.gitDir, place, asker.groups);
  if (found === undefined) return undefined;
  const { operation, others, isOwn } = found;
  if (others !== undefined) {
    throw new Failure(
      'not-owner',
      whoBeganText(others, peerName(others.session, asker.groups), ago(others.at, now)),
      {
        hint: `git worktree add ${typed(ownWorktree(tree.top, self))}`,
      },
    );
  }
  if (isOwn && !operation.isSequence) return operation;
  const what = operationText(operation.name);
  if (isOwn) {
    throw new Failure('usage', `${what} is in progress here, in which git itself makes the commits`, {
      hint: `git -c core.editor=true ${operation.name} --continue`,
    });
  }
  throw new Failure('usage', `${what} is in progress here; whoever began it must finish or abort it`, {
    hint: 'git status',
  });
}

/** Notices about what was left out: others' files that a command of this session changed in passing. */
export function passedNotices(passed: readonly Share[], { asker }: CommitScene): string[] {
  const [first] = passed;
  if (first === undefined) return [];
  const names = listed(passed.map(({ dirty }) => escapeLine(dirty.path)));
  const owners = passed.flatMap(({ others }) => others.map(({ session }) => session));
  return [
    `left out: ${names}, uncommitted work of ${peerNames(owners, asker.groups)} that a command ` +
      'of this session only touched; its owner commits the file as it is on disk',
  ];
}
