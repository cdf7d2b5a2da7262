import type { Sides } from '../../domain/ledger/ownership.ts';
import { peerName } from '../../domain/owner-name.ts';
import type { GitVerbCall } from '../../shell/effects.ts';
import type { TreeCall } from '../call.ts';
import type { CommandFacts } from '../facts.ts';
import type { Finding, Refusal } from '../findings.ts';
import { callsInWorktree } from './calls-here.ts';
import { type Instead, commitInstead } from './commit-instead.ts';
import { typedIn } from './typed.ts';

/**
 * Gemini CLI's shell empties `core.hooksPath`: no hook of git's runs there, so nothing would look at what a raw
 * `git commit` takes along. Beside another live session that is refused; alone it goes unchecked.
 */
export async function rawCommit(call: TreeCall, facts: CommandFacts): Promise<readonly Finding[]> {
  const place = facts.ledger()?.place;
  if (place === undefined) return [];
  const commit = callsInWorktree(call, facts.effects).find(({ verb }) => verb === 'commit');
  if (commit === undefined) return [];
  const how = { git: typedIn(call, place).git, commonDir: place.commonDir, folder: commit.cwd ?? call.cwd };
  const refusal = rawCommitRefusal(commit, await facts.people(), how);
  return refusal === undefined ? [] : [refusal];
}

/** The refusal of a commit; `undefined` to a session that has no peers. */
function rawCommitRefusal(commit: GitVerbCall, people: Sides, how: Instead): Refusal | undefined {
  const peers = [...people.foreign];
  const [peer] = peers;
  if (peer === undefined) return undefined;
  const others = peers.length > 1 ? ` (and ${peers.length - 1} more)` : '';
  const text =
    `No git hook runs in this shell, so nothing would keep what ${peerName(peer, people)}${others} has changed out of ` +
    "the commit, and the repository's own checks would be skipped. Nothing was run. Commit your own changes with " +
    `this instead; it runs the repository's hooks and signing: ${commitInstead(commit, how)}`;
  return { kind: 'refuse', text, owners: peers, lift: 'person' };
}
