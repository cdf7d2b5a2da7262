import { shellWord } from '../../domain/surfacing.ts';
import { type FetchRule, readFetchRules } from '../../git/config.ts';
import type { CheckShape } from '../shapes.ts';
import { doctorLine } from './finding.ts';

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
