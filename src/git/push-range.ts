import { Failure } from '../domain/failure.ts';
import { type Oid, isZeroOid, parseOid } from '../domain/names.ts';
import { records, type GitOptions, gitFailure, runGit } from './run.ts';

/** A ref that a push would move, as git describes it to pre-push (githooks(5)). */
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
 * Reads `<old oid> <new oid> <ref>` lines, as git passes them to pre-receive (githooks(5)). A server decides by them, so
 * a line that cannot be read is an error.
 *
 * @throws Failure `usage` for anything else
 */
export function parseReceivedRefs(text: string): PushedRef[] {
  const lines = text.split('\n').filter((line) => line !== '');
  if (lines.length === 0) throw notReceived('nothing');
  return lines.map((line) => {
    const [old = '', next = '', ...name] = line.split(' ');
    return receivedRef(name.join(' '), old, next);
  });
}

/**
 * Parses one ref that a push would move on a server, with the arguments in the order of git's update hook.
 *
 * @throws Failure `usage` when the arguments are no such ref
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
 * Finds the commits that name a session and are new to a remote, newest first: those that neither its remote-tracking
 * refs nor its own values of the pushed refs contain. `remote..local` would count a rebased branch's new base as new.
 *
 * @param remote the remote's name; `undefined` for a bare address, which has no refs: then those of every remote count
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
  // The remote may have commits that this clone does not: git ignores their names.
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
