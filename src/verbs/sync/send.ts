import { escapeLine, Failure, shellWord } from '../../domain/messages.ts';
import type { Oid } from '../../domain/names.ts';
import {
  describeFindings,
  decideSecrets,
  parseAllowed,
  type SecretFinding,
  type SecretScan,
} from '../../domain/secrets.ts';
import { pathsOfBlobs, workSizeText } from '../../domain/snapshot.ts';
import { shownAddress, decidePush } from '../../domain/sync.ts';
import { inBatches, twoAtOnce } from '../../git/run.ts';
import { loadCommits } from '../../git/commits.ts';
import { readSettings, type Remote } from '../../git/config.ts';
import { historyOf, walkEach, walkHistories } from '../../git/histories.ts';
import { refBelow, remoteWorkRef, sentRef, HANDOFFS, handoffRef, trackingRef } from '../../git/namespace.ts';
import { readObjects } from '../../git/objects.ts';
import { listRefNames, type RefValue, updateRefs } from '../../git/refs.ts';
import { type PushOutcome, type TransferOptions, pushRefs } from '../../git/transfer.ts';
import { repositoryFolder } from '../../host/folders.ts';
import { appendLog } from '../../host/log.ts';
import { findSecrets } from '../../notes/secrets/check-note.ts';
import { findTopic, requireTip, typedTopic } from '../../notes/topic-argument.ts';
import type { TopicState } from '../../notes/topic.ts';
import { type LoadedWork, readWork, carriedWork } from '../../notes/work/work-commit.ts';

import { type SyncedTopic, BATCH } from './differences.ts';
import { type Outgoing, type SyncWorld, type SyncReport, typedPath } from './items.ts';

/** Work to send, as named on the command line. */
interface LeavingWork extends LoadedWork {
  readonly state: TopicState;
}

/**
 * Reads and checks the work of the topics that `sync --push --with-work` names, before anything is sent.
 *
 * @throws Failure `refused` for a closed note, `not-found` if its work is not here, `secret` if nobody allowed the
 * secret in it, `integrity` if the work breaks its format or limits
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
    const isRefused = settings.secretScan === 'deny';
    if (settings.secretScan !== 'off' && !options.allowSecret)
      await requireNoSecret(repository.cwd, work, { name, isRefused }, options);
    leaving.push({ ...work, state });
  }
  return leaving;
}

/** Refuses work with a secret, or warns about it. Findings that the work's own commit allows do not count. */
async function requireNoSecret(
  cwd: string,
  { work, trailers }: LoadedWork,
  { name, isRefused }: { readonly name: string; readonly isRefused: boolean },
  { warn }: Pick<SyncWorld['options'], 'warn'>,
): Promise<void> {
  const paths = pathsOfBlobs(work.items);
  const contents = await readObjects({ cwd }, [...paths.keys()]);
  const allowed = parseAllowed(trailers.secretAllowed);
  for (const [number, object] of contents.entries()) {
    const findings = await findSecrets(object?.content ?? Buffer.alloc(0));
    const verdict = decideSecrets(findings, allowed, 'deny');
    if (verdict.kind !== 'refuse') continue;
    const path = [...paths.values()][number] ?? '';
    const found = describeFindings(verdict.findings);
    const message = `the work of ${name} looks like it contains a secret: ${escapeLine(path)}: ${found}`;
    if (isRefused)
      throw new Failure('secret', `${message}; nothing was sent`, {
        hint: `if it is not a secret: git handoff sync --push --with-work ${name} --allow-secret`,
      });
    warn(message);
  }
}

/**
 * Sends carried work to a remote, where each work commit gets a ref of its own.
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

/** The options with which git talks to one remote. */
export function transferOptions(
  { repository, options }: Pick<SyncWorld, 'repository' | 'options'>,
  remote: Remote,
): TransferOptions {
  const { mayAsk, onProgress } = options;
  return {
    cwd: repository.cwd,
    mayAsk,
    onProgress: onProgress === undefined ? undefined : (progress) => onProgress(remote.name, progress),
  };
}

/** The topics, compared with what a remote shows. */
interface Compared {
  readonly topics: readonly SyncedTopic[];
  /** Our refs of the handoffs that are ahead of the remote's; `undefined` as long as that is not known. */
  readonly ahead: ReadonlySet<string> | undefined;
}

/** Chooses the handoffs to push, and reports those that stay. `arrived`: those that the remote already has. */
export function chooseOutgoing(
  { fetch, restore }: SyncWorld['options'],
  { topics, ahead }: Compared,
  report: SyncReport,
): { readonly outgoing: readonly Outgoing[]; readonly arrived: readonly Outgoing[] } {
  const outgoing: Outgoing[] = [];
  const arrived: Outgoing[] = [];
  for (const { path, here, shown, there } of topics) {
    const tip = here?.tip?.oid;
    if (tip === undefined) continue;
    const ref = handoffRef(path);
    const one = { path, tip, old: there?.oid };
    const isAhead = ahead === undefined || ahead.has(ref);
    const action = decidePush({ tip, shown, tracked: one.old, isAhead, restore });
    // The remote moved on after `shown` was read: our tip builds on the tip that was fetched since (`one.old`).
    const isFolded = action === 'behind' && fetch && ahead?.has(ref) === true;
    if (action === 'push' || isFolded) outgoing.push(one);
    // The remote has our tip although no push is recorded: the push was killed, or went through another remote's name.
    else if (action === 'current' && one.old !== tip) arrived.push(one);
    else if (action === 'deleted-there') report.add('push', path, { action, oid: tip });
    else if (action !== 'current' && !fetch) report.add('push', path, { action: 'behind', oid: tip });
  }
  return { outgoing, arrived };
}

/** Pushes the handoffs that are ahead of the remote's. Returns `false` if somebody else was faster. */
export async function pushOutgoing(
  world: SyncWorld,
  remote: Remote,
  compared: Compared,
  report: SyncReport,
): Promise<boolean> {
  const { options, prefix } = world;
  const { outgoing, arrived } = chooseOutgoing(options, compared, report);
  await track(world, remote, arrived);
  const leaving = await withoutSecrets(world, remote.name, outgoing, report);
  if (leaving.length === 0) return true;
  if (compared.topics.every(({ shown }) => shown === undefined))
    options.warn(firstPush(remote, leaving.length));
  const byRef = new Map<string, Outgoing>(leaving.map((one) => [refBelow(prefix, one.path), one]));
  const outcomes = await pushAll(world, remote, compared.topics, byRef);
  const pushed = outcomes.flatMap(({ ref, kind }) => (kind === 'pushed' ? (byRef.get(ref) ?? []) : []));
  await track(world, remote, pushed);
  for (const { ref, kind, reason } of outcomes) {
    const one = byRef.get(ref);
    if (one === undefined) continue;
    const why = kind === 'pushed' ? null : reason;
    report.add('push', one.path, { action: kind, oid: one.tip, former: one.old ?? null, why });
  }
  return !outcomes.some(({ kind }) => kind === 'moved');
}

/** Remembers what a remote has now. */
async function track({ repository }: SyncWorld, { name }: Remote, there: readonly Outgoing[]): Promise<void> {
  const updates = there
    .filter(({ tip, old }) => tip !== old)
    .map(({ path, tip, old }) => ({ ref: trackingRef(name, path), next: tip, old }));
  await twoAtOnce(inBatches(updates, BATCH), (batch) => updateRefs(repository, batch, { repeatable: true }));
}

function firstPush({ name, pushUrls }: Remote, count: number): string {
  const what =
    count === 1
      ? 'sending a handoff with its whole history'
      : `sending ${count} handoffs, each with its whole history,`;
  return `${name} has no handoffs yet: ${what} to ${pushUrls.map(shownAddress).join(' and ')}, where everybody with access to that repository can read all of it`;
}

/** The most characters of refs that a pattern excludes: they are on git's command line, for which macOS allows 1 MiB. */
const MOST_EXCEPTED = 400_000;
/** Up to this many refs are fetched or pushed by name; for more refs, a pattern is cheaper. */
export const MAX_NAMED = 200;

/**
 * Pushes a few handoffs by name, and many by a pattern: git looks through all refs for each name.
 *
 * @param outgoing the handoffs to push, under the remote's names for them
 */
async function pushAll(
  world: SyncWorld,
  remote: Remote,
  topics: readonly SyncedTopic[],
  outgoing: ReadonlyMap<string, Outgoing>,
): Promise<PushOutcome[]> {
  const transfer = transferOptions(world, remote);
  const named = [...outgoing].map(([ref, { tip }]) => ({ oid: tip, ref }));
  if (named.length <= MAX_NAMED) return pushRefs(transfer, remote.name, named);
  const values = new Map<string, Oid>([...outgoing.values()].map(({ path, tip }) => [handoffRef(path), tip]));
  const shown = new Map<string, Oid | undefined>(topics.map((one) => [handoffRef(one.path), one.shown]));
  const own = await listRefNames(world.repository, [HANDOFFS]);
  const goes = ({ name, oid }: RefValue) => values.get(name) === oid;
  const except = own.filter((ref) => !goes(ref) && shown.get(ref.name) !== ref.oid).map(({ name }) => name);
  if (except.join().length > MOST_EXCEPTED) return pushRefs(transfer, remote.name, named);
  const inPattern = new Set<string>(
    own.filter(goes).map(({ name }) => world.prefix + name.slice(HANDOFFS.length)),
  );
  const rest = named.filter(({ ref }) => !inPattern.has(ref));
  const pattern = { from: HANDOFFS, to: world.prefix, except };
  const outcomes = await pushRefs(transfer, remote.name, rest, pattern);
  return outcomes.filter(({ ref }) => outgoing.has(ref));
}

/**
 * Returns the handoffs that may be pushed: those without a secret in any version that the remote lacks. With `--allow-secret`,
 * which is logged, or `handoff.secretScan = warn`, which warns, handoffs with a secret may be pushed, too.
 */
export async function withoutSecrets(
  { repository, options, settings: { secretScan }, me }: SyncWorld,
  remote: string,
  outgoing: readonly Outgoing[],
  report: SyncReport,
): Promise<readonly Outgoing[]> {
  if (outgoing.length === 0 || secretScan === 'off') return outgoing;
  const versions = await leavingVersions(repository.cwd, outgoing);
  const refusals = await refuseLeaving(versions, textsOf(repository.cwd, versions), secretScan);
  if (refusals.size === 0) return outgoing;
  if (options.allowSecret) {
    const refs = [...refusals.keys()].map(({ path }) => handoffRef(path));
    const line = { event: 'push', kind: 'secret-allowed', detail: `${remote}: ${refs.join(' ')}` };
    const entry = me === undefined ? line : { ...line, session: me };
    if (!options.dryRun) appendLog(repositoryFolder(repository.commonDir), entry);
    return outgoing;
  }
  if (secretScan === 'warn') {
    for (const why of refusals.values()) options.warn(why);
    return outgoing;
  }
  for (const [{ path, tip, old }, why] of refusals)
    report.add('push', path, { action: 'secret', oid: tip, former: old ?? null, why });
  return outgoing.filter((one) => !refusals.has(one));
}

/** A version that is about to be pushed: a tip, or an older commit that is pushed with it. */
export interface LeavingVersion {
  /** The handoff that is pushed. */
  readonly outgoing: Outgoing;
  readonly commit: Oid;
  /** The note's blob and its size. A blob is scanned once, however many commits hold it. */
  readonly oid: Oid;
  readonly bytes: number;
  /** The rules that its commit records as allowed (`parseAllowed` of the trailer). */
  readonly allowed: readonly string[];
}

/** The number of commits to read at a time. */
const CHUNK = 2500;

/** Returns every version to be pushed, except those whose note cannot be read: git cannot push these, either, and says so. */
async function leavingVersions(cwd: string, outgoing: readonly Outgoing[]): Promise<LeavingVersion[]> {
  const tips = outgoing.flatMap(({ tip, old }) => (old === undefined ? [tip] : [tip, `^${old}`]));
  const all = await walkHistories({ cwd }, tips);
  // If this fails (a tip last seen at the remote may be gone here), all outgoing histories are scanned in full.
  const each = typeof all === 'string' ? await walkEach({ cwd }, outgoing, ({ tip }) => [tip]) : undefined;
  const pairs = outgoing.flatMap((one) => {
    const walked = each === undefined ? all : (each.get(one) ?? all);
    const commits = typeof walked === 'string' ? [one.tip] : [...historyOf(walked, one.tip)];
    return commits.map((commit) => ({ outgoing: one, commit }));
  });
  const chunks = await twoAtOnce(inBatches(pairs, CHUNK), async (chunk) => {
    const commits = chunk.map(({ commit }) => commit);
    const loaded = await loadCommits({ cwd }, commits);
    return chunk.flatMap((pair, at) => {
      const { noteOid: oid, noteBytes: bytes = 0, trailers } = loaded[at] ?? {};
      const allowed = parseAllowed(trailers?.secretAllowed);
      return oid === undefined ? [] : [{ ...pair, oid, bytes, allowed }];
    });
  });
  return chunks.flat();
}

interface NoteText {
  readonly oid: Oid;
  readonly content: Uint8Array;
}

/** About how many bytes of notes to read at a time. */
const MOST_BYTES = 16 << 20;

/** Yields the text of each note once. */
async function* textsOf(cwd: string, versions: readonly LeavingVersion[]): AsyncGenerator<NoteText> {
  const notes = [...new Map(versions.map(({ oid, bytes }) => [oid, bytes]))];
  for (let at = 0; at < notes.length;) {
    const from = at;
    for (let bytes = 0; at < notes.length && bytes < MOST_BYTES; at += 1) bytes += notes[at]?.[1] ?? 0;
    const names = notes.slice(from, at).map(([name]) => name);
    for (const text of await readObjects({ cwd }, names)) if (text !== undefined) yield text;
  }
}

/**
 * Scans the notes that a push would send, and returns each handoff that would send a secret, with the reason why it is not
 * pushed. A finding that one commit allows is allowed in every commit with the very same text, and in no other text.
 */
export async function refuseLeaving(
  versions: readonly LeavingVersion[],
  texts: Iterable<NoteText> | AsyncIterable<NoteText>,
  scan: SecretScan,
): Promise<ReadonlyMap<Outgoing, string>> {
  const found = new Map<Oid, readonly SecretFinding[]>();
  for await (const { oid, content } of texts) {
    const findings = await findSecrets(content);
    if (findings.length === 0) continue;
    const allowed = versions.flatMap((one) => (one.oid === oid ? one.allowed : []));
    const verdict = decideSecrets(findings, allowed, scan);
    if ('findings' in verdict) found.set(oid, verdict.findings);
  }
  const places = new Map<Outgoing, string[]>();
  for (const { outgoing, commit, oid } of versions) {
    const findings = found.get(oid);
    if (findings === undefined) continue;
    const place = `at ${commit.slice(0, 12)} ${describeFindings(findings)}`;
    places.set(outgoing, [...(places.get(outgoing) ?? []), place]);
  }
  return new Map([...places].map(([one, at]) => [one, refusalText(one, at)]));
}

/** Maximum number of a note's versions that a refusal names. */
const MAX_LISTED = 3;

function refusalText({ path }: Outgoing, places: readonly string[]): string {
  const more = places.length > MAX_LISTED ? `; and in ${places.length - MAX_LISTED} more versions` : '';
  return `${typedPath(path)} looks like it contains a secret: ${places.slice(0, MAX_LISTED).join('; ')}${more}`;
}
