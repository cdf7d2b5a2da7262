import { basename } from 'node:path';
import { readExported } from '../../../domain/formats/exported.ts';
import { guardOwner, guardPlace, withoutMarker, readHandover } from '../../../domain/formats/handover.ts';
import { slugWords, topicFrom } from '../../../domain/formats/topic-name.ts';
import { markerOwner } from '../../../domain/marker.ts';
import { parseBranchName } from '../../../domain/names.ts';
import { splitNote } from '../../../domain/note/document.ts';
import { escapeLine } from '../../../domain/surfacing.ts';
import { commitNamed } from '../../../git/commits.ts';
import { type Draft, type FoundFile, type ImportWorld, type Interpreted, skip, textOf } from './draft.ts';

/** Says what a file is as a handoff. Structured ones, which belong to their index, are read elsewhere. */
export async function interpret(file: FoundFile, world: ImportWorld): Promise<Interpreted> {
  const text = textOf(file.bytes);
  if (text.trim() === '') return { skipped: skip(file, 'it is empty') };
  const copy = exportedCopy(file, text, world);
  if (copy !== undefined) return { draft: copy };
  if (file.format === 'guard') return { draft: guardDraft(file, text, world) };
  return {
    draft:
      file.format === 'handover' ? await handoverDraft(file, text, world) : markdownDraft(file, text, world),
  };
}

/** What every draft begins as. */
export function plainDraft(file: FoundFile, world: ImportWorld): Omit<Draft, 'topic'> {
  return {
    file,
    branch: world.branch ?? world.repository.branch,
    owner: undefined,
    state: 'open',
    from: undefined,
    to: undefined,
    base: undefined,
    note: file.bytes,
    text: textOf(file.bytes),
    copyOf: undefined,
    remark: undefined,
  };
}

/** A file that `export` wrote: its header is ours, the note is what follows. */
function exportedCopy(file: FoundFile, text: string, world: ImportWorld): Draft | undefined {
  const copy = readExported(text);
  if (copy === undefined) return undefined;
  // The header is ASCII but for a branch's name: its end is looked for in bytes.
  const noteAt = Buffer.byteLength(text.slice(0, copy.noteAt));
  return {
    ...plainDraft(file, world),
    branch: world.branch ?? copy.branch,
    topic: world.topic ?? copy.topic,
    owner: copy.owner,
    note: file.bytes.subarray(noteAt),
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
  const unmarked =
    markerOwner(text) === undefined ? 'no session owns it' : 'its marker names no session that could own it';
  return {
    ...plainDraft(file, world),
    branch: branch ?? place.branch,
    topic: world.topic ?? place.topic,
    owner,
    state: owner === undefined || file.archived ? 'closed' : 'open',
    text: withoutMarker(text),
    remark: owner === undefined ? `${unmarked}: closed` : undefined,
  };
}

async function handoverDraft(file: FoundFile, text: string, world: ImportWorld): Promise<Draft> {
  const { repository, branches } = world;
  const said = readHandover(text);
  const named = said.branch === undefined ? undefined : parseBranchName(said.branch);
  const branch = world.branch ?? (named !== undefined && branches.includes(named) ? named : undefined);
  const gone = said.branch !== undefined && branch === undefined;
  return {
    ...plainDraft(file, world),
    branch: branch ?? repository.branch,
    topic: world.topic ?? said.topic,
    state: file.archived ? 'closed' : 'open',
    text: said.goal ?? text,
    // An object name, or its beginning; nothing else that git would take.
    base: /^[0-9a-f]{7,64}$/.test(said.head ?? '')
      ? await commitNamed(repository.cwd, said.head ?? '')
      : undefined,
    remark: gone ? `its branch ${escapeLine(said.branch.slice(0, 80))} is not here` : undefined,
  };
}

function markdownDraft(file: FoundFile, text: string, world: ImportWorld): Draft {
  const { body } = splitNote(text);
  const heading = /^#{1,6}[ \t]+(\S.*)$/m.exec(body.slice(0, 65_536))?.[1];
  const title = slugWords(heading ?? '');
  const name = slugWords(basename(file.path).replace(/\.[^.]*$/, ''));
  // `notes.md` says less than the note's own title.
  const words = name.length > 1 || title.length === 0 ? name : title;
  return {
    ...plainDraft(file, world),
    topic: world.topic ?? topicFrom(words, 'imported-note'),
    text: body,
  };
}
