import { Failure } from '../../domain/failure.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import type { Settings } from '../../domain/settings.ts';
import { shownAddress } from '../../domain/sync/address.ts';
import { type Remote, isRemoteName, readRemotes } from '../../git/remotes.ts';
import type { Repository } from '../../git/repository.ts';

/**
 * The remotes that were named, or the one that `git fetch` would ask; the settings are read along.
 *
 * @throws Failure `usage` for a name that is no configured remote
 */
export async function chooseRemotes(
  repository: Repository,
  names: readonly string[],
): Promise<{ readonly remotes: readonly [Remote, ...Remote[]]; readonly settings: Settings }> {
  const { all, usual, settings } = await readRemotes(repository.cwd, repository.branch);
  const wanted = names.length > 0 ? [...new Set(names)] : usual === undefined ? [] : [usual];
  const [first, ...others] = wanted.map((name) => {
    const remote = all.find((one) => one.name === name);
    if (remote !== undefined && isRemoteName(name)) return remote;
    throw notConfigured(name, all);
  });
  if (first === undefined) throw noRemote(all);
  return { remotes: [first, ...others], settings };
}

function noRemote(all: readonly Remote[]): Failure {
  const [first] = all;
  if (first === undefined)
    return new Failure('usage', 'there is no remote to sync with', {
      hint: 'git remote add origin <url>',
    });
  const names = all.map(({ name }) => escapeLine(name)).join(', ');
  return new Failure('usage', `which remote? There are ${names}`, {
    hint: `git handoff sync ${shellWord(first.name)}`,
  });
}

function notConfigured(name: string, all: readonly Remote[]): Failure {
  const isAddress = /[/:]/.test(name);
  const shown = shownAddress(name);
  const message = isAddress
    ? `${escapeLine(shown)} is an address; git-handoff needs the name of a remote`
    : `there is no remote ${escapeLine(JSON.stringify(name))}`;
  const add = `git remote add handoffs ${shown === name ? shellWord(name) : '<that address>'}`;
  return new Failure('usage', message, {
    hint:
      isAddress && !name.startsWith('-')
        ? add
        : all.length === 0
          ? 'git remote add origin <url>'
          : 'git remote -v',
  });
}
