import { type Oid, parseBranchName } from '../domain/names.ts';
import { type Settings, parseSettings } from '../domain/settings.ts';
import { readSettingEntries } from './config.ts';
import { runGit } from './run.ts';

/** A configured remote. */
export interface Remote {
  readonly name: string;
  /** The URL that git fetches from, as it is configured. */
  readonly url: string;
  /** The URLs that git pushes to. */
  readonly pushUrls: readonly string[];
}

/** What the configuration says about remotes. */
export interface Remotes {
  readonly all: readonly Remote[];
  /** The remote that `git fetch` without a name would ask. */
  readonly usual: string | undefined;
  /** Our settings, which the same process reads. */
  readonly settings: Settings;
}

/** Reads the configured remotes, and the settings, in one process; `branch` is the current one. */
export async function readRemotes(cwd: string, branch: string): Promise<Remotes> {
  const keys = '^(handoff\\..*|remote\\..*\\.(url|pushurl)|branch\\..*\\.remote)$';
  const settings = await readSettingEntries({ cwd }, keys);
  const [urls, pushUrls] = [new Map<string, string[]>(), new Map<string, string[]>()];
  let upstream: string | undefined;
  for (const [key, value = ''] of settings) {
    const name = key.slice(key.indexOf('.') + 1, key.lastIndexOf('.'));
    const kind = key.endsWith('.pushurl') ? pushUrls : urls;
    if (key.startsWith('remote.')) kind.set(name, [...(kind.get(name) ?? []), value]);
    else if (key === `branch.${branch}.remote`) upstream = value;
  }
  const all = [...urls].map(([name, own]) => {
    return { name, url: own[0] ?? '', pushUrls: pushUrls.get(name) ?? own };
  });
  // A branch may name a remote that is not configured; we skip it. If there is only one remote, we use that.
  const usual =
    [upstream, 'origin'].find((name) => urls.has(name ?? '')) ??
    (all.length === 1 ? all[0]?.name : undefined);
  return { all, usual, settings: parseSettings(settings) };
}

/** Whether a remote-tracking branch contains a commit: if so, undoing it here does not undo it there. `true` in doubt. */
export async function isPushed(cwd: string, oid: Oid): Promise<boolean> {
  const args = ['for-each-ref', '--count=1', `--contains=${oid}`, '--format=%(refname)', 'refs/remotes/'];
  const result = await runGit(args, { cwd });
  return result.code !== 0 || result.stdout.length > 0;
}

/** Whether git itself would create a remote of this name: it is not an option, and a ref can contain it. */
export function isRemoteName(name: string): boolean {
  return parseBranchName(name) !== undefined;
}

/**
 * Variables that make git push to a remote of `git clone --mirror` as to any other: without them it would force-push all
 * refs or none. `-c` cannot do it, because a remote's name may contain `=`. `env`: the environment to add them to.
 */
export function notMirrored(env: NodeJS.ProcessEnv, remote: string): Record<string, string> {
  const count = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  return {
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: `remote.${remote}.mirror`,
    [`GIT_CONFIG_VALUE_${count}`]: 'false',
  };
}

/**
 * Why a remote could not be asked, in git's own words: its `fatal:` line, or the words of ssh or the server before it when
 * that line says only that git could not read.
 */
export function remoteWords(stderr: string): string {
  const trimmed = stderr.split('\n').map((line) => line.trim());
  const lines = trimmed.filter((line) => line !== '' && !PROGRESS.test(line));
  const fatal = lines.findIndex((line) => line.startsWith('fatal: '));
  const reason = fatal < 0 ? lines.find((line) => /^(?:error|remote|ssh): /.test(line)) : lines[fatal];
  const isEmpty = reason?.startsWith('fatal: Could not read from remote repository') === true;
  const cause = isEmpty ? (lines[fatal - 1] ?? reason) : (reason ?? lines[0] ?? '');
  return cause.replace(/^fatal: /, '');
}

/** A line of progress of git, or of the server's git. */
const PROGRESS = /^(?:remote: )?[A-Z][\w ]+: +\d+(?:%|, done|$)|^remote: Total \d/;
