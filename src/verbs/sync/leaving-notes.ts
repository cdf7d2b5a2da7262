import type { Oid } from '../../domain/names.ts';
import {
  parseAllowed,
  type SecretScan,
  decideSecrets,
  describeFindings,
  type SecretFinding,
} from '../../domain/secrets.ts';
import { inBatches } from '../../git/batches.ts';
import { loadCommits } from '../../git/commits.ts';
import { readSettings } from '../../git/config.ts';
import { historyOf, walkEach, walkHistories } from '../../git/histories.ts';
import { handoffRef, HANDOFFS, decodeBranch, parsePath } from '../../git/namespace.ts';
import { readObjects } from '../../git/objects.ts';
import { repositoryFolder } from '../../host/folders.ts';
import { appendLog } from '../../host/log.ts';
import { findSecrets } from '../../notes/secrets/check-note.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import type { Outgoing, SyncReport, SyncWorld } from './items.ts';

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
  const found = await scanNotes(leavingNotes(repository.cwd, outgoing), secretScan);
  if (found.length === 0) return outgoing;
  const refusals = refuseLeaving(found);
  if (options.allowSecret) {
    const detail = refusals.map(({ ref }) => ref).join(' ');
    const line = { event: 'push', kind: 'secret-allowed', detail: `${remote}: ${detail}` };
    const entry = me === undefined ? line : { ...line, session: me };
    if (!options.dryRun) appendLog(repositoryFolder(repository.commonDir), entry);
    return outgoing;
  }
  if (secretScan === 'warn') {
    for (const { why } of refusals) options.warn(why);
    return outgoing;
  }
  const stay = new Map(refusals.map((one) => [one.ref, one]));
  for (const one of outgoing) {
    const refusal = stay.get(handoffRef(one.path));
    if (refusal !== undefined) report.secret(one, refusal.why);
  }
  return outgoing.filter(({ path }) => !stay.has(handoffRef(path)));
}

/** The number of commits to read at a time. */
const CHUNK = 2500;
/** About how many bytes of notes to read at a time. */
const MOST_BYTES = 16 << 20;

/**
 * Yields the note of every version to be pushed, with its text only where that text first occurs. Leaves out an
 * unreadable note: git cannot push it, either, and will say so.
 */
async function* leavingNotes(cwd: string, outgoing: readonly Outgoing[]): AsyncGenerator<LeavingNote> {
  const all = await walkHistories(
    { cwd },
    outgoing.flatMap(({ tip, old }) => (old === undefined ? [tip] : [tip, `^${old}`])),
  );
  // If any tip that the remote last showed is no longer here, the whole history of every outgoing one is scanned.
  const each = typeof all === 'string' ? await walkEach({ cwd }, outgoing, ({ tip }) => [tip]) : undefined;
  const pairs = outgoing.flatMap((one) => {
    const { path, tip } = one;
    const walked = each === undefined ? all : (each.get(one) ?? all);
    return [...(typeof walked === 'string' ? [tip] : historyOf(walked, tip))].map((commit) => ({
      ref: handoffRef(path),
      commit,
    }));
  });
  const load = (chunk: Readonly<typeof pairs> = []) => {
    const commits = chunk.map(({ commit }) => commit);
    const loading = loadCommits({ cwd }, commits);
    // This is awaited after the previous chunk is scanned; a failure must not go unhandled until then.
    loading.catch(() => undefined);
    return loading;
  };
  const chunks = inBatches(pairs, CHUNK);
  const seen = new Set<Oid>();
  let coming = load(chunks[0]);
  for (const [at, chunk] of chunks.entries()) {
    const loaded = await coming;
    coming = load(chunks[at + 1]);
    const notes = chunk.flatMap(({ ref, commit }, index) => {
      const { noteOid: oid, noteBytes: bytes = 0, trailers } = loaded[index] ?? {};
      if (oid === undefined) return [];
      return [{ ref, commit, oid, bytes, allowed: parseAllowed(trailers?.secretAllowed) }];
    });
    yield* withTexts(cwd, notes, seen);
  }
}

/** Yields the notes with their texts, reading about MOST_BYTES at a time. `seen`: the blobs whose texts were yielded. */
async function* withTexts(
  cwd: string,
  notes: readonly (Omit<LeavingNote, 'note'> & { readonly bytes: number })[],
  seen: Set<Oid>,
): AsyncGenerator<LeavingNote> {
  for (let at = 0; at < notes.length;) {
    const wanted = new Set<Oid>();
    const from = at;
    for (let bytes = 0; at < notes.length && bytes < MOST_BYTES; at += 1) {
      const { oid, bytes: size } = notes[at] ?? {};
      if (oid === undefined || seen.has(oid) || wanted.has(oid)) continue;
      wanted.add(oid);
      bytes += size ?? 0;
    }
    const read = await readObjects(
      { cwd },
      [...wanted].map((name) => ({ name })),
    );
    const texts = new Map([...wanted].map((oid, index) => [oid, read[index]?.content]));
    for (const { ref, commit, oid, allowed } of notes.slice(from, at)) {
      const note = texts.get(oid);
      if (note !== undefined || seen.has(oid)) yield { ref, commit, oid, note, allowed };
    }
    for (const [oid, note] of texts) if (note !== undefined) seen.add(oid);
  }
}

/** Returns each ref that would send a secret, and why it is not pushed. */
export function refuseLeaving(found: readonly LeavingSecret[]): { ref: string; why: string }[] {
  const refs = new Map<string, LeavingSecret[]>();
  for (const secret of found) refs.set(secret.ref, [...(refs.get(secret.ref) ?? []), secret]);
  return [...refs].map(([ref, secrets]) => {
    const places = secrets.map(
      ({ commit, findings }) => `at ${commit.slice(0, 12)} ${describeFindings(findings)}`,
    );
    return {
      ref,
      why: `${nameOf(ref)} looks like it contains a secret: ${places.slice(0, MAX_LISTED).join('; ')}${more(places)}`,
    };
  });
}

/** Maximum number of a note's versions that a refusal names. */
const MAX_LISTED = 3;
const more = (places: readonly string[]) =>
  places.length > MAX_LISTED ? `; and in ${places.length - MAX_LISTED} more versions` : '';

function nameOf(ref: string): string {
  const path = parsePath(ref, HANDOFFS);
  return typedTopic(
    path === undefined ? ref : (decodeBranch(path.component) ?? path.component),
    path?.topic ?? '',
  );
}

/** A note that is about to be pushed: from a tip, or from an older commit that is pushed with it. */
export interface LeavingNote {
  /** The public ref whose push sends it. */
  readonly ref: string;
  /** The commit that holds it. */
  readonly commit: Oid;
  /** The note's blob, which is scanned once, however many commits hold it. */
  readonly oid: Oid;
  /** `undefined` if an earlier note brought this blob's text. */
  readonly note: Uint8Array | undefined;
  /** The rules that its commit records as allowed (`parseAllowed` of the trailer). */
  readonly allowed: readonly string[];
}

/** A note with a secret that nobody allowed. */
interface LeavingSecret {
  readonly ref: string;
  readonly commit: Oid;
  readonly oid: Oid;
  readonly findings: readonly SecretFinding[];
}

function requireText(note: Uint8Array | undefined): Uint8Array {
  if (note === undefined) throw new TypeError('a note was to be scanned before its text was read');
  return note;
}

/**
 * Scans the notes that a push would send, each text once. What one commit allows in a text is allowed in all commits
 * with the very same text, and in no other text. If `scan` is `off`, it reads nothing.
 */
export async function scanNotes(
  notes: Iterable<LeavingNote> | AsyncIterable<LeavingNote>,
  scan: SecretScan,
): Promise<LeavingSecret[]> {
  if (scan === 'off') return [];
  const found = new Map<Oid, readonly SecretFinding[]>();
  const allowed = new Map<Oid, string[]>();
  const places: Pick<LeavingNote, 'ref' | 'commit' | 'oid'>[] = [];
  for await (const { ref, commit, oid, note, allowed: rules } of notes) {
    const findings = found.get(oid) ?? (await findSecrets(requireText(note)));
    found.set(oid, findings);
    if (findings.length === 0) continue;
    allowed.set(oid, [...(allowed.get(oid) ?? []), ...rules]);
    places.push({ ref, commit, oid });
  }
  return places.flatMap((place) => {
    const verdict = decideSecrets(found.get(place.oid) ?? [], allowed.get(place.oid) ?? [], scan);
    return 'findings' in verdict ? [{ ...place, findings: verdict.findings }] : [];
  });
}
