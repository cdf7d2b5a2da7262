import { Failure } from '../../domain/failure.ts';
import { describeFindings, decideSecrets, parseAllowed } from '../../domain/secrets/verdict.ts';
import { pathsOfBlobs } from '../../domain/snapshot.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { shownAddress } from '../../domain/sync.ts';
import { workSizeText } from '../../domain/work.ts';
import { readSettings } from '../../git/config.ts';
import { remoteWorkRef, sentRef } from '../../git/namespace.ts';
import { readObjects } from '../../git/objects.ts';
import { updateRefs } from '../../git/ref-updates.ts';
import type { Remote } from '../../git/remotes.ts';
import { pushRefs } from '../../git/transfer.ts';
import { findTopic, requireTip } from '../../notes/find-topic.ts';
import { findSecrets } from '../../notes/secrets/find-secrets.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import type { TopicState } from '../../notes/topic.ts';
import { type LoadedWork, readWork } from '../../notes/work/work-commit.ts';
import { carriedWork } from '../../notes/work/work-refs.ts';
import { transferOptions } from './push-outgoing.ts';
import type { SyncWorld } from './world.ts';

/** Work to send, as named on the command line. */
interface LeavingWork extends LoadedWork {
  readonly state: TopicState;
}

/**
 * Reads and checks the work of the topics that `sync --push --with-work` names, before anything is sent.
 *
 * @throws Failure `refused` for a closed note, `not-found` if its work is not here, `secret` for one that nobody allowed,
 * `integrity`
 */
export async function leavingWork(
  { repository, options }: Pick<SyncWorld, 'repository' | 'options'>,
  topics: readonly string[],
): Promise<LeavingWork[]> {
  const settings = await readSettings(repository.cwd);
  const leaving: LeavingWork[] = [];
  for (const text of topics) {
    const state = await findTopic(repository, text);
    const name = typedTopic(state.branch, state.topic);
    const tip = requireTip(state);
    if (tip.trailers?.state === 'closed')
      throw new Failure('refused', `${name} is closed, and the work of a closed note is not sent`, {
        hint: `git handoff reopen ${name}`,
      });
    const carried = await carriedWork(repository, tip);
    const hint = { hint: `git handoff show ${name} --raw | git handoff write ${name} --with-work --file -` };
    if (carried === undefined) throw new Failure('not-found', `${name} carries no work`, hint);
    const work = await readWork({ cwd: repository.cwd }, carried.oid, settings.maxWork);
    if (work === undefined)
      throw new Failure('not-found', `the work of ${name} is not in this clone`, {
        hint: `git handoff unpack --dry-run ${name}`,
      });
    if (typeof work === 'string')
      throw new Failure('integrity', `the work of ${name} cannot be sent: ${work}`, hint);
    if (settings.secretScan !== 'off' && !options.allowSecret)
      await requireNoSecret(
        repository.cwd,
        work,
        { name, isRefused: settings.secretScan === 'deny' },
        options,
      );
    leaving.push({ ...work, state });
  }
  return leaving;
}

/** Findings that the work's own commit allows pass. Of the others, the first is reported. */
async function requireNoSecret(
  cwd: string,
  { work, trailers }: LoadedWork,
  { name, isRefused }: { readonly name: string; readonly isRefused: boolean },
  { warn }: Pick<SyncWorld['options'], 'warn'>,
): Promise<void> {
  const paths = pathsOfBlobs(work.items);
  const contents = await readObjects(
    { cwd },
    [...paths.keys()].map((oid) => ({ name: oid })),
  );
  const allowed = parseAllowed(trailers.secretAllowed);
  for (const [number, object] of contents.entries()) {
    const findings = await findSecrets(object?.content ?? Buffer.alloc(0));
    const verdict = decideSecrets(findings, allowed, 'deny');
    if (verdict.kind !== 'refuse') continue;
    const path = [...paths.values()][number] ?? '';
    const found = describeFindings(verdict.findings);
    const message = `the work of ${name} looks like it contains a secret: ${escapeLine(path)}: ${found}`;
    if (!isRefused) {
      warn(message);
      continue;
    }
    throw new Failure('secret', `${message}; nothing was sent`, {
      hint: `if it is not a secret: git handoff sync --push --with-work ${name} --allow-secret`,
    });
  }
}

/**
 * Sends work to a remote, where each work commit gets a new ref.
 *
 * @throws Failure `remote` when the remote refuses it
 */
export async function sendWork(
  world: SyncWorld,
  remote: Remote,
  leaving: readonly LeavingWork[],
): Promise<void> {
  const { repository, options, prefix } = world;
  for (const { oid, state, size } of leaving) {
    const name = typedTopic(state.branch, state.topic);
    const to = remote.pushUrls.map(shownAddress).join(' and ');
    if (options.dryRun) {
      options.warn(`would send the work of ${name}, ${workSizeText(size)}, to ${to}`);
      continue;
    }
    options.warn(
      `sending the work of ${name}, ${workSizeText(size)}, to ${to}, where everybody with access to that repository can read it`,
    );
    const ref = remoteWorkRef(prefix, state.path, oid);
    const [outcome] = await pushRefs(transferOptions(world, remote), remote.name, [{ oid, ref }]);
    if (outcome?.kind !== 'pushed') {
      const why = escapeLine(outcome?.reason ?? 'no answer');
      const message = `${escapeLine(remote.name)} did not take the work of ${name}: ${why}`;
      throw new Failure('remote', message, { hint: `git handoff sync --push ${shellWord(remote.name)}` });
    }
    const sent = { ref: sentRef(remote.name, state.path, oid), next: oid, old: undefined };
    await updateRefs(repository, [sent]);
  }
}
