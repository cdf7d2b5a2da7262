import { argumentsOf } from './commit-words.ts';

/** What the words of a git-push(1) command line say of the commits that it may drop. Pure. */
interface PushWords {
  /** Each `--force-with-lease=<ref>:<object name>`: only with an object name does it say which commits may go. */
  readonly leases: readonly { readonly ref: string; readonly oid: string }[];
  /** Whether some ref is forced or deleted. Without that, git itself refuses what is no fast-forward. */
  readonly isForced: boolean;
}

const LEASE = /^--force-with-lease=(.+):([0-9a-f]{7,64})$/;
/** `-f`, `-d`, `--force`, `--mirror`, `--delete`, `--prune`, also abbreviated, `+<refspec>` and `:<branch>`. */
const FORCING = /^(?:-[A-Za-z]*[df]|--(?:for|mi|de|pru)|[+:])/;

/**
 * Reads a command line of git; `undefined` when it is no `git push`.
 *
 * @param exact whether the words are known one by one. Otherwise the line was split at blanks
 */
export function parsePushWords(argv: readonly string[], exact = true): PushWords | undefined {
  const words = argumentsOf('push', exact ? argv : ['git', ...argv.slice(argv.indexOf('push'))]);
  if (words === undefined) return undefined;
  const leases = words.flatMap((word) => {
    const [, ref, oid] = LEASE.exec(word) ?? [];
    return ref === undefined || oid === undefined ? [] : [{ ref, oid }];
  });
  return { leases, isForced: words.some((word) => FORCING.test(word)) };
}

/** Whether a lease says that a branch may be taken from exactly this commit. git matches its ref by these rules. */
export function isLeased({ leases }: PushWords, ref: string, tip: string): boolean {
  const matches = (given: string) => [given, `refs/${given}`, `refs/heads/${given}`].includes(ref);
  return leases.some((lease) => matches(lease.ref) && tip.startsWith(lease.oid));
}
