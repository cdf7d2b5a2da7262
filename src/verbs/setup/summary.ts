import { basename, dirname } from 'node:path';
import { escapeLine } from '../../domain/messages.ts';
import { repositoryFolder, stateFolder } from '../../host/folders.ts';
import type { Change } from '../../install/changes.ts';
import type { InstallContext } from '../../install/client.ts';
import { INSTALLERS } from '../../install/clients.ts';
import type { RepositoryFacts } from '../../install/repository-facts.ts';

/** How many rows fit on a screen, besides the other lines. */
const MOST_ROWS = 10;
const RECORDS = 'our records';
/** The column at which a row's gloss begins, except after longer paths. */
const WIDTH = 43;

type Places = Pick<InstallContext, 'cwd' | 'home' | 'env'>;

interface Row {
  /** The paths, all in one folder. */
  readonly paths: readonly string[];
  readonly gloss: string;
}

/** Summarizes a plan by file: after `in ~/app:`, one line for all paths of a folder that have the same gloss. */
export function summarize(
  changes: readonly Change[],
  { cwd, home, env }: Places,
  repository: RepositoryFacts | undefined,
): string {
  const base = repository?.topLevel ?? repository?.commonDir ?? cwd;
  const ours = [repositoryFolder(repository?.commonDir ?? cwd), stateFolder({ ...env, HOME: home })];
  const rows = new Map<string, Row>();
  for (const change of changes) {
    const records = ours.find((folder) => change.path === folder || change.path.startsWith(`${folder}/`));
    const gloss = records === undefined ? glossOf(change) : recordsGloss(change);
    if (gloss === undefined) continue;
    const path = shortPath(records === undefined ? change.path : `${records}/`, base, home);
    const key = records === undefined ? `${gloss}\0${dirname(path)}` : gloss;
    rows.set(key, { paths: [...new Set([...(rows.get(key)?.paths ?? []), path])], gloss });
  }
  const sorted = [...rows.values()].sort((a, b) => rank(a) - rank(b));
  const kept = sorted.slice(0, sorted.length > MOST_ROWS ? MOST_ROWS - 1 : MOST_ROWS);
  const lines = kept.map(({ paths, gloss }) => `  ${joined(paths).padEnd(WIDTH)}  ${gloss}\n`);
  const more = sorted.length - kept.length;
  const rest = more === 0 ? '' : `  … and ${more} more lines\n`;
  return `in ${shortPath(base, undefined, home)}:\n${lines.join('')}${rest}`;
}

/** Ranks `handoff.enabled` first, and git-handoff's own records last: they come first in a plan, but matter least. */
function rank({ gloss }: Row): number {
  return gloss.includes('handoff.enabled') ? 0 : gloss.startsWith(RECORDS) ? 2 : 1;
}

function recordsGloss(change: Change): string {
  const isGone = change.kind === 'remove-folder' || (change.kind === 'file' && change.after === undefined);
  return isGone ? `${RECORDS}, removed` : RECORDS;
}

function glossOf(change: Change): string | undefined {
  if (change.kind !== 'file') return undefined;
  const { role, path, client, before, after } = change;
  if (role === 'bookkeeping' || role === 'node') return RECORDS;
  if (after === undefined) return 'removed: init created it';
  if (role === 'config') return configGloss(before, after);
  if (role === 'skill') return 'the skill git-handoff';
  if (role === 'exclude' || isLess(before, after))
    return role === 'settings' ? 'without our hooks' : 'without our lines';
  if (role === 'git-hook') return hookGloss(basename(path));
  if (role === 'instructions') return 'tells agents to leave and take up notes';
  const title = INSTALLERS.find((installer) => installer.client === client)?.title ?? 'the client';
  return `${title} asks the guard about tool calls`;
}

/** Whether a change only removes lines, and leaves none of ours. */
function isLess(before: Buffer | undefined, after: Buffer): boolean {
  const hasOurs = />>> git-handoff|guard --client/.test(after.toString('utf8'));
  return !hasOurs && after.length < (before?.length ?? 0);
}

function configGloss(before: Buffer | undefined, after: Buffer): string {
  const lines = (bytes: Buffer | undefined) => (bytes?.toString('utf8') ?? '').split('\n');
  const former = new Set(lines(before));
  const added = lines(after).filter((line) => !former.has(line));
  if (added.some((line) => /^\s*enabled = /.test(line))) return 'handoff.enabled = true';
  return isLess(before, after) ? 'without handoff.enabled' : 'git runs our hooks';
}

function hookGloss(hook: string): string {
  if (hook === 'pre-commit') return "refuses other sessions' work in a commit";
  return hook === 'pre-push' ? 'refuses to push commits that mix sessions' : 'name the session in the commit';
}

/** Joins paths of one folder as `folder/a, b`. */
function joined([first = '', ...others]: readonly string[]): string {
  const isBeside = (path: string) => !path.endsWith('/') && dirname(path) === dirname(first);
  return [first, ...others.map((path) => (isBeside(path) ? basename(path) : path))]
    .map(escapeLine)
    .join(', ');
}

function shortPath(path: string, base: string | undefined, home: string): string {
  if (base !== undefined && path.startsWith(`${base}/`)) return path.slice(base.length + 1);
  if (path === home) return '~';
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
