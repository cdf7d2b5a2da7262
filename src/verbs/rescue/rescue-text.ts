import type { RescueListValue, RescueShowValue, RescuedText } from './rescues.ts';
import type { RestoreValue } from './restore.ts';
import type { SearchValue } from './search.ts';
import type { FoundShape, RescueShape } from '../shapes.ts';
import { ago, counted, escapeLine, escapeText, shellWord } from '../../domain/messages.ts';
import { peerName } from '../../domain/names.ts';
import { type Rendered, type TextContext, columns } from '../../ui/terminal.ts';

const MAX_NAMES = 4;

type Clients = ReadonlyMap<string, string>;

/** Prints one line for each rescue, newest first, and what to type next. */
export function renderRescues({ items }: RescueListValue, { now, clients }: TextContext): Rendered {
  const [newest] = items;
  if (newest === undefined) return 'nothing to bring back\n';
  const rows = items.map((item) => [
    String(item.number),
    ago(Date.parse(item.at), now),
    occasion(item, clients),
    item.worktree === null ? '-' : escapeLine(item.worktree),
    contents(item),
  ]);
  return `${columns(rows)}\nTo look: git handoff rescue show ${newest.number}\nTo bring back: git handoff rescue restore ${newest.number}\n`;
}

function occasion({ kind, reason, session, stashIndex }: RescueShape, clients?: Clients): string {
  const who = session === null ? '' : ` (${peerName(session, { clients })})`;
  switch (kind) {
    case 'before':
    case 'undone':
      return `before ${escapeLine(reason)}${who}`;
    case 'seen':
      return reason === '' ? 'gone without a tool call' : `gone after ${escapeLine(reason)}${who}`;
    case 'stop':
      return `at the end of a turn${who}`;
    case 'stash':
      return `${stashIndex === null ? 'dropped stash' : `stash@{${stashIndex}}`} ${escapeLine(reason)}${who}`;
  }
}

function contents({ files, skipped }: RescueShape): string {
  const names = files.slice(0, MAX_NAMES).map(({ path }) => shellWord(path));
  const more = files.length > MAX_NAMES ? ` and ${files.length - MAX_NAMES} more` : '';
  const left = skipped.length === 0 ? '' : ` (${skipped.length} not saved)`;
  return names.join(' ') + more + left;
}

/** Prints each file under a heading: a text as it is, and for other files the command that prints their bytes. */
export function renderRescued({ rescue, items }: RescueShowValue, { now, clients }: TextContext): Rendered {
  const head = `rescue ${rescue.number}: ${occasion(rescue, clients)}, ${ago(Date.parse(rescue.at), now)}\n`;
  const files = new Map(rescue.files.map((file) => [file.path, file]));
  const blocks = items.map((item) => {
    const file = files.get(item.path);
    const owner = file?.owner ?? null;
    const whose = owner === null ? '' : `, ${peerName(owner, { clients })}`;
    return `\n== ${escapeLine(item.path)} (${file?.bytes ?? 0} bytes${whose})\n${textOf(item, rescue.number)}`;
  });
  const staged = items.flatMap(({ path, staged: oid }) =>
    oid === undefined ? [] : [`\n== ${escapeLine(path)}: the staged text differs: git show ${oid}\n`],
  );
  const lost = rescue.skipped.map(({ path, why }) => `\n== ${escapeLine(path)}: not saved (${why})\n`);
  return head + blocks.join('') + staged.join('') + lost.join('');
}

function textOf(item: RescuedText, number: number): string {
  const isText = 'note' in item && !item.note.includes('\0');
  if (!isText)
    return `(not text; its bytes: git handoff rescue show --raw ${number} -- ${shellWord(item.path)})\n`;
  const text = escapeText(item.note);
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** Says which files were written, and where their former content is kept. */
export function renderRestored({ number, oid, saved, items }: RestoreValue): Rendered {
  const lines = items.map(({ path, written, removed }) => {
    const [done, already] = removed ? ['is removed again', 'was gone'] : ['is back', 'was there'];
    return `${escapeLine(path)} ${written ? done : `${already} already`}\n`;
  });
  const kept = saved === null ? '' : `What was there is kept: git handoff rescue restore --force ${saved}\n`;
  return `${lines.join('')}(from ${number === null ? nameOf(oid) : `rescue ${number}`})\n${kept}`;
}

const MOST_FOUND = 20;
/** An object name, abbreviated as `rescue restore` accepts it. */
const nameOf = (oid: string) => oid.slice(0, 12);

/** Prints one line for each content, the likeliest first, and what to type next. */
export function renderFound({ path, typed, items, mayBeKept }: SearchValue, { now }: TextContext): Rendered {
  const kept = mayBeKept ? `What git-handoff has kept: git handoff rescue list -- ${shellWord(typed)}\n` : '';
  const [first] = items;
  if (first === undefined) return `git has no lost content of ${escapeLine(typed)}\n${kept}`;
  const isFolder = items.some((one) => one.path !== path);
  const rows = items
    .slice(0, MOST_FOUND)
    .map((item) => [
      nameOf(item.which),
      item.at === null ? '-' : ago(Date.parse(item.at), now),
      ...(isFolder ? [escapeLine(item.path)] : []),
      origin(item),
    ]);
  const more = items.length - MOST_FOUND;
  const left = more > 0 ? `and ${more} more: git handoff rescue search --json -- ${shellWord(typed)}\n` : '';
  const words = shellWord(isFolder ? `:/${first.path}` : typed);
  const which = nameOf(first.which);
  const found = `${counted(items.length, 'lost content')} of ${escapeLine(typed)}, the likeliest first:\n`;
  return `${found}${columns(rows)}\n${left}To look: git show ${nameOf(first.blob)}
To bring back: git handoff rescue restore ${which} -- ${words}\n${kept}`;
}

/** Says where a content was found, as far as git records that. */
function origin({ kind, subject, like, path, begins }: FoundShape): string {
  const message = escapeLine(JSON.stringify(subject));
  switch (kind) {
    case 'commit':
      return `commit ${message}, which no branch has`;
    case 'stash':
      return `dropped stash ${message}`;
    case 'index':
      return `staged in the dropped stash ${message}`;
    case 'untracked':
      return `untracked in the dropped stash ${message}`;
    case 'snapshot':
      return `former snapshot of git-handoff: ${message}`;
    case 'tree':
      return 'staged about then, and in a tree that no commit has';
    case 'blob':
      return `staged about then, its name is not recorded; ${
        like === null
          ? `there is no version of ${escapeLine(path)} to compare it with. It begins: ${escapeLine(begins ?? '')}`
          : `${like.percent} % like ${like.what} ${escapeLine(path)}`
      }`;
  }
}
