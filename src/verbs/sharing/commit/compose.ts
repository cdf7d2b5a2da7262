import { Failure } from '../../../domain/failure.ts';
import type { FileState } from '../../../domain/ledger/file-state.ts';
import { type HunkPlan, contentsOf, planHunks } from '../../../domain/ledger/hunks.ts';
import type { Share } from '../../../domain/ledger/shares.ts';
import { type Oid, parseOid, peerName, peerNames } from '../../../domain/names.ts';
import { listed } from '../../../domain/surfacing.ts';
import { objectName } from '../../../git/hash.ts';
import { TextMerger } from '../../../git/merge-file.ts';
import { ObjectBatch } from '../../../git/object-batch.ts';
import { objectFormat } from '../../../git/repository.ts';
import { hashFiles, readContents, scratchStore } from '../../../git/scratch-store.ts';
import { type Again, withoutOrTaken } from './refusals.ts';
import type { CommitScene } from './scene.ts';

/** How many files one command shows. */
const MAX_LOOK = 5;

/** What becomes of the contended paths. */
export interface Composed {
  readonly entries: ReadonlyMap<string, FileState>;
  /** The contents of the entries, not stored yet. */
  readonly contents: ReadonlyMap<Oid, Buffer>;
  /** Others' paths that a command of this session changed by the way, in a manner that cannot be told apart. */
  readonly passed: readonly Share[];
}

/** A path whose hunks are in each other's way. */
interface Inseparable {
  readonly share: Share;
  readonly why: 'overlap' | 'unknown';
}

/**
 * HEAD's content with this session's hunks, for each contended path. The contents are stored in the repository, to be
 * committed.
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
 * The same, but nothing is stored.
 *
 * @throws Failure `not-owner` when hunks overlap, touch, or cannot be told apart: then nothing is to be staged. Not for
 * what no command of this session named: that is left out
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
 * Applies the steps. Applied to what is on the disk, the outcome must change nothing: else the sessions' hunks
 * overlap or touch there, or somebody has undone some of them.
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
