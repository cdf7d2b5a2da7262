import { shortId } from '../../domain/names.ts';
import type { Settings } from '../../domain/settings.ts';
import type { Repository } from '../../git/repository.ts';
import { markerFiles } from '../../host/marker-files.ts';
import { processTable } from '../../host/processes.ts';
import { judgeSessions, listSessions } from '../../sessions/records.ts';
import { leaveNotesOfGone, sessionsToNote } from '../../notes/automatic/gone-sessions.ts';
import type { Context } from '../../sessions/caller.ts';
import type { CheckShape } from '../shapes.ts';
import { doctorLine } from './finding.ts';
import { homeFolder } from '../../host/folders.ts';

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
    files: await markerFiles(homeFolder(env), env, settings.guardPath),
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
