import { shortId } from '../../domain/names.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Repository } from '../../git/repository.ts';
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
