import type { Verdict } from '../../agents/dialect.ts';
import {
  type MarkerAct,
  type MarkerFile,
  decideMarkerFile,
  markerFileName,
  overlappingFiles,
  withMarker,
} from '../../domain/marker.ts';
import { parseSessionId } from '../../domain/names.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { isHandoffRefFile } from '../../git/discover.ts';
import { realPath } from '../../host/disk.ts';
import { siblingNames } from '../../host/marker-files.ts';
import { markerRefusal, refRefusal } from '../refusals.ts';
import type { Scene } from '../scene.ts';
import { ALLOW } from '../verdicts.ts';

/** Refuses, and names the owner of the file's marker. */
export function markerDenial(reason: string, { owner }: MarkerFile): Verdict {
  const known = parseSessionId(owner);
  return { kind: 'deny', reason, owners: known === undefined ? [] : [known], aboutFiles: true };
}

/** A new file beside one that is probably about the same work. */
function overlap(path: string, exists: boolean): { context?: string } {
  const name = markerFileName(path);
  if (exists || name === undefined) return {};
  const related = overlappingFiles(name, siblingNames(path));
  if (related.length === 0) return {};
  return {
    context: `Sibling-overlap notice: ${related.map(escapeLine).join(', ')} may be about the same work. (Write proceeds.)`,
  };
}

/** Decides an act on a guarded file that was found. */
export function decideGuarded(scene: Scene, path: string, act: MarkerAct, by: string): Verdict {
  const file = scene.files.read(path);
  const { session } = scene.event;
  // Only the predecessors' own files have a grammar; further guarded ones are owned by their marker alone.
  const named = markerFileName(path) === undefined ? { ...file, name: 'handoff-any-free-name.md' } : file;
  const mode = scene.dialect.canRewrite(scene.env) ? scene.settings.marker : 'handshake';
  const decision = decideMarkerFile(named, act, session, mode);
  switch (decision.kind) {
    case 'deny':
      return markerDenial(markerRefusal(decision.why, file, session, by), file);
    case 'insert-marker':
      if (act.kind !== 'write' || session === undefined) return ALLOW;
      return { kind: 'rewrite', content: withMarker(act.content, session), ...overlap(path, file.exists) };
    case 'allow': {
      const notice = overlap(path, file.exists || act.kind !== 'write');
      return notice.context === undefined ? ALLOW : { kind: 'notice', text: notice.context };
    }
  }
}

/** Decides the removal, by name, of a file or of a folder with what is below it. */
export function removePath(scene: Scene, path: string, by: string): Verdict[] {
  if (isHandoffRefFile(realPath(path, false), true)) {
    return [{ kind: 'deny', reason: refRefusal({ ref: path, by }) }];
  }
  return scene.files.below(path).map((file) => decideGuarded(scene, file, { kind: 'remove' }, by));
}
