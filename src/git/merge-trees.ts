import { type Oid, parseOid } from '../domain/names.ts';
import type { MergeReport } from '../domain/overlap.ts';
import { NOT_SYNCED } from './environment.ts';
import { type BinaryText, utf8 } from './output.ts';
import { type GitOptions, runGit } from './run.ts';

/** Why two commits could not be merged: they have no common history, or objects are missing. */
export type Unmerged = 'unrelated' | 'unreadable';

/** Two commits. */
export type Pair = readonly [one: Oid, other: Oid];

const ARGS = [...NOT_SYNCED, '-c', 'merge.renormalize=false', 'merge-tree', '--write-tree'];

/**
 * Merges pairs of commits without touching index, working tree or ref (git-merge-tree(1)): one process, and one more for
 * each pair that cannot be merged, for that ends git's batch. Objects are written: name another folder for them in `env`.
 */
export async function mergePairs(
  options: Omit<GitOptions, 'input'>,
  pairs: readonly Pair[],
): Promise<(MergeReport | Unmerged)[]> {
  const reports: (MergeReport | Unmerged)[] = [];
  while (reports.length < pairs.length) {
    const input = pairs.slice(reports.length).map((pair) => `${pair.join(' ')}\n`);
    const result = await runGit([...ARGS, '--stdin', '-z', '--messages'], {
      ...options,
      input: input.join(''),
    });
    const parsed = parseReports(result.stdout.toString('latin1'));
    reports.push(...parsed.map((report, n) => withoutSides(report, pairs[reports.length + n] ?? [])));
    if (reports.length < pairs.length) {
      reports.push(/unrelated histories/.test(result.stderr) ? 'unrelated' : 'unreadable');
    }
  }
  return reports;
}

/** Where a file cannot have its name because a folder has it, git appends `~<commit>` to it, and `_<n>` if need be. */
function withoutSides(report: MergeReport, sides: readonly Oid[]): MergeReport {
  const named = (path: string) => {
    const [suffix = '', commit] = /~([0-9a-f]{40,64})(?:_\d+)?$/.exec(path) ?? [];
    return sides.some((side) => side === commit) ? path.slice(0, -suffix.length) : path;
  };
  return {
    ...report,
    unmerged: report.unmerged.map((entry) => ({ ...entry, path: named(entry.path) })),
    messages: report.messages.map(({ paths, type }) => ({ paths: paths.map(named), type })),
  };
}

/**
 * Parses the answers to `--stdin -z --messages`: each is `<status> <tree> [<mode> <oid> <stage>TAB<path>]… <> [<n> <path>×n
 * <type> <text>]… <>`, every part ended by NUL, and `<>` an empty one. A torn one at the end is left out.
 */
export function parseReports(output: BinaryText): MergeReport[] {
  const parts = output.split('\0');
  const reports: MergeReport[] = [];
  let at = 0;
  const next = () => parts[at++];
  for (;;) {
    const status = next();
    if (parseOid(next() ?? '') === undefined) return reports;
    const unmerged: { path: string; stage: number }[] = [];
    for (let entry = next(); entry !== ''; entry = next()) {
      const [, stage, path] = /^\d+ [0-9a-f]+ ([123])\t([^]*)$/.exec(entry ?? '') ?? [];
      if (stage === undefined || path === undefined) return reports;
      unmerged.push({ path: utf8(path), stage: Number(stage) });
    }
    const messages: { paths: string[]; type: string }[] = [];
    for (let count = next(); count !== ''; count = next()) {
      if (count === undefined || !/^\d+$/.test(count)) return reports;
      const paths = parts.slice(at, at + Number(count)).map(utf8);
      at += Number(count);
      const type = next() ?? '';
      messages.push({ paths, type });
      // The text is for people.
      at += 1;
    }
    if (at > parts.length - 1) return reports;
    reports.push({ isClean: status === '1', unmerged, messages });
  }
}
