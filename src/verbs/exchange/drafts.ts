import { basename, dirname, join } from 'node:path';
import {
  guardOwner,
  guardPlace,
  parseIndex,
  readExported,
  readHandover,
  withoutMarker,
  indexedName,
} from '../../domain/formats/texts.ts';
import { type HandoffState, MAX_NOTE_BYTES } from '../../domain/handoff.ts';
import {
  type BranchName,
  type Oid,
  type SessionId,
  type Topic,
  parseBranchName,
  parseClientSessionId,
} from '../../domain/names.ts';
import { splitNote } from '../../domain/note/sections.ts';
import { slugWords, topicFrom } from '../../domain/note/topic-slug.ts';
import { escapeLine } from '../../domain/messages.ts';
import { commitNamed } from '../../git/commits.ts';
import { readPlainFile } from '../../host/disk.ts';
import { decodeNote } from '../../notes/front-matter/prepare.ts';
import { readNote } from '../../notes/front-matter/read.ts';
import { type FoundFile, type ImportWorld, type UnimportedFile, skip, textOf } from './find-files.ts';

/** A file with the note to write, before it is compared with what exists. */
export interface Draft extends FoundFile {
  readonly branch: BranchName;
  readonly topic: Topic;
  /** The owner, if it is not the session or person that imports the note. */
  readonly owner?: SessionId | undefined;
  readonly state: HandoffState;
  readonly from?: string;
  readonly to?: string;
  readonly base?: Oid | undefined;
  /** The note's text without its header; the first line becomes the summary. */
  readonly text: string;
  readonly copyOf?: Oid;
  readonly remark?: string | undefined;
}

/** Reads each file as a note to write, or says why it is not one. Returns the notes in the order in which to write them. */
export async function readDrafts(
  files: readonly FoundFile[],
  world: ImportWorld,
): Promise<{ drafts: Draft[]; skipped: UnimportedFile[] }> {
  const read = interpretStructured(
    files.filter(({ format }) => format === 'structured'),
    world,
  );
  for (const file of files) if (file.format !== 'structured') read.push(await interpret(file, world));
  return {
    drafts: inWritingOrder(read.filter((one) => 'state' in one)),
    skipped: read.filter((one) => 'left' in one),
  };
}

/** Orders drafts by format, open before closed, oldest first. An archived older version of an open handover counts as open. */
function inWritingOrder(drafts: readonly Draft[]): Draft[] {
  const formats = ['guard', 'handover', 'structured', 'markdown'];
  const rank = ({ format }: Draft) => formats.indexOf(format);
  const isHandover = ({ format }: Draft) => format === 'handover';
  const thread = ({ branch, topic }: Draft) => `${branch}/${topic}`;
  const open = new Set(drafts.filter((draft) => isHandover(draft) && draft.state === 'open').map(thread));
  return drafts
    .map((draft) =>
      isHandover(draft) && open.has(thread(draft)) ? { ...draft, state: 'open' as const } : draft,
    )
    .sort((a, b) => rank(a) - rank(b) || withinFormat(a, b));
}

function withinFormat(a: Draft, b: Draft): number {
  if (a.format === 'structured') return 0;
  const byName = a.path < b.path ? -1 : 1;
  if (a.format === 'handover') {
    // An archived handover is named after its time. The copy in .handover is never newer than handover.md.
    const last = ({ archived, path }: Draft) => (archived ? 0 : basename(path) === 'handover.md' ? 2 : 1);
    return last(a) - last(b) || byName;
  }
  const isClosed = ({ state }: Draft) => Number(state === 'closed');
  return isClosed(a) - isClosed(b) || a.mtimeMs - b.mtimeMs || byName;
}

async function interpret(file: FoundFile, world: ImportWorld): Promise<Draft | UnimportedFile> {
  const text = textOf(file.bytes);
  if (text.trim() === '') return skip(file, 'it is empty');
  const copy = exportedCopy(file, text, world);
  if (copy !== undefined) return copy;
  if (file.format === 'guard') return guardDraft(file, text, world);
  return file.format === 'handover' ? handoverDraft(file, text, world) : markdownDraft(file, text, world);
}

/** Reads a file that `export` wrote: git-handoff's header, and the note after it. */
function exportedCopy(file: FoundFile, text: string, world: ImportWorld): Draft | undefined {
  const copy = readExported(text);
  if (copy === undefined) return undefined;
  // The note's offset is counted in bytes, because the branch's name in the header may contain non-ASCII characters.
  const noteAt = Buffer.byteLength(text.slice(0, copy.noteAt));
  return {
    ...file,
    branch: world.branch ?? copy.branch,
    topic: world.topic ?? copy.topic,
    owner: copy.owner,
    state: 'open',
    bytes: file.bytes.subarray(noteAt),
    text: text.slice(copy.noteAt),
    copyOf: copy.oid,
    remark: 'a copy that git handoff export made; its header is left out',
  };
}

function guardDraft(file: FoundFile, text: string, world: ImportWorld): Draft {
  const { branch, repository, branches } = world;
  const place = guardPlace(
    basename(file.path),
    branch === undefined ? branches : [branch],
    repository.branch,
  );
  const owner = guardOwner(text);
  return {
    ...file,
    branch: branch ?? place.branch,
    topic: world.topic ?? place.topic,
    owner,
    state: owner === undefined || file.archived ? 'closed' : 'open',
    text: withoutMarker(text),
    remark: owner === undefined ? 'closed, because no session owns it' : undefined,
  };
}

async function handoverDraft(file: FoundFile, text: string, world: ImportWorld): Promise<Draft> {
  const { repository, branches } = world;
  const handover = readHandover(text);
  const named = handover.branch === undefined ? undefined : parseBranchName(handover.branch);
  const branch = world.branch ?? (named !== undefined && branches.includes(named) ? named : undefined);
  const gone = handover.branch !== undefined && branch === undefined;
  return {
    ...file,
    branch: branch ?? repository.branch,
    topic: world.topic ?? handover.topic,
    state: file.archived ? 'closed' : 'open',
    text: handover.goal ?? text,
    // Only an object name is accepted, whole or abbreviated: git would accept other revisions, too.
    base: /^[0-9a-f]{7,64}$/.test(handover.head ?? '')
      ? await commitNamed(repository.cwd, handover.head ?? '')
      : undefined,
    remark: gone ? `its branch ${escapeLine(handover.branch.slice(0, 80))} is not here` : undefined,
  };
}

function markdownDraft(file: FoundFile, text: string, world: ImportWorld): Draft {
  const { body } = splitNote(text);
  const heading = /^#{1,6}[ \t]+(\S.*)$/m.exec(body.slice(0, 65_536))?.[1];
  const title = slugWords(heading ?? '');
  const name = slugWords(basename(file.path).replace(/\.[^.]*$/, ''));
  // A one-word file name such as `notes.md` says less than the note's own title.
  const words = name.length > 1 || title.length === 0 ? name : title;
  return {
    ...file,
    branch: world.branch ?? world.repository.branch,
    topic: world.topic ?? topicFrom(words, 'imported-note'),
    state: 'open',
    text: body,
  };
}

/** Reads the structured handoffs of all folders. In each folder, those that INDEX.md lists come first, in its order. */
function interpretStructured(files: readonly FoundFile[], world: ImportWorld): (Draft | UnimportedFile)[] {
  const folders = [...new Set(files.map(({ path }) => dirname(path)))];
  return folders.flatMap((folder) => {
    const here = files.filter(({ path }) => dirname(path) === folder);
    const byName = new Map(here.map((file) => [basename(file.path), file]));
    const ids = readIndex(folder);
    const listed = [...ids.keys()].flatMap((name) => byName.get(name) ?? []);
    const seen = new Map<string, string>();
    return [...new Set([...listed, ...here])].map((file) => interpretOne(file, ids, seen, world));
  });
}

/** Returns the ids in a folder's INDEX.md by file name, in the order of the index. */
function readIndex(folder: string): ReadonlyMap<string, string> {
  const read = readPlainFile(join(folder, 'INDEX.md'), MAX_NOTE_BYTES);
  const ids = new Map<string, string>();
  for (const { id, file } of read.kind === 'file' ? parseIndex(textOf(read.bytes)) : []) {
    const name = indexedName(file, folder);
    if (name !== undefined && id !== '' && !ids.has(name)) ids.set(name, id);
  }
  return ids;
}

/** @param seen the names of the files read so far, by id; this file is added */
function interpretOne(
  file: FoundFile,
  ids: ReadonlyMap<string, string>,
  seen: Map<string, string>,
  world: ImportWorld,
): Draft | UnimportedFile {
  const text = decodeNote(file.bytes);
  if (text === undefined) return skip(file, 'it is not UTF-8');
  if (text.trim() === '') return skip(file, 'it is empty');
  const read = readNote(text, world.now);
  if (read.kind === 'none') return skip(file, 'it has no front matter');
  if (read.kind === 'foreign') return skip(file, 'its front matter is of another kind');
  if (read.kind === 'invalid') {
    const { message, hint } = read.problem;
    return { ...file, left: { code: 'usage', why: message, hint } };
  }
  const { fields, body, id, otherId } = read;
  const name = basename(file.path);
  const wrong = wrongId(id, otherId, ids.get(name));
  if (wrong !== undefined) return skip(file, wrong, 'integrity');
  const sameId = seen.get(id);
  if (sameId !== undefined) return skip(file, `it has the handoff_id of ${escapeLine(sameId)}`);
  seen.set(id, name);
  const topic = topicFrom(slugWords(fields.topic), 'structured-note', Infinity);
  const isRenamed = topic !== fields.topic && world.topic === undefined;
  return {
    ...file,
    branch: world.branch ?? world.repository.branch,
    topic: world.topic ?? topic,
    owner: parseClientSessionId(fields.from),
    state: 'open',
    from: fields.from,
    to: fields.to,
    text: body,
    remark: isRenamed ? `its topic ${fields.topic} stays in the front matter` : undefined,
  };
}

function wrongId(computed: string, ...stated: readonly (string | undefined)[]): string | undefined {
  const other = stated.find((id) => id !== undefined && id !== computed);
  if (other === undefined) return undefined;
  return `handoff_id mismatch: supplied=${escapeLine(other.slice(0, 80))} computed=${computed}`;
}
