import { argumentsOf } from './commit-words.ts';

/** What a `git push` command line says about the commits that it may drop. Pure. */
interface PushWords {
  /** Each `--force-with-lease=<ref>:<object name>`. A lease without an object name does not say what may be dropped. */
  readonly leases: readonly { readonly ref: string; readonly oid: string }[];
  /** Whether the push forces or deletes a ref. If not, git itself refuses whatever is not a fast-forward. */
  readonly isForced: boolean;
}

const LEASE = /^--force-with-lease=(.+):([0-9a-f]{7,64})$/;
/** `-f`, `-d`, `--force`, `--mirror`, `--delete`, `--prune`, also abbreviated, `+<refspec>` and `:<branch>`. */
const FORCING = /^(?:-[A-Za-z]*[df]|--(?:for|mi|de|pru)|[+:])/;

/** Parses a command line; `undefined` when it is not a `git push`. `exact` is false if the line was merely split at blanks. */
export function parsePushWords(argv: readonly string[], exact = true): PushWords | undefined {
  const words = argumentsOf('push', exact ? argv : ['git', ...argv.slice(argv.indexOf('push'))]);
  if (words === undefined) return undefined;
  const leases = words.flatMap((word) => {
    const [, ref, oid] = LEASE.exec(word) ?? [];
    return ref === undefined || oid === undefined ? [] : [{ ref, oid }];
  });
  return { leases, isForced: words.some((word) => FORCING.test(word)) };
}

/** Whether a lease lets the push move the ref away from exactly this commit. Matches a lease's ref by git's rules. */
export function isLeased({ leases }: PushWords, ref: string, tip: string): boolean {
  const matches = (given: string) => [given, `refs/${given}`, `refs/heads/${given}`].includes(ref);
  return leases.some((lease) => matches(lease.ref) && tip.startsWith(lease.oid));
}
