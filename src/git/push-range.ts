import { Failure } from '../domain/failure.ts';
import { type Oid, isZeroOid, parseOid } from '../domain/names.ts';
import { records, type GitOptions, gitFailure, runGit } from './run.ts';

/** What a push would move, as git tells pre-push (githooks(5)). */
export interface PushedRef {
  readonly localRef: string;
  /** `undefined`: the ref is deleted. */
  readonly local: Oid | undefined;
  readonly remoteRef: string;
  /** `undefined`: the ref is new there. */
  readonly remote: Oid | undefined;
}

/** Reads `<local ref> <local oid> <remote ref> <remote oid>` lines. */
export function parsePushedRefs(text: string): PushedRef[] {
  return text.split('\n').flatMap((line) => {
    const [localRef = '', local = '', remoteRef = '', remote = ''] = line.split(' ');
    const [next, old] = [parseOid(local), parseOid(remote)];
    if (next === undefined || old === undefined || remoteRef === '') return [];
    return [{ localRef, local: existing(next), remoteRef, remote: existing(old) }];
  });
}

/**
 * Reads `<old oid> <new oid> <ref>` lines, as git tells pre-receive (githooks(5)). The server's gate reads them: what
 * cannot be read is not passed over.
 *
 * @throws Failure `usage` for anything else
 */
export function parseReceivedRefs(text: string): PushedRef[] {
  const lines = text.split('\n').filter((line) => line !== '');
  if (lines.length === 0) throw notReceived('there is nothing');
  return lines.map((line) => {
    const [old = '', next = '', ...name] = line.split(' ');
    return receivedRef(name.join(' '), old, next);
  });
}

/**
 * One ref that a push would move on a server, in the order of git's update hook.
 *
 * @throws Failure `usage` when it is none
 */
export function receivedRef(ref: string, oldText: string, nextText: string): PushedRef {
  const [old, next] = [parseOid(oldText), parseOid(nextText)];
  // eslint-disable-next-line no-control-regex -- no ref holds them (git-check-ref-format(1))
  if (old === undefined || next === undefined || !/^refs\/[^\u0000-\u0020\u007f]+$/.test(ref)) {
    throw notReceived(JSON.stringify([oldText, nextText, ref].join(' ').slice(0, 200)));
  }
  return { localRef: ref, local: existing(next), remoteRef: ref, remote: existing(old) };
}

function notReceived(what: string): Failure {
  return new Failure('usage', `expected lines "<old> <new> <ref>" as for pre-receive, got ${what}`, {
    hint: 'git help githooks',
  });
}

const existing = (oid: Oid): Oid | undefined => (isZeroOid(oid) ? undefined : oid);

/** A commit that leaves the machine for the first time, and names a session. */
export interface PushedCommit {
  readonly oid: Oid;
  readonly parents: readonly Oid[];
  readonly summary: string;
  readonly message: string;
}

/**
 * Commits that name a session and are new to a remote, newest first: by what its remote-tracking refs show and by
 * what it has itself at the pushed refs. `remote..local` would take a rebased branch's new base for new.
 *
 * @param remote its name; a bare address has no refs of its own, then those of every remote count
 */
export async function newCommits(
  options: GitOptions,
  remote: string | undefined,
  refs: readonly PushedRef[],
): Promise<PushedCommit[]> {
  const tips = refs.flatMap(({ local }) => local ?? []);
  if (tips.length === 0) return [];
  const known = refs.flatMap(({ remote: there }) => (there === undefined ? [] : [`^${there}`]));
  const grep = ['--regexp-ignore-case', '--fixed-strings', '--grep=Claude-Session-Id'];
  const format = ['-z', '--encoding=UTF-8', '--no-show-signature', '--no-notes', '--format=%H %P%x00%B'];
  const pushed = remote === undefined ? '--remotes' : `--remotes=${remote}`;
  // What the remote has and we do not know is nothing to leave out.
  const args = ['log', '--ignore-missing', ...grep, ...format, '--stdin', '--not', pushed];
  const result = await runGit(args, { ...options, input: `${[...tips, ...known].join('\n')}\n` });
  if (result.code !== 0) throw gitFailure('log', result);
  return parseCommits(result.stdout.toString('utf8'));
}

function parseCommits(output: string): PushedCommit[] {
  return records(output, 2).flatMap(([names = '', message = '']) => {
    const [oid, ...parents] = names
      .trim()
      .split(' ')
      .flatMap((name) => parseOid(name) ?? []);
    const summary = message.trimStart().split('\n')[0] ?? '';
    return oid === undefined ? [] : [{ oid, parents, summary, message }];
  });
}
