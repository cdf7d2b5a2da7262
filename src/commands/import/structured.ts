import { basename, dirname, join } from 'node:path';
import { indexedName, parseIndex } from '../../domain/formats/index-table.ts';
import { type StructuredHead, readStructured } from '../../domain/formats/structured.ts';
import { slugWords, topicFrom } from '../../domain/formats/topic-name.ts';
import { MAX_NOTE_BYTES } from '../../domain/handoff.ts';
import { parseClientSessionId, parseTopic } from '../../domain/names.ts';
import { splitNote } from '../../domain/note/document.ts';
import { escapeLine } from '../../domain/surfacing.ts';
import { hash } from '../../git/hash.ts';
import { readPlainFile } from '../../host/plain-files.ts';
import {
  type Draft,
  type FoundFile,
  type ImportWorld,
  type Interpreted,
  type SkippedFile,
  skip,
  textOf,
} from './draft.ts';
import { plainDraft } from './interpret.ts';

/** What an INDEX.md says about the files beside it. */
interface Index {
  /** The ids it has for a name. */
  readonly ids: ReadonlyMap<string, string>;
  readonly order: readonly string[];
  readonly wasRead: ReadonlySet<string>;
  readonly skipped: readonly SkippedFile[];
}

/** Reads the structured handoffs of all folders: those that an index names first, in its order. */
export function interpretStructured(files: readonly FoundFile[], world: ImportWorld): Interpreted[] {
  const folders = [...new Set(files.map(({ path }) => dirname(path)))];
  return folders.flatMap((folder) => {
    const here = files.filter(({ path }) => dirname(path) === folder);
    const index = readIndex(folder, here);
    const rank = ({ path }: FoundFile) => {
      const at = index.order.indexOf(basename(path));
      return at < 0 ? index.order.length : at;
    };
    const seen = new Map<string, string>();
    const notes = [...here]
      .sort((a, b) => rank(a) - rank(b))
      .map((file) => interpretOne(file, index, seen, world));
    return [...notes, ...index.skipped.map((skipped) => ({ skipped }))];
  });
}

function readIndex(folder: string, here: readonly FoundFile[]): Index {
  const path = join(folder, 'INDEX.md');
  const read = readPlainFile(path, MAX_NOTE_BYTES);
  const rows = read.kind === 'file' ? parseIndex(textOf(read.bytes)) : [];
  const unread = read.kind === 'refused' ? [skip({ format: 'structured', path }, read.why)] : [];
  const known = new Set(here.map((file) => basename(file.path)));
  const ids = new Map<string, string>();
  const wasRead = new Set<string>();
  const skipped: SkippedFile[] = [...unread];
  for (const row of rows) {
    const name = indexedName(row.file, folder);
    if (name === undefined) {
      skipped.push(
        skip({ format: 'structured', path: row.file }, 'INDEX.md names it, but it leads out of the folder'),
      );
    } else if (known.has(name)) {
      if (row.id !== '' && !ids.has(name)) ids.set(name, row.id);
      if (row.wasRead) wasRead.add(name);
    }
  }
  return { ids, order: [...ids.keys()], wasRead, skipped };
}

function interpretOne(
  file: FoundFile,
  index: Index,
  seen: Map<string, string>,
  world: ImportWorld,
): Interpreted {
  const text = textOf(file.bytes);
  if (text.trim() === '') return { skipped: skip(file, 'it is empty') };
  const note = readStructured(text, (canonical) => hash('sha256', canonical));
  if (note.kind === 'invalid') return { skipped: skip(file, note.why) };
  const name = basename(file.path);
  const wrong = wrongId(note.head, index.ids.get(name));
  if (wrong !== undefined) return { skipped: skip(file, wrong, 'integrity') };
  const twin = seen.get(note.head.computedId);
  if (twin !== undefined) return { skipped: skip(file, `it has the handoff_id of ${escapeLine(twin)}`) };
  seen.set(note.head.computedId, name);
  return { draft: draftOf(file, text, note.head, index.wasRead.has(name), world) };
}

function wrongId(
  { suppliedId, computedId }: StructuredHead,
  indexed: string | undefined,
): string | undefined {
  const told = [suppliedId, indexed].find((id) => id !== undefined && id !== computedId);
  if (told === undefined) return undefined;
  return `handoff_id mismatch: supplied=${escapeLine(told.slice(0, 80))} computed=${computedId}`;
}

function draftOf(
  file: FoundFile,
  text: string,
  head: StructuredHead,
  wasRead: boolean,
  world: ImportWorld,
): Draft {
  const topic = parseTopic(head.topic) ?? topicFrom(slugWords(head.topic), 'structured-note');
  const remarks = [
    topic === head.topic || world.topic !== undefined
      ? ''
      : `its topic ${escapeLine(head.topic.slice(0, 80))} stays in the front matter`,
    wasRead ? 'who has read it (read_by) is not imported' : '',
  ].filter((remark) => remark !== '');
  return {
    ...plainDraft(file, world),
    topic: world.topic ?? topic,
    owner: parseClientSessionId(head.from),
    to: head.to,
    text: splitNote(text).body,
    remark: remarks.length === 0 ? undefined : remarks.join('; '),
  };
}
