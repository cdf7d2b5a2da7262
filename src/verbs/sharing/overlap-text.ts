import { ownerName } from '../../domain/owner-name.ts';
import { escapeLine, shellWord } from '../../domain/surfacing.ts';
import { type Paint, type Rendered, type TextContext, columns, counted } from '../../ui/terminal.ts';
import type { OverlapKind, OverlapShape, OverlapSideShape } from '../shapes.ts';
import { type OverlapValue, stopsMerge } from './overlap.ts';

/** Prints each pair with the paths that overlap. */
export function renderOverlap({ items, compared, others }: OverlapValue, { paint }: TextContext): Rendered {
  if (items.length > 0) return items.map((item) => renderItem(item, paint)).join('\n');
  const facts = [
    ...(compared === 0 ? [] : [`compared ${compared} worktrees and branches`]),
    ...(others === 0 ? [] : [`${counted(others, 'other session')} at work, and no file is changed by two`]),
  ];
  return facts.length === 0
    ? 'nobody else is at work in this repository, and there is no branch to merge into\n'
    : `no overlap: ${facts.join('; ')}\n`;
}

const TITLES: Readonly<Record<OverlapKind, string>> = {
  conflict: 'conflict',
  deleted: 'gone',
  'not-judged': 'not judged',
  'same-tree': 'same tree',
  'same-file': 'same file',
};

function renderItem({ sides, paths, unknown }: OverlapShape, paint: Paint): string {
  const heads = columns(sides.map((side) => [whoOf(side), whereOf(side)]));
  if (unknown !== null) return `${heads}  not known: ${unknown}\n`;
  const rows = paths.map(({ path, kind, deletedBy }) => [
    `  ${stopsMerge(kind) ? paint.bad(TITLES[kind]) : TITLES[kind]}`,
    shellWord(path),
    remark(kind, deletedBy === null ? undefined : sides[deletedBy]),
  ]);
  return heads + columns(rows);
}

function remark(kind: OverlapKind, deletedBy: OverlapSideShape | undefined): string {
  if (deletedBy !== undefined) return `deleted or moved by ${whoOf(deletedBy)}`;
  if (kind === 'not-judged') return 'too large, or a merge driver merges it';
  return kind === 'same-file' ? 'merges cleanly' : '';
}

function whoOf({ sessions, branch, worktree }: OverlapSideShape): string {
  const names = sessions.map(({ client, session }) => ownerName(session, { client }));
  if (names.length > 0) return names.join(' and ');
  return worktree === null ? escapeLine(branch ?? '') : 'no session';
}

function whereOf({ branch, worktree }: OverlapSideShape): string {
  if (worktree === null) return 'as committed';
  return escapeLine(`${branch ?? 'detached HEAD'}  ${worktree}`);
}
