import { escapeLine, escapeText } from '../domain/messages.ts';
import { type Change, type FileChange, sameEnds } from './changes.ts';

/** A plan as text: a line for a folder or a file of ours, a diff for any other file. No context lines: they may hold secrets. */
export function describeChanges(changes: readonly Change[]): string {
  return changes.map((change) => describe(change) + '\n').join('');
}

function describe(change: Change): string {
  const path = escapeLine(change.path);
  if (change.kind === 'folder') return `create ${path}/`;
  if (change.kind === 'remove-folder')
    return change.tree ? `remove ${path}/` : `remove ${path}/ if it is empty`;
  if (change.role === 'bookkeeping') return `${verb(change)} ${path}`;
  return diff(change, path);
}

function verb(change: FileChange): string {
  if (change.before === undefined) return 'create';
  return change.after === undefined ? 'remove' : 'change';
}

/** One hunk, from the first line that differs to the last. */
function diff(change: FileChange, path: string): string {
  const before = lines(change.before);
  const after = lines(change.after);
  const { head, tail } = sameEnds(before, after);
  const removed = before.slice(head, before.length - tail);
  const added = after.slice(head, after.length - tail);
  return [
    change.before === undefined ? '--- /dev/null' : `--- ${path}`,
    change.after === undefined ? '+++ /dev/null' : `+++ ${path}`,
    `@@ -${range(head, removed.length)} +${range(head, added.length)} @@`,
    ...removed.map((line) => `-${escapeText(line)}`),
    ...added.map((line) => `+${escapeText(line)}`),
  ].join('\n');
}

function range(head: number, count: number): string {
  return `${count === 0 ? head : head + 1},${count}`;
}

function lines(bytes: Buffer | undefined): string[] {
  const all = (bytes ?? Buffer.alloc(0)).toString('utf8').split('\n');
  if (all.at(-1) === '') all.pop();
  return all;
}
