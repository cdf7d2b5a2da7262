import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Settings, unknownValueText } from '../../domain/settings.ts';
import { type Committer, type Repository, requireVersion } from '../../git/repository.ts';
import { git } from '../../git/run.ts';
import { repositoryFolder, stateFolder } from '../../host/folders.ts';
import { LOG_FILE, readLog } from '../../host/log.ts';
import type { Context } from '../../sessions/caller.ts';
import { counted } from '../../ui/terminal.ts';
import type { CheckShape } from '../shapes.ts';
import { doctorLine } from './finding.ts';
import { shellWord } from '../../domain/surfacing.ts';
import { type FetchRule, readFetchRules, readSettingsAndRemotes } from '../../git/config.ts';
import { REMOTE, parseTrackingRef, remotePrefix } from '../../git/namespace.ts';
import { listRefNames } from '../../git/refs.ts';

/** Checks that git is installed and new enough. */
export async function checkGit(cwd: string): Promise<CheckShape[]> {
  const version = (await git(['--version'], { cwd })).trim();
  requireVersion(version);
  return [doctorLine('git', 'ok', version)];
}

/** Checks that `init` ran here, and that git knows the person's e-mail address. */
export function checkInit(repository: Repository, settings: Settings, person: Committer): CheckShape[] {
  const enabled =
    settings.enabled === true
      ? doctorLine('enabled', 'ok', 'handoff.enabled is true')
      : doctorLine(
          'enabled',
          'warning',
          'sessions are not registered in this repository',
          'git handoff init',
        );
  const folder = statSync(repositoryFolder(repository.commonDir), { throwIfNoEntry: false }) !== undefined;
  const found = [
    enabled,
    ...settings.unknown.map((one) => doctorLine('settings', 'warning', unknownValueText(one))),
  ];
  if (settings.enabled === true && !folder) {
    found.push(
      doctorLine(
        'folder',
        'problem',
        `${repositoryFolder(repository.commonDir)} is missing`,
        'git handoff init',
      ),
    );
  }
  if (person.email === undefined) {
    found.push(
      doctorLine(
        'identity',
        'warning',
        'git knows no e-mail address: people cannot write notes',
        'git config user.email you@example.com',
      ),
    );
  }
  return found;
}

const RECENT_LINES = 500;

/** Counts what the guard logged lately: refusals are its work, errors are our fault. */
export function checkHookLog(repository: Repository, context: Context): CheckShape[] {
  const folders = [repositoryFolder(repository.commonDir), stateFolder(context.env)];
  const lines = folders.flatMap((folder) =>
    readLog(folder).trimEnd().split('\n').filter(Boolean).slice(-RECENT_LINES),
  );
  const count = (kind: RegExp) => lines.filter((line) => kind.test(line)).length;
  const failures = count(/"kind":"(?:error|open|failed-open)"/);
  const denials = count(/"kind":"deny"/);
  const detail = `${counted(denials, 'refusal')} and ${counted(failures, 'call')} let through because of an error, in the last ${counted(lines.length, 'line')}`;
  if (failures === 0) return [doctorLine('log', 'ok', detail)];
  return [doctorLine('log', 'warning', detail, `tail ${join(folders[0] ?? '', LOG_FILE)}`)];
}

/**
 * Checks that no fetch of git's own writes our refs. With `+refs/*:refs/*` (a mirror) it replaces the handoffs here by
 * the remote's; with pruning it also deletes what the remote does not have, even the copies of former handoffs.
 */
export async function checkRemotes(cwd: string): Promise<CheckShape[]> {
  const rules = (await readFetchRules(cwd)).filter(({ refspec }) => writesHandoffs(refspec));
  return rules.map(({ remote, refspec, prunes }) => {
    const harm = prunes ? 'replaces and deletes handoffs' : 'replaces handoffs by those of the remote';
    const detail = `git fetch ${shellWord(remote)} ${harm}: remote.${shellWord(remote)}.fetch is ${shellWord(refspec)}`;
    return doctorLine('remotes', prunes ? 'problem' : 'warning', detail, harmless({ remote, refspec }));
  });
}

/** Whether a refspec `[+]<src>:<dst>` (git-fetch(1)) writes below one of our folders, or to a pattern above. */
function writesHandoffs(refspec: string): boolean {
  const target = refspec.startsWith('^') ? '' : (refspec.split(':')[1] ?? '');
  const [prefix = ''] = target.split('*');
  const isAbove =
    target.includes('*') && ['refs/handoffs/', 'refs/handoffs-local/'].some((own) => own.startsWith(prefix));
  return isAbove || /^refs\/handoffs(?:-local)?\//.test(target);
}

/** Returns the command that replaces it by the refspec of an ordinary clone. */
function harmless({ remote, refspec }: Pick<FetchRule, 'remote' | 'refspec'>): string {
  const ordinary = `+refs/heads/*:refs/remotes/${remote}/*`;
  const words = ['--fixed-value', '--replace-all', `remote.${remote}.fetch`, ordinary, refspec];
  return `git config ${words.map(shellWord).join(' ')}`;
}

/** Finds refs of remotes that `git remote` removed or renamed, because git does not know these refs. */
export async function checkGoneRemotes(cwd: string): Promise<CheckShape[]> {
  const names = (await listRefNames({ cwd }, [REMOTE])).map(({ name }) => name);
  if (names.length === 0) return [];
  const { remotes } = await readSettingsAndRemotes(cwd);
  const shown = new Set(names.flatMap((name) => parseTrackingRef(name)?.remote ?? []));
  // A remote named by an address was never configured, and so is not gone.
  const gone = [...shown].filter((remote) => !remotes.has(remote) && !/^[./~]/.test(remote));
  return gone.map((remote) => {
    const prefix = remotePrefix(remote);
    const count = counted(names.filter((name) => name.startsWith(prefix)).length, 'ref');
    const detail = `what remote ${shellWord(remote)} showed is still here (the remote was removed or renamed): ${count}`;
    const list = `git for-each-ref --format=${shellWord('delete %(refname)')} ${shellWord(prefix)}`;
    return doctorLine('remotes', 'warning', detail, `${list} | git update-ref --stdin`);
  });
}
