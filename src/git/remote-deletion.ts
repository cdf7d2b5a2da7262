import { Failure } from '../domain/failure.ts';
import { type Oid, type RefName, parseOid } from '../domain/names.ts';
import { escapeLine, shellWord } from '../domain/surfacing.ts';
import { remoteWords, notMirrored } from './remotes.ts';
import { userEnvironment, userGit } from './user-git.ts';

/**
 * Asks a remote for some refs, as the user's own git would.
 *
 * @param folders prefixes whose refs are named after their objects, and are requested as well
 * @returns those that it has
 * @throws Failure `remote`
 */
export async function askRemote(
  cwd: string,
  remote: string,
  refs: readonly RefName[],
  folders: readonly string[] = [],
): Promise<ReadonlyMap<RefName, Oid>> {
  const patterns = [...refs, ...folders.map((folder) => `${folder}*`)];
  const args = ['ls-remote', '--refs', '--end-of-options', remote, ...patterns];
  const result = await userGit(args, { cwd, show: 'quiet' });
  if (result.code !== 0) {
    const why = escapeLine(remoteWords(result.stderr));
    throw new Failure('remote', `${escapeLine(remote)} could not be asked: ${why}`, {
      hint: `git ls-remote ${shellWord(remote)}`,
    });
  }
  const shown = result.stdout.toString('utf8').split('\n');
  const found = shown.flatMap((line): [RefName, Oid][] => {
    const [text = '', name = ''] = line.split('\t');
    const oid = parseOid(text);
    const isBelow = folders.some((folder) => name === `${folder}${oid ?? ''}`);
    const ref = isBelow ? (name as RefName) : refs.find((one) => one === name);
    return oid === undefined || ref === undefined ? [] : [[ref, oid]];
  });
  return new Map(found);
}

type Deletion =
  | { readonly kind: 'done' }
  /** It is not what was seen any more. */
  | { readonly kind: 'moved' }
  /** The server's own rule, or the connection. */
  | { readonly kind: 'refused'; readonly detail: string };

/**
 * Deletes one ref of a remote, if it still is what was seen. Pre-push hooks are not asked: ours refuses every deletion of a
 * handoff, and what it would ask for has been decided by the caller. The hooks of the server are.
 */
export async function deleteOnRemote(
  cwd: string,
  remote: string,
  ref: RefName,
  seen: Oid,
): Promise<Deletion> {
  const args = [
    'push',
    '--porcelain',
    '--no-verify',
    '--no-follow-tags',
    '--no-signed',
    '--recurse-submodules=no',
  ];
  const lease = `--force-with-lease=${ref}:${seen}`;
  const result = await userGit([...args, lease, '--end-of-options', remote, `:${ref}`], {
    cwd,
    env: notMirrored(userEnvironment(process.env), remote),
    show: 'quiet',
  });
  if (result.code === 0) return { kind: 'done' };
  const output = result.stdout.toString('utf8');
  if (/\(stale info\)|\(fetch first\)/.test(output)) return { kind: 'moved' };
  const told = output.split('\n').find((line) => line.startsWith('!'));
  const fromServer = result.stderr.split('\n').filter((line) => line.startsWith('remote: '));
  // `!<tab><from>:<to><tab>[remote rejected] (<reason>)`, git-push(1).
  const detail = [told?.split('\t').at(-1), fromServer[0]].flatMap((text) => text?.trim() ?? []).join(', ');
  return {
    kind: 'refused',
    detail: detail === '' ? escapeLine(remoteWords(result.stderr)) : escapeLine(detail),
  };
}
