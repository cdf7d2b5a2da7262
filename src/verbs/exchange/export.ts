import { resolve } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import type { ExportFormat } from '../../domain/formats/detect.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { loadCommits } from '../../git/commits.ts';
import { encodeBranch } from '../../git/namespace.ts';
import { type Repository, topLevel } from '../../git/repository.ts';
import { isFolder } from '../../host/disk.ts';
import { type TopicState, readTopics } from '../../notes/topic.ts';
import { type Context, findSession } from '../../sessions/caller.ts';
import type { CommandResult } from '../result.ts';
import { type ExportedNote, composeExport, exportName } from './export/compose.ts';
import { type ExportTarget, putExport } from './export/output.ts';
import { findTopic, newestTopic, requireTip } from '../../notes/find-topic.ts';
import { reportIllegalMoves } from '../../notes/report-illegal.ts';
import type { ExportShape, NoteShape } from '../shapes.ts';
import { noteShape } from '../handoff-shape.ts';
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
