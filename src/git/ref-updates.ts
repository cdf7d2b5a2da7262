import { type Oid, type RefName, isZeroOid, parseOid } from '../domain/names.ts';
import { NOT_SYNCED } from './environment.ts';
import { listRefs } from './refs.ts';
import type { InRepository } from './repository.ts';
import { gitFailure, runGit } from './run.ts';

/** One line of a transaction: move `ref` from `old` to `next`. No `old` = must not exist; no `next` = delete. */
export interface RefUpdate {
  readonly ref: RefName;
  readonly next: Oid | undefined;
  readonly old: Oid | undefined;
}

export type TransactionResult =
  | { readonly kind: 'done' }
  /** A ref did not have its old value any more: somebody else was first. */
  | { readonly kind: 'moved' }
  /** A lock exists: a running writer holds it, or a dead one left it. */
  | { readonly kind: 'locked'; readonly detail: string }
  /** The objects were pruned between their write and this call. */
  | { readonly kind: 'objects-gone' }
  /** A ref exists where this one needs a folder, or the other way round. */
  | { readonly kind: 'name-conflict'; readonly detail: string };

/**
 * Moves refs in one `git update-ref --stdin` transaction, each by compare-and-swap. Text form: there
 * an absent old value means "must not exist", while the `-z` form would force (git-update-ref(1)).
 *
 * `leads`: the first ref decides whether the transaction is done, and the next reader updates the others.
 * `repeatable`: the next run repeats what a crash takes back, so nothing is synced to the disk.
 *
 * @throws Failure when git fails for any other reason than those of the result.
 */
export async function updateRefs(
  repository: InRepository,
  updates: readonly RefUpdate[],
  options: { reflog?: string; repeatable?: boolean; leads?: boolean } = {},
): Promise<TransactionResult> {
  const { cwd } = repository;
  const config = options.repeatable === true ? NOT_SYNCED : [];
  const reflog = options.reflog === undefined ? [] : ['--create-reflog', '-m', options.reflog];
  const command = [...config, 'update-ref', '--no-deref', ...reflog, '--stdin'];
  const result = await runGit(command, { cwd, input: transactionWords(updates) });
  if (/^commit: ok$/m.test(result.stdout.toString('utf8'))) return { kind: 'done' };
  const dangling = danglingRef(result.stderr, updates);
  if (dangling !== undefined) {
    await removeSymbolicRef(repository, dangling);
    return updateRefs(repository, updates, options);
  }
  // A system call that fails after the rename makes git report a failure although the ref has moved.
  const telling = options.leads === true ? updates.slice(0, 1) : updates;
  if (await alreadyApplied(repository, telling)) return { kind: 'done' };
  return classify(result.stderr) ?? Promise.reject(gitFailure('update-ref', result));
}

/** The updates in the words that git-update-ref(1) reads. */
function transactionWords(updates: readonly RefUpdate[]): string {
  const lines = updates.map(({ ref, next, old }) => {
    if (next === undefined) return `delete ${ref} ${checked(old)}`;
    return old === undefined
      ? `create ${ref} ${checked(next)}`
      : `update ${ref} ${checked(next)} ${checked(old)}`;
  });
  return ['start', ...lines, 'prepare', 'commit', ''].join('\n');
}

/** The ref that blocks the update because it is a symbolic ref to nothing: newer versions of git do not replace it. */
function danglingRef(stderr: string, updates: readonly RefUpdate[]): RefName | undefined {
  const [, name] = /cannot lock ref '([^']+)': dangling symref already exists/.exec(stderr) ?? [];
  return updates.find(({ ref }) => ref === name)?.ref;
}

/** @throws Failure when git cannot delete it, so that the caller does not try for ever */
async function removeSymbolicRef({ cwd }: InRepository, ref: RefName): Promise<void> {
  const result = await runGit(['symbolic-ref', '--delete', '--', ref], { cwd });
  if (result.code !== 0) throw gitFailure('symbolic-ref', result);
}

function classify(stderr: string): TransactionResult | undefined {
  const detail = stderr.trim().split('\n')[0] ?? '';
  if (/nonexistent object/.test(stderr)) return { kind: 'objects-gone' };
  if (/exists; cannot create|cannot process (?:(?!cannot process ).)* at the same time/.test(stderr))
    return { kind: 'name-conflict', detail };
  if (/but expected|reference already exists|unable to resolve reference/.test(stderr))
    return { kind: 'moved' };
  if (/\.lock': File exists|cannot lock references/.test(stderr)) return { kind: 'locked', detail };
  return undefined;
}

function checked(oid: Oid | undefined): Oid {
  const value = oid === undefined ? undefined : parseOid(oid);
  if (value === undefined || isZeroOid(value))
    throw new TypeError('a ref transaction needs checked object names');
  return value;
}

async function alreadyApplied(repository: InRepository, updates: readonly RefUpdate[]): Promise<boolean> {
  const found = await listRefs(
    repository,
    updates.map((update) => update.ref),
  );
  const values = new Map(found.map((ref) => [ref.name, ref.oid]));
  return updates.every((update) => update.next !== undefined && values.get(update.ref) === update.next);
}
