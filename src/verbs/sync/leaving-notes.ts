import type { Oid } from '../../domain/names.ts';
import { parseAllowed } from '../../domain/secrets/verdict.ts';
import { shellWord } from '../../domain/surfacing.ts';
import { loadCommits } from '../../git/commits.ts';
import { readSettings } from '../../git/config.ts';
import { historyOf, walkHistories } from '../../git/histories.ts';
import { type HandoffPath, handoffRef } from '../../git/namespace.ts';
import { repositoryFolder } from '../../host/folders.ts';
import { appendLog } from '../../host/log.ts';
import { inBatches } from '../../notes/sync/batches.ts';
import { refuseLeaving } from './refuse-leaving.ts';
import { type LeavingNote, scanNotes } from './scan-notes.ts';
import type { SyncReport } from './items.ts';
import type { SyncWorld } from './world.ts';

/** A handoff that is about to leave. */
export interface Outgoing {
  readonly path: HandoffPath;
  readonly tip: Oid;
  /** What the remote has of it. */
  readonly old: Oid | undefined;
}

/**
 * Those that take no secret along, in any version that the remote does not have. What is let pass all the same is logged;
 * with `handoff.secretScan = warn` it is said, and they go.
 */
export async function withoutSecrets<One extends Outgoing>(
  { repository, context, options, me }: SyncWorld,
  remote: string,
  outgoing: readonly One[],
  report: SyncReport,
): Promise<readonly One[]> {
  const { secretScan } = await readSettings(context.cwd);
  const found = await scanNotes(leavingNotes(repository.cwd, outgoing), secretScan);
  if (found.length === 0) return outgoing;
  const refusals = refuseLeaving(found, `git handoff push ${shellWord(remote)} --allow-secret`);
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
    if (refusal !== undefined) report.secret(one.path, one, refusal.why);
  }
  return outgoing.filter(({ path }) => !stay.has(handoffRef(path)));
}

/** Commits whose notes are read at a time; those of two such parts are in memory at once. */
const CHUNK = 250;

/** Every note of the versions that leave. What cannot be read cannot leave either: git's own push will say so. */
async function* leavingNotes(cwd: string, outgoing: readonly Outgoing[]): AsyncGenerator<LeavingNote> {
  const walked = await walkHistories(
    { cwd },
    outgoing.flatMap(({ tip, old }) => (old === undefined ? [tip] : [tip, `^${old}`])),
  );
  const pairs = outgoing.flatMap(({ path, tip }) =>
    [...(typeof walked === 'string' ? [tip] : historyOf(walked, tip))].map((commit) => ({
      ref: handoffRef(path),
      commit,
    })),
  );
  const load = (chunk: Readonly<typeof pairs> = []) => {
    const commits = chunk.map(({ commit }) => commit);
    const loading = loadCommits({ cwd }, commits, { notes: true });
    // Awaited when the chunk before it has been scanned.
    loading.catch(() => undefined);
    return loading;
  };
  const chunks = inBatches(pairs, CHUNK);
  let coming = load(chunks[0]);
  for (const [at, chunk] of chunks.entries()) {
    const loaded = await coming;
    coming = load(chunks[at + 1]);
    for (const [index, { ref, commit }] of chunk.entries()) {
      const { note, noteOid, trailers } = loaded[index] ?? {};
      if (note === undefined || noteOid === undefined) continue;
      yield { ref, commit, oid: noteOid, note, allowed: parseAllowed(trailers?.secretAllowed) };
    }
  }
}
