import type { Oid } from '../../domain/names.ts';
import {
  type SecretFinding,
  type SecretScan,
  decideSecrets,
  describeFindings,
  parseAllowed,
} from '../../domain/secrets.ts';
import { inBatches, twoAtOnce } from '../../git/batches.ts';
import { loadCommits } from '../../git/commits.ts';
import { readSettings } from '../../git/config.ts';
import { historyOf, walkEach, walkHistories } from '../../git/histories.ts';
import { handoffRef } from '../../git/namespace.ts';
import { readObjects } from '../../git/objects.ts';
import { repositoryFolder } from '../../host/folders.ts';
import { appendLog } from '../../host/log.ts';
import { findSecrets } from '../../notes/secrets/check-note.ts';
import { type Outgoing, type SyncReport, type SyncWorld, typedPath } from './items.ts';

/**
 * Returns the handoffs that may be pushed: those without a secret in any version that the remote lacks. With
 * `--allow-secret` all may, and the log names those with a secret; with `handoff.secretScan = warn` all may, after a warning.
 */
export async function withoutSecrets(
  { repository, context, options, me }: SyncWorld,
  remote: string,
  outgoing: readonly Outgoing[],
  report: SyncReport,
): Promise<readonly Outgoing[]> {
  const { secretScan } = await readSettings(context.cwd);
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
  /** The handoff whose push sends it. */
  readonly outgoing: Outgoing;
  readonly commit: Oid;
  /** The note's blob, which is scanned once, however many commits hold it, and its size. */
  readonly oid: Oid;
  readonly bytes: number;
  /** The rules that its commit records as allowed (`parseAllowed` of the trailer). */
  readonly allowed: readonly string[];
}

/** The number of commits to read at a time. */
const CHUNK = 2500;

/** Returns every version to be pushed, except those whose note cannot be read: git cannot push them, either, and will say so. */
async function leavingVersions(cwd: string, outgoing: readonly Outgoing[]): Promise<LeavingVersion[]> {
  const all = await walkHistories(
    { cwd },
    outgoing.flatMap(({ tip, old }) => (old === undefined ? [tip] : [tip, `^${old}`])),
  );
  // If any tip that the remote last showed is no longer here, the whole history of every outgoing one is scanned.
  const each = typeof all === 'string' ? await walkEach({ cwd }, outgoing, ({ tip }) => [tip]) : undefined;
  const pairs = outgoing.flatMap((one) => {
    const walked = each === undefined ? all : (each.get(one) ?? all);
    const commits = typeof walked === 'string' ? [one.tip] : [...historyOf(walked, one.tip)];
    return commits.map((commit) => ({ outgoing: one, commit }));
  });
  const chunks = await twoAtOnce(inBatches(pairs, CHUNK), async (chunk) => {
    const loaded = await loadCommits(
      { cwd },
      chunk.map(({ commit }) => commit),
    );
    return chunk.flatMap((pair, at) => {
      const { noteOid: oid, noteBytes: bytes = 0, trailers } = loaded[at] ?? {};
      return oid === undefined
        ? []
        : [{ ...pair, oid, bytes, allowed: parseAllowed(trailers?.secretAllowed) }];
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
    const requests = notes.slice(from, at).map(([name]) => ({ name }));
    for (const text of await readObjects({ cwd }, requests)) if (text !== undefined) yield text;
  }
}

/**
 * Scans the notes that a push would send, and returns each handoff that would send a secret, with the reason why it is not
 * pushed. What one commit allows in a text is allowed in all commits with the very same text, and in no other text.
 */
export async function refuseLeaving(
  versions: readonly LeavingVersion[],
  texts: Iterable<NoteText> | AsyncIterable<NoteText>,
  scan: SecretScan,
): Promise<ReadonlyMap<Outgoing, string>> {
  const found = new Map<Oid, readonly SecretFinding[]>();
  for await (const { oid, content } of texts) {
    const findings = await findSecrets(content);
    const allowed =
      findings.length === 0 ? [] : versions.flatMap((one) => (one.oid === oid ? one.allowed : []));
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
