import { type Oid, shortId } from '../../domain/names.ts';
import type { Settings } from '../../domain/settings.ts';
import { WORK_FILE } from '../../domain/work.ts';
import { formatOf, objectName } from '../../git/hash.ts';
import { WORK } from '../../git/namespace.ts';
import { readObjects } from '../../git/objects.ts';
import { listRefNames } from '../../git/refs.ts';
import type { InRepository, Repository } from '../../git/repository.ts';
import { homeFolder } from '../../host/folders.ts';
import { markerFiles } from '../../host/marker-files.ts';
import { processTable } from '../../host/processes.ts';
import { leaveNotesOfGone, sessionsToNote } from '../../notes/automatic/gone-sessions.ts';
import { readWork } from '../../notes/work/work-commit.ts';
import { type KeptWork, leftWork } from '../../notes/work/work-refs.ts';
import type { Context } from '../../sessions/caller.ts';
import { judgeSessions, listSessions } from '../../sessions/records.ts';
import { counted } from '../../ui/terminal.ts';
import { settleWork } from '../notes/settle-work.ts';
import type { CheckShape } from '../shapes.ts';
import { FIX, doctorLine } from './finding.ts';

/** Younger work may belong to a note that is being written now. Milliseconds. */
const YOUNG_MS = 10 * 60_000;

/** Reports work that no open note carries, after a close elsewhere or a crash. With `fix` it is moved to the rescues. */
export async function checkWork(repository: Repository, fix: boolean, now: number): Promise<CheckShape[]> {
  const left: KeptWork[] = [];
  for (const one of await leftWork(repository)) {
    const work = await readWork({ cwd: repository.cwd }, one.oid, Infinity);
    if (typeof work !== 'object' || now - work.seconds * 1000 >= YOUNG_MS) left.push(one);
  }
  if (left.length === 0) return [];
  const names = [...new Set(left.map(({ path }) => path.topic))].slice(0, 5).join(', ');
  const detail = `uncommitted work of ${counted(left.length, 'closed or missing note')}: ${names}`;
  if (!fix) return [doctorLine('work', 'warning', detail, FIX)];
  const command = 'git handoff doctor --fix';
  const settled = await settleWork(repository, left, { authors: [], session: null, command, now });
  return settled.map(({ kind, text }) => doctorLine('work', kind === 'stays' ? 'warning' : 'fixed', text));
}

/** `--verify`: checks the format of every work commit, and that its objects are intact. */
export async function verifyWork(repository: InRepository): Promise<CheckShape[]> {
  const refs = await listRefNames(repository, [WORK]);
  if (refs.length === 0) return [];
  const found: CheckShape[] = [];
  for (const { name, oid } of refs) {
    const why = await damageOf(repository, oid);
    if (why !== undefined)
      found.push(doctorLine('work', 'problem', `${name.slice(WORK.length)}: ${why}`, 'git fsck --full'));
  }
  if (found.length > 0) return found;
  return [doctorLine('work', 'ok', `${counted(refs.length, 'note')} with work, all of it readable`)];
}

async function damageOf({ cwd }: InRepository, oid: Oid): Promise<string | undefined> {
  const work = await readWork({ cwd }, oid, Infinity);
  if (typeof work !== 'object') return work ?? 'it is missing or unreadable';
  const names = [oid, `${oid}:${WORK_FILE}`, ...work.blobs];
  const objects = await readObjects(
    { cwd },
    names.map((name) => ({ name })),
  );
  const isWhole = objects.every(
    (object) => object !== undefined && objectName(formatOf(oid), object.type, object.content) === object.oid,
  );
  return isWhole ? undefined : 'one of its blobs is damaged';
}

/** For all notes together. Milliseconds. */
const PATIENCE_MS = 30_000;

/** With `fix`: leaves the notes of sessions that are gone without a word, as the next start of a session would. */
export async function checkGone(
  { commonDir }: Repository,
  settings: Settings,
  { cwd, env, now, budget }: Context,
  fix: boolean,
): Promise<CheckShape[]> {
  if (!fix || settings.enabled !== true || !settings.automaticNotes) return [];
  const table = processTable();
  const sessions = judgeSessions(await listSessions({ cwd }), commonDir, table, settings.staleAfterMs, now);
  const gone = sessionsToNote(commonDir, sessions, table.bootId);
  const failures: string[] = [];
  const written = await leaveNotesOfGone(gone, {
    commonDir,
    sessions,
    files: markerFiles(homeFolder(env), env, settings.guardPath),
    now,
    budget: budget.part(PATIENCE_MS),
    log: (detail) => failures.push(detail),
  });
  const names = written.map(({ record }) => shortId(record.session)).join(', ');
  return [
    ...(written.length === 0 ? [] : [doctorLine('notes', 'fixed', `automatic notes were left for ${names}`)]),
    ...failures.map((detail) => doctorLine('notes', 'warning', detail)),
  ];
}
