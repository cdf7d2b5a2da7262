import { basename, dirname, join } from 'node:path';
import { indexedName, parseIndex } from '../../../domain/formats/index-table.ts';
import { MAX_NOTE_BYTES } from '../../../domain/handoff.ts';
import { type Topic, parseClientSessionId, parseTopic } from '../../../domain/names.ts';
import { type FrontMatter } from '../../../domain/note/front-matter.ts';
import { topicSlug } from '../../../domain/note/topic-slug.ts';
import { escapeLine } from '../../../domain/surfacing.ts';
import { readPlainFile } from '../../../host/plain-files.ts';
import { decodeNote } from '../../../notes/front-matter/prepare.ts';
import { readNote } from '../../../notes/front-matter/read.ts';
import {
  type Draft,
  type FoundFile,
  type ImportWorld,
  type Interpreted,
  type UnimportedFile,
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
  readonly skipped: readonly UnimportedFile[];
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
  const skipped: UnimportedFile[] = [...unread];
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
  const text = decodeNote(file.bytes);
  if (text === undefined) return { skipped: skip(file, 'it is not UTF-8') };
  if (text.trim() === '') return { skipped: skip(file, 'it is empty') };
  const read = readNote(text, world.now);
  if (read.kind === 'none') return { skipped: skip(file, 'it has no front matter') };
  if (read.kind === 'foreign') return { skipped: skip(file, 'its front matter is of another kind') };
  if (read.kind === 'invalid') {
    const { message, hint } = read.problem;
    return { skipped: { ...skip(file, message, 'usage'), hint } };
  }
  const { fields, body, id, otherId } = read;
  const name = basename(file.path);
  const wrong = wrongId(id, otherId, index.ids.get(name));
  if (wrong !== undefined) return { skipped: skip(file, wrong, 'integrity') };
  const twin = seen.get(id);
  if (twin !== undefined) return { skipped: skip(file, `it has the handoff_id of ${escapeLine(twin)}`) };
  seen.set(id, name);
  return { draft: draftOf(file, body, fields, index.wasRead.has(name), world) };
}

function wrongId(computed: string, ...told: readonly (string | undefined)[]): string | undefined {
  const other = told.find((id) => id !== undefined && id !== computed);
  if (other === undefined) return undefined;
  return `handoff_id mismatch: supplied=${escapeLine(other.slice(0, 80))} computed=${computed}`;
}

function draftOf(
  file: FoundFile,
  body: string,
  { topic: named, from, to }: FrontMatter,
  wasRead: boolean,
  world: ImportWorld,
): Draft {
  const topic = topicOf(named);
  const remarks = [
    topic === named || world.topic !== undefined ? '' : `its topic ${named} stays in the front matter`,
    wasRead ? 'who has read it (read_by) is not imported' : '',
  ].filter((remark) => remark !== '');
  return {
    ...plainDraft(file, world),
    topic: world.topic ?? topic,
    owner: parseClientSessionId(from),
    from,
    to,
    text: body,
    remark: remarks.length === 0 ? undefined : remarks.join('; '),
  };
}

/** One under which a note with this front matter may be written again. */
function topicOf(named: string): Topic {
  const slug = topicSlug(named);
  return parseTopic(named) ?? parseTopic(slug) ?? parseTopic(`${slug}-work`) ?? ('structured-note' as Topic);
}
