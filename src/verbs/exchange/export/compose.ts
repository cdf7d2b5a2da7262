import { exportHeader, guardFileName } from '../../../domain/formats/exported.ts';
import type { ExportFormat } from '../../../domain/formats/detect.ts';
import { slugWords } from '../../../domain/formats/topic-name.ts';
import type { BranchName, Topic } from '../../../domain/names.ts';
import type { LoadedCommit } from '../../../git/commits.ts';
import { timestamp } from '../../../domain/age.ts';

/** A handoff that is to be exported: its tip, or for a comparison one of its versions. */
export interface ExportedNote {
  readonly branch: BranchName;
  readonly topic: Topic;
  readonly commit: LoadedCommit;
}

/** The bytes of the exported file: the header of its format and the note as it is, or the note alone. */
export function composeExport({ branch, topic, commit }: ExportedNote, format: ExportFormat | 'raw'): Buffer {
  const note = commit.note ?? Buffer.alloc(0);
  if (format === 'raw') return note;
  const { oid, trailers, seconds } = commit;
  const facts = { head: trailers?.base, updated: timestamp(seconds * 1000) };
  const header = exportHeader({ branch, topic, oid, owner: trailers?.owner, format }, facts);
  return Buffer.concat([Buffer.from(header), note]);
}

/** What `--all` calls a file: claude-handoff-guard's own form of a name, or the plain one. */
export function exportName(
  { branch, topic }: Pick<ExportedNote, 'branch' | 'topic'>,
  format: ExportFormat | 'raw',
): string {
  const words = slugWords(branch);
  const name = guardFileName(words.length === 0 ? ['branch'] : words, topic);
  return format === 'guard' ? name : name.replace(/^handoff-/, '');
}
