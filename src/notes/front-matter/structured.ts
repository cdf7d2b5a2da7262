import { escapeLine, Failure, timestamp } from '../../domain/messages.ts';
import {
  type FrontMatterProblem,
  SCHEMA_VERSION,
  checkFrontMatter,
  isAllowed,
  formatFrontMatter,
  type FrontMatter,
} from '../../domain/note/front-matter.ts';
import { type Address, type NoteScene, type PreparedNote, isAddressed } from '../../domain/note/sections.ts';
import { isTopicOf } from '../../domain/note/topic-slug.ts';
import { ANYONE } from '../../domain/operators.ts';
import { noteId, readNote } from './read.ts';

/**
 * Returns a note with front matter of our kind: checks what the note has, or adds what the options say. `undefined` if the
 * note has no front matter and gets none. A note that has some keeps its bytes.
 */
export function structuredNote(
  text: string,
  address: Address,
  scene: NoteScene,
): Pick<PreparedNote, 'note' | 'to' | 'from'> | undefined {
  const read = readNote(text, scene.now);
  if (read.kind === 'none') return composed(text, address, scene);
  if (read.kind === 'foreign') {
    if (!isAddressed(address)) return undefined;
    throw new Failure(
      'usage',
      'the note begins with front matter of another kind, which cannot be addressed',
      {
        hint: 'put an empty line before its first line, then it is text; or leave --to, --tag and --reference out',
      },
    );
  }
  if (read.kind === 'invalid') throw invalid(read.problem);
  const { fields } = read;
  checkTopic(fields, scene.topic);
  checkSame(fields, address);
  if (read.otherId !== undefined) throw wrongId(read.otherId, read.id);
  return { note: Buffer.from(text), to: fields.to, from: fields.from };
}

/** Front matter for a note that has none. It has no id, because an editor shows it before there is a text. */
function addressedFields(address: Address, scene: NoteScene): FrontMatter {
  const { from, now, topic } = scene;
  if (!isAllowed('from', from)) {
    throw new Failure('usage', `front matter cannot say that the note is from ${escapeLine(from)}`, {
      hint: 'git config handoff.operator alice',
    });
  }
  if (!isAllowed('topic', topic)) {
    throw new Failure('usage', `front matter cannot hold a topic of ${topic.length} characters, at most 80`, {
      hint: 'leave --to, --tag and --reference out',
    });
  }
  const { references, tags, to = ANYONE } = address;
  const fields = {
    schema_version: SCHEMA_VERSION,
    from,
    to,
    topic,
    ts_utc: timestamp(now),
    references,
    tags,
  };
  const problem = checkFrontMatter(fields, now);
  if (problem !== undefined) throw invalid(problem);
  return fields;
}

/** Front matter as an editor shows it, for the author to change. */
export function addressedHead(address: Address, scene: NoteScene): string {
  return formatFrontMatter(addressedFields(address, scene));
}

function composed(body: string, address: Address, scene: NoteScene) {
  const fields = addressedFields(address, scene);
  const head = formatFrontMatter({ ...fields, handoff_id: noteId(fields, body) });
  return { note: Buffer.from(`${head}\n${body}`), to: fields.to, from: fields.from };
}

function invalid({ message, hint }: FrontMatterProblem): Failure {
  return new Failure('usage', message, { hint });
}

function checkTopic(fields: FrontMatter, topic: string): void {
  if (isTopicOf(fields.topic, topic)) return;
  const message = `front matter: topic is ${fields.topic}, but the note is written to ${topic}`;
  throw new Failure('usage', message, { hint: `topic: '${topic}'` });
}

/** Checks that the options only repeat the note's front matter. */
function checkSame(fields: FrontMatter, { to, tags, references }: Address): void {
  const options = [
    ['--to', 'to', to === undefined ? [] : [to], [fields.to]],
    ['--tag', 'tags', tags, fields.tags],
    ['--reference', 'references', references, fields.references],
  ] as const;
  const other = options.find(
    ([, , given, stated]) => given.length > 0 && JSON.stringify(given) !== JSON.stringify(stated),
  );
  if (other === undefined) return;
  const [option, key, , stated] = other;
  const shown = stated.length === 0 ? 'nothing' : escapeLine(stated.join(', ')).slice(0, 200);
  const message = `${option} contradicts the note's front matter, where ${key} is ${shown}`;
  throw new Failure('usage', message, { hint: `leave ${option} out, or change the note's front matter` });
}

function wrongId(supplied: string, computed: string): Failure {
  const message = `front matter: handoff_id is ${supplied}, but the note's is ${computed}`;
  return new Failure('integrity', message, { hint: `leave that line out, or: handoff_id: '${computed}'` });
}
