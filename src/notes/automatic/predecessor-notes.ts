import type { SessionId } from '../../domain/names.ts';
import { statOf } from '../../git/stat.ts';
import type { MarkerFiles } from '../../host/marker-files.ts';

/** When a session last wrote a handoff file of the predecessors' form, milliseconds since the epoch. */
export function changedFileTime(files: MarkerFiles, session: SessionId): number | undefined {
  const times = files.all().flatMap((path) => {
    const isOwn = files.read(path).owner === session;
    return isOwn ? (statOf(path)?.mtimeMs ?? []) : [];
  });
  return times.length === 0 ? undefined : Math.max(...times);
}
