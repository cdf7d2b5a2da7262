import { resolve } from 'node:path';
import { escapeLine, Failure, shellWord, timestamp } from '../../domain/messages.ts';
import { type ExportFormat, exportHeader, readExported } from '../../domain/formats/texts.ts';
import { MAX_NOTE_BYTES } from '../../domain/handoff.ts';
import { markerOwner } from '../../domain/marker.ts';
import { type BranchName, type SessionId, type Topic, ownerName } from '../../domain/names.ts';
import { loadCommits, type LoadedCommit } from '../../git/commits.ts';
import { topLevel } from '../../git/repository.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import type { Context } from '../../sessions/caller.ts';
import type { Rendered } from '../../ui/terminal.ts';
import { noteShape } from '../handoff-shape.ts';
import { putOutput } from '../../host/output-file.ts';
import type { CommandResult } from '../verb.ts';
import type { ExportShape, NoteShape } from '../shapes.ts';
import { loadVersion, openTopic } from '../notes/reader.ts';

interface ExportOptions {
  /** The topic; `undefined` for the newest open handoff of this branch. */
  readonly topic: string | undefined;
  readonly format: ExportFormat;
  /** The file to write; `undefined` or `-` for standard output. */
  readonly output: string | undefined;
  readonly force: boolean;
  readonly session: string | undefined;
}

/** The answer, with the text itself if it went to standard output. */
type ExportValue = { readonly items: readonly ExportShape[] } & Partial<NoteShape>;

/** A handoff to export: its tip or, for a comparison, an older version. */
interface ExportedNote {
  readonly branch: BranchName;
  readonly topic: Topic;
  readonly commit: LoadedCommit;
}

/** A header is at most 4 KiB long. */
const MAX_EXPORT_BYTES = MAX_NOTE_BYTES + 4096;

/**
 * Writes a copy of a handoff for programs that only read files. Replaces an unchanged earlier copy of the same handoff.
 * With `force`, replaces any file but another session's handoff file.
 *
 * @throws Failure `not-found`, `usage`, or `refused` for a file that is not ours to replace.
 */
export async function exportNote(
  { topic, format, output, force, session }: ExportOptions,
  context: Context,
): Promise<CommandResult<ExportValue>> {
  const { repository, state, tip, reader, notices } = await openTopic({ topic, session }, context);
  const { cwd, commonDir } = repository;
  const { oid } = tip;
  const commit = await loadVersion(cwd, oid);
  const note = { branch: state.branch, topic: state.topic, commit };
  const bytes = composeExport(note, format);
  const owner = commit.trailers?.owner ?? 'unknown';
  const item = { branch: note.branch, topic: note.topic, oid, owner, format };
  if (output === undefined || output === '-') {
    const items = [{ ...item, file: null, written: true }];
    return { value: { items, ...noteShape(bytes) }, notices, bytes };
  }
  const written = await putOutput(bytes, {
    path: resolve(cwd, output),
    typed: output,
    top: await topLevel(repository),
    commonDir,
    limit: MAX_EXPORT_BYTES,
    mode: 0o666,
    refuse: async (found) =>
      (await isOwnCopy(note, found, cwd))
        ? undefined
        : refusal(note, found, { format, output, force, caller: reader.session }),
  });
  return { value: { items: [{ ...item, file: output, written }] }, notices };
}

function composeExport({ branch, topic, commit }: ExportedNote, format: ExportFormat): Buffer {
  const { oid, trailers, seconds, note = Buffer.alloc(0) } = commit;
  const facts = { head: trailers?.base, updated: timestamp(seconds * 1000) };
  const header = exportHeader({ branch, topic, oid, owner: trailers?.owner, format }, facts);
  return Buffer.concat([Buffer.from(header), note]);
}

/** Whether a file is, byte for byte, an earlier export of this handoff in any format. */
async function isOwnCopy(note: ExportedNote, bytes: Buffer, cwd: string): Promise<boolean> {
  const origin = readExported(bytes.toString('utf8'));
  if (origin?.branch !== note.branch || origin.topic !== note.topic) return false;
  const [commit] = await loadCommits({ cwd }, [origin.oid], { notes: true });
  return commit?.note !== undefined && composeExport({ ...note, commit }, origin.format).equals(bytes);
}

interface Replacing {
  readonly format: ExportFormat;
  readonly output: string;
  readonly force: boolean;
  readonly caller: SessionId | undefined;
}

function refusal(
  { branch, topic }: ExportedNote,
  bytes: Buffer,
  { format, output, force, caller }: Replacing,
): Failure | undefined {
  const text = bytes.toString('utf8');
  const [shown, word] = [escapeLine(output), shellWord(output)];
  const toImport = `git handoff import --dry-run -- ${word}`;
  const owner = markerOwner(text);
  if (owner !== undefined && owner !== caller)
    return new Failure('not-owner', `${shown} is a handoff file of ${ownerName(owner)}`, { hint: toImport });
  if (force) return undefined;
  if (readExported(text) !== undefined) {
    const why = 'was changed since it was exported, or is a copy of another handoff';
    return new Failure('refused', `${shown} ${why}; nothing was written`, { hint: toImport });
  }
  const why = 'exists already, and is not a copy that git handoff export made';
  return new Failure('refused', `${shown} ${why}; nothing was written`, {
    hint: `git handoff export ${typedTopic(branch, topic)} --format ${format} --force -o ${word}`,
  });
}

export function renderExported({ items }: ExportValue): Rendered {
  return items
    .map(({ branch, topic, file, written }) => {
      const what = written ? 'written' : 'up to date';
      return `${escapeLine(file ?? '-')}  ${what}  ${escapeLine(`${branch}/${topic}`)}\n`;
    })
    .join('');
}
