import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { Failure } from '../domain/messages.ts';
import { runGit } from '../git/run.ts';

/** Everything from this line on is dropped. `#` cannot mark comments, because Markdown headings begin with it. */
const SCISSORS = '<!-- git-handoff: this line and everything below it is not part of the note -->';

/** The note to edit; `head` is the front matter that it begins with, or empty. */
interface EditedTarget {
  readonly branch: string;
  readonly topic: string;
  readonly head: string;
}

const HEADINGS = [
  'Goal',
  'Current State',
  'Completed',
  'Pending',
  'Important Files',
  'Commands Run',
  'Known Issues',
  'Decisions',
  'Next Action',
  'Stop Conditions',
];

function noteTemplate(target: EditedTarget): string {
  const head = target.head === '' ? '' : `${target.head}\n`;
  return [
    `${head}${HEADINGS.map((heading) => `# ${heading}\n\n`).join('\n')}`,
    SCISSORS,
    '',
    `The note for ${target.branch}/${target.topic}. Save and close to write it;`,
    'leave the template as it is (or an empty file) to write nothing.',
    '',
  ].join('\n');
}

/** Returns the edited note; `undefined` if it is empty or still the template. */
function noteFromTemplate(edited: string, template: string): string | undefined {
  const body = (text: string) => {
    const end = text.indexOf(SCISSORS);
    return (end < 0 ? text : text.slice(0, end)).trimEnd();
  };
  return body(edited) === body(template) || body(edited) === '' ? undefined : `${body(edited)}\n`;
}

/**
 * Opens the user's editor (git-var(1), `GIT_EDITOR`) on the template and returns the note.
 *
 * @throws Failure `usage` if nothing was written; `environment` if there is no editor, or if it fails (a file keeps the text)
 */
export async function editNote(cwd: string, target: EditedTarget): Promise<Uint8Array> {
  const named = await runGit(['var', 'GIT_EDITOR'], { cwd });
  if (named.code !== 0) {
    throw new Failure('environment', 'git knows no editor that works in this terminal', {
      hint: 'git config core.editor <editor>',
    });
  }
  const editor = named.stdout.toString('utf8').replace(/\n$/, '');
  const folder = mkdtempSync(join(tmpdir(), 'git-handoff-edit-'));
  const file = join(folder, 'HANDOFF_EDITMSG.md');
  const template = noteTemplate(target);
  writeFileSync(file, template, { mode: 0o600 });
  // The setting is a shell snippet, and this is how git runs it (git-var(1)).
  const result = await execa('sh', ['-c', `${editor} "$@"`, editor, file], {
    cwd,
    stdio: 'inherit',
    reject: false,
  });
  if (result.exitCode !== 0) {
    throw new Failure('environment', `the editor failed (${editor}); your text is kept in ${file}`, {
      hint: 'git config core.editor <editor>',
    });
  }
  const note = noteFromTemplate(readFileSync(file, 'utf8'), template);
  rmSync(folder, { recursive: true, force: true });
  if (note === undefined) throw new Failure('usage', 'the note is empty; nothing was written');
  return Buffer.from(note);
}
