import { resolve, basename, dirname, join, relative } from 'node:path';
import { timestamp } from '../../domain/age.ts';
import { Failure } from '../../domain/failure.ts';
import type { ExportFormat } from '../../domain/formats/detect.ts';
import { readExported, exportHeader, guardFileName } from '../../domain/formats/exported.ts';
import { slugWords } from '../../domain/formats/topic-name.ts';
import { MAX_NOTE_BYTES } from '../../domain/handoff.ts';
import { markerOwner } from '../../domain/marker.ts';
import type { SessionId, BranchName, Topic } from '../../domain/names.ts';
import { ownerName } from '../../domain/owner-name.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { loadCommits, type LoadedCommit } from '../../git/commits.ts';
import { encodeBranch } from '../../git/namespace.ts';
import { type Repository, topLevel } from '../../git/repository.ts';
import { isFolder, realPath } from '../../host/disk.ts';
import { replaceFile } from '../../host/output-file.ts';
import { readPlainFile } from '../../host/plain-files.ts';
import { obstacle } from '../../host/put-file.ts';
import { findTopic, newestTopic, requireTip } from '../../notes/find-topic.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import { typedTopic } from '../../notes/topic-argument.ts';
import { type TopicState, readTopics, readHistory } from '../../notes/topic.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import { noteShape } from '../handoff-shape.ts';
import type { CommandResult } from '../result.ts';
import type { ExportShape, NoteShape } from '../shapes.ts';
import { openWorkspace } from '../workspace.ts';

interface ExportOptions {
  /** `undefined`: the newest open handoff of this branch, or with `all` every open one. */
  readonly topic: string | undefined;
  readonly all: boolean;
  readonly format: ExportFormat;
  /** The note's bytes alone, whatever the format. */
  readonly raw: boolean;
  /** A file, or with `all` a folder; `undefined` or `-`: standard output. */
  readonly output: string | undefined;
  readonly force: boolean;
  readonly session: string | undefined;
}

/** With the text itself where it went to standard output. */
export interface ExportValue extends Partial<NoteShapeFields> {
  readonly items: readonly ExportShape[];
}
type NoteShapeFields = { readonly note: string; readonly noteBase64: string };

/**
 * Makes copies of handoffs for programs that only read files.
 *
 * @throws Failure `not-found`, `usage`, or `refused` for a file that is not ours to replace.
 */
export async function exportNotes(
  options: ExportOptions,
  context: Context,
): Promise<CommandResult<ExportValue>> {
  const { repository, sessions, notices } = await openWorkspace(context);
  const caller = findSession(context, sessions, options.session)?.id;
  const format = options.raw ? 'raw' : options.format;
  const states = await wanted(options, repository);
  const notes = await loadNotes(repository, states);
  const told = [...notices, ...(await reportIllegalMoves(repository, states, context.now))];
  if (options.output === undefined || options.output === '-') {
    const [note] = notes;
    if (note === undefined || options.all) throw needsFolder();
    const bytes = composeExport(note, format);
    const text: NoteShape = noteShape(bytes);
    return { value: { items: [item(note, format, null, true)], ...text }, notices: told, bytes };
  }
  const top = await topLevel(repository);
  const base: Omit<ExportTarget, 'path'> = {
    cwd: context.cwd,
    top,
    commonDir: repository.commonDir,
    format,
    force: options.force,
    caller,
  };
  const outputs = options.all ? allOutputs(notes, options.output, base) : [{ ...base, path: options.output }];
  const items: ExportShape[] = [];
  for (const [at, output] of outputs.entries()) {
    const note = notes[at];
    if (note === undefined) continue;
    const written = await putExport(note, composeExport(note, format), output);
    items.push(item(note, format, output.path, written));
  }
  return { value: { items }, notices: told };
}

function item(
  { branch, topic, commit }: ExportedNote,
  format: ExportShape['format'],
  file: string | null,
  written: boolean,
): ExportShape {
  return {
    branch,
    topic,
    oid: commit.oid,
    owner: commit.trailers?.owner ?? 'unknown',
    format,
    file,
    written,
  };
}

async function wanted({ topic, all }: ExportOptions, repository: Repository): Promise<TopicState[]> {
  if (all && topic !== undefined) {
    throw new Failure('usage', 'a topic and --all exclude each other', { hint: 'git handoff export -h' });
  }
  if (topic !== undefined) return [await findTopic(repository, topic)];
  if (!all) return [await newestTopic(repository, encodeBranch(repository.branch))];
  const open = (await readTopics(repository)).filter(({ tip }) => tip?.trailers?.state === 'open');
  if (open.length > 0) return open;
  throw new Failure('not-found', 'there is no open handoff', { hint: 'git handoff list --all' });
}

async function loadNotes(repository: Repository, states: readonly TopicState[]): Promise<ExportedNote[]> {
  const tips = states.map((state) => requireTip(state).oid);
  const commits = await loadCommits({ cwd: repository.cwd }, tips, { notes: true });
  return states.map(({ branch, topic }, at) => {
    const commit = commits[at];
    if (commit?.note !== undefined) return { branch, topic, commit };
    throw new Failure('integrity', `the note of ${tips[at]} cannot be read`, {
      hint: 'git fsck --connectivity-only',
    });
  });
}

function needsFolder(): Failure {
  return new Failure('usage', '--all needs a folder', { hint: 'git handoff export --all -o <folder>' });
}

/** Two branches may have the same words: then the second file's name gets a number. */
function allOutputs(
  notes: readonly ExportedNote[],
  folder: string,
  base: Omit<ExportTarget, 'path'>,
): ExportTarget[] {
  if (base.format === 'handover') {
    throw new Failure('usage', 'a handover is one file for a working tree; --all is for markdown and guard', {
      hint: 'git handoff export --format handover -o handover.md',
    });
  }
  const whole = resolve(base.cwd, folder);
  if (!isFolder(whole)) {
    throw new Failure('usage', `there is no folder ${escapeLine(folder)}`, {
      hint: `mkdir -p -- ${shellWord(folder)}`,
    });
  }
  const used = new Set<string>();
  return notes.map((note) => {
    const name = exportName(note, base.format);
    let free = name;
    for (let number = 2; used.has(free); number++) free = name.replace(/\.md$/, `-${number}.md`);
    used.add(free);
    return { ...base, path: `${folder.replace(/(?<!\/)\/+$/, '')}/${free}` };
  });
}

/** Where a copy goes, and what may be replaced there. */
interface ExportTarget {
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
async function putExport(note: ExportedNote, content: Buffer, output: ExportTarget): Promise<boolean> {
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

/** A handoff that is to be exported: its tip, or for a comparison one of its versions. */
interface ExportedNote {
  readonly branch: BranchName;
  readonly topic: Topic;
  readonly commit: LoadedCommit;
}

/** The bytes of the exported file: the header of its format and the note as it is, or the note alone. */
function composeExport({ branch, topic, commit }: ExportedNote, format: ExportFormat | 'raw'): Buffer {
  const note = commit.note ?? Buffer.alloc(0);
  if (format === 'raw') return note;
  const { oid, trailers, seconds } = commit;
  const facts = { head: trailers?.base, updated: timestamp(seconds * 1000) };
  const header = exportHeader({ branch, topic, oid, owner: trailers?.owner, format }, facts);
  return Buffer.concat([Buffer.from(header), note]);
}

/** What `--all` calls a file: claude-handoff-guard's own form of a name, or the plain one. */
function exportName(
  { branch, topic }: Pick<ExportedNote, 'branch' | 'topic'>,
  format: ExportFormat | 'raw',
): string {
  const words = slugWords(branch);
  const name = guardFileName(words.length === 0 ? ['branch'] : words, topic);
  return format === 'guard' ? name : name.replace(/^handoff-/, '');
}
