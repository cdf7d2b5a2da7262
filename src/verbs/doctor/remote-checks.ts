import { shellWord } from '../../domain/surfacing.ts';
import { type FetchRule, readFetchRules, readSettingsAndRemotes } from '../../git/config.ts';
import { listBookkeeping } from '../../git/migrate-ref-lists.ts';
import { HANDOFFS, REMOTE, parsePath, parseTrackingRef, remotePrefix } from '../../git/namespace.ts';
import { updateRefs } from '../../git/ref-updates.ts';
import type { RefValue } from '../../git/refs.ts';
import type { Budget } from '../../host/io.ts';
import { compareWithRemotes } from '../../notes/tracking.ts';
import { counted } from '../../ui/terminal.ts';
import type { CheckShape } from '../shapes.ts';
import { doctorLine, FIX } from './finding.ts';

/**
 * No fetch of git's own may write our refs: with `+refs/*:refs/*` (a mirror) the remote's handoffs replace those
 * here, and with pruning what the remote does not have is deleted, the copies of what was there before included.
 */
export async function checkRemotes(cwd: string): Promise<CheckShape[]> {
  const rules = (await readFetchRules(cwd)).filter(({ refspec }) => writesHandoffs(refspec));
  return rules.map(({ remote, refspec, prunes }) => {
    const harm = prunes ? 'replaces and deletes handoffs' : 'replaces handoffs by those of the remote';
    const detail = `git fetch ${shellWord(remote)} ${harm}: remote.${shellWord(remote)}.fetch is ${shellWord(refspec)}`;
    return doctorLine('remotes', prunes ? 'problem' : 'warning', detail, harmless({ remote, refspec }));
  });
}

/** Where a refspec `[+]<src>:<dst>` (git-fetch(1)) writes: below one of our folders, or above. */
function writesHandoffs(refspec: string): boolean {
  const target = refspec.startsWith('^') ? '' : (refspec.split(':')[1] ?? '');
  const [prefix = ''] = target.split('*');
  const isAbove =
    target.includes('*') && ['refs/handoffs/', 'refs/handoffs-local/'].some((own) => own.startsWith(prefix));
  return isAbove || /^refs\/handoffs(?:-local)?\//.test(target);
}

/** The command that makes it the refspec of an ordinary clone. */
function harmless({ remote, refspec }: Pick<FetchRule, 'remote' | 'refspec'>): string {
  const ordinary = `+refs/heads/*:refs/remotes/${remote}/*`;
  const words = ['--fixed-value', '--replace-all', `remote.${remote}.fetch`, ordinary, refspec];
  return `git config ${words.map(shellWord).join(' ')}`;
}

/**
 * What a remote showed stays when `git remote` removes or renames it, for git knows nothing of these refs. With `fix` those
 * go whose every version stands here, too.
 */
export async function checkGoneRemotes(cwd: string, fix: boolean, budget: Budget): Promise<CheckShape[]> {
  const refs = await listBookkeeping({ cwd }, [HANDOFFS, REMOTE]);
  if (!refs.some(({ name }) => name.startsWith(REMOTE))) return [];
  const { remotes } = await readSettingsAndRemotes(cwd);
  const gone = refs.filter(({ name }) => {
    const remote = parseTrackingRef(name)?.remote;
    // An address is no remote that anybody has removed.
    return remote !== undefined && !remotes.has(remote) && !/^[./~]/.test(remote);
  });
  if (gone.length === 0) return [];
  const held = await heldHere(cwd, refs, gone, budget);
  const found: CheckShape[] = [];
  for (const remote of new Set(gone.flatMap(({ name }) => parseTrackingRef(name)?.remote ?? []))) {
    const own = gone.filter(({ name }) => name.startsWith(remotePrefix(remote)));
    const [safe, only] = [own.filter((ref) => held.has(ref)), own.filter((ref) => !held.has(ref))];
    const updates = safe.map(({ name, oid }) => ({ ref: name, next: undefined, old: oid }));
    const removed = fix && updates.length > 0 && (await updateRefs({ cwd }, updates)).kind === 'done';
    const what = `what remote ${shellWord(remote)} showed is still here (the remote was removed or renamed)`;
    if (removed)
      found.push(doctorLine('remotes', 'fixed', `${what}: ${counted(safe.length, 'ref')} removed`));
    else if (safe.length > 0)
      found.push(doctorLine('remotes', 'warning', `${what}: ${counted(safe.length, 'ref')}`, FIX));
    if (only.length > 0) {
      const detail = `${what}: ${counted(only.length, 'handoff')} with versions that are not here`;
      found.push(
        doctorLine('remotes', 'warning', detail, `git for-each-ref ${shellWord(remotePrefix(remote))}`),
      );
    }
  }
  return found;
}

/** Tracking refs of which every version is in the handoff here. */
async function heldHere(
  cwd: string,
  refs: readonly RefValue[],
  gone: readonly RefValue[],
  budget: Budget,
): Promise<ReadonlySet<RefValue>> {
  const tips = refs.flatMap(({ name, oid }) => {
    const path = parsePath(name, HANDOFFS);
    return path === undefined ? [] : [{ path, oid }];
  });
  const tracking = await compareWithRemotes({ cwd }, refs, tips, budget);
  return new Set(
    gone.filter(({ name }) => {
      const place = parseTrackingRef(name);
      const relation = place && tracking.of(place).find(({ remote }) => remote === place.remote);
      return relation?.state === 'in-sync' || relation?.state === 'ahead';
    }),
  );
}
