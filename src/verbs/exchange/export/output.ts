import { basename, dirname, join, relative, resolve } from 'node:path';
import { Failure } from '../../../domain/failure.ts';
import { readExported } from '../../../domain/formats/exported.ts';
import type { ExportFormat } from '../../../domain/formats/detect.ts';
import { MAX_NOTE_BYTES } from '../../../domain/handoff.ts';
import { markerOwner } from '../../../domain/marker.ts';
import type { SessionId } from '../../../domain/names.ts';
import { escapeLine, shellWord } from '../../../domain/surfacing.ts';
import { loadCommits } from '../../../git/commits.ts';
import { isFolder, realPath } from '../../../host/disk.ts';
import { replaceFile } from '../../../host/output-file.ts';
import { readPlainFile } from '../../../host/plain-files.ts';
import { obstacle } from '../../../host/put-file.ts';
import { readHistory } from '../../../notes/topic.ts';
import { ownerName } from '../../../domain/owner-name.ts';
import { typedTopic } from '../../../notes/topic-argument.ts';
import { type ExportedNote, composeExport } from './compose.ts';

/** Where a copy goes, and what may be replaced there. */
export interface ExportTarget {
  readonly cwd: string;
  /** Top of the working tree; `undefined` in a bare repository. */
  readonly top: string | undefined;
  /** The repository's own folder. */
  readonly commonDir: string;
  /** As typed. */
  readonly path: string;
  readonly format: ExportFormat | 'raw';
  readonly force: boolean;
  readonly caller: SessionId | undefined;
}

/** A header is at most 4 KiB long. */
const MAX_EXPORT_BYTES = MAX_NOTE_BYTES + 4096;

/**
 * Puts a copy into a file. What stands there is replaced if it is an earlier copy of the same handoff that nobody has
 * changed; anything else only with `force`, and another session's handoff file, a folder or a link never. Returns
 * whether it had to be written.
 *
 * @throws Failure `refused`, `not-owner`, `usage` or `environment`; then nothing was changed.
 */
export async function putExport(note: ExportedNote, content: Buffer, output: ExportTarget): Promise<boolean> {
  const path = resolve(output.cwd, output.path);
  requirePlace(path, output);
  const found = readPlainFile(path, MAX_EXPORT_BYTES);
  if (found.kind === 'refused')
    throw refused(output, `${shown(output)} is not replaced: ${found.why}`, undefined);
  if (found.kind === 'file') {
    if (found.bytes.equals(content)) return false;
    if (!(await isOwnCopy(note, found.bytes, output))) requireForce(note, found.bytes, output);
  }
  try {
    replaceFile(path, content);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'error';
    throw new Failure('environment', `${shown(output)} cannot be written (${code})`, {
      hint: `ls -ld -- ${shellWord(dirname(path))}`,
      cause: error,
    });
  }
  return true;
}

const shown = ({ path }: ExportTarget) => escapeLine(path);

function refused(output: ExportTarget, message: string, hint: string | undefined): Failure {
  return new Failure('refused', message, { hint: hint ?? `ls -ld -- ${shellWord(output.path)}` });
}

/** The folder must be there; inside the working tree no link may lead elsewhere, and git's own folder is none of ours. */
function requirePlace(path: string, output: ExportTarget): void {
  const { top } = output;
  const folder = dirname(path);
  if (output.path.endsWith('/')) {
    const message = `${shown(output)} is a folder; name a file`;
    throw new Failure('usage', message, { hint: 'git handoff export --all -o <folder>' });
  }
  if (!isFolder(folder)) {
    throw new Failure('usage', `there is no folder ${escapeLine(folder)}`, {
      hint: `mkdir -p -- ${shellWord(folder)}`,
    });
  }
  const inside =
    top === undefined
      ? '..'
      : relative(top, join(realPath(dirname(folder)), basename(folder), basename(path)));
  const lexical = top === undefined ? '..' : relative(top, path);
  const way = lexical.startsWith('..') ? inside : lexical;
  if (top === undefined || way.startsWith('..') || way === '') {
    const own = relative(realPath(output.commonDir), join(realPath(folder), basename(path)));
    if (/^\.\.(?:\/|$)/.test(own)) return;
    throw refused(output, `${shown(output)} is not written: it is in git's own folder`, undefined);
  }
  const why = obstacle(top, Buffer.from(way));
  if (why !== undefined)
    throw refused(output, `${shown(output)} is not written: ${escapeLine(why)}`, undefined);
}

/** An earlier export of this handoff, byte for byte, whatever format it was made in. */
async function isOwnCopy(note: ExportedNote, bytes: Buffer, output: ExportTarget): Promise<boolean> {
  const options = { cwd: output.cwd };
  if (output.format === 'raw') {
    const history = await readHistory(options, note.commit.oid);
    const loaded = await loadCommits(
      options,
      history.map(({ oid }) => oid),
      { notes: true },
    );
    return loaded.some((commit) => commit?.note?.equals(bytes) === true);
  }
  const origin = readExported(bytes.toString('utf8'));
  if (origin?.branch !== note.branch || origin.topic !== note.topic) return false;
  const [commit] = await loadCommits(options, [origin.oid], { notes: true });
  return commit?.note !== undefined && composeExport({ ...note, commit }, origin.format).equals(bytes);
}

function requireForce(note: ExportedNote, bytes: Buffer, output: ExportTarget): void {
  const text = bytes.toString('utf8');
  const owner = markerOwner(text);
  if (owner !== undefined && owner !== output.caller) {
    throw new Failure('not-owner', `${shown(output)} is a handoff file of ${ownerName(owner)}`, {
      hint: `git handoff import --dry-run -- ${shellWord(output.path)}`,
    });
  }
  if (output.force) return;
  const copy = readExported(text);
  const message =
    copy === undefined
      ? `${shown(output)} exists already, and is not a copy that git handoff export made`
      : `${shown(output)} was changed since it was exported, or is a copy of another handoff`;
  const word = shellWord(output.path);
  const kind = output.format === 'raw' ? '--raw' : `--format ${output.format}`;
  const again = `git handoff export ${typedTopic(note.branch, note.topic)} ${kind} --force -o ${word}`;
  const hint = copy === undefined ? again : `git handoff import --dry-run -- ${word}`;
  throw refused(output, `${message}; nothing was written`, hint);
}
