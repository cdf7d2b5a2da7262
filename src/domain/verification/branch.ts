import { escapeLine } from '../surfacing.ts';
import type { BranchPlace, VerificationFacts } from './facts.ts';
import { type NoteFinding, finding } from './rules.ts';

/** Where the note's branch is, and whether its work is done. */
export function branchFindings({ branch, place, merged }: VerificationFacts): NoteFinding[] {
  const name = escapeLine(branch);
  const where = placeFinding(name, place);
  if (merged === undefined) return [where];
  const into = escapeLine(merged.into);
  const done = merged.squashed
    ? finding('branch-squashed', `${into} has the changes of ${name} as one commit`)
    : finding('branch-merged', `${name} is merged into ${into}`);
  return [where, done];
}

function placeFinding(name: string, place: BranchPlace): NoteFinding {
  switch (place.kind) {
    case 'here':
      return finding('branch-here', `${name} is checked out`);
    case 'unborn':
      return finding('branch-unborn', `${name} is checked out and has no commit yet`);
    case 'detached-still':
      return finding('detached-still', 'HEAD is detached, as it was when the note was written');
    case 'detached-then':
      return finding(
        'detached-then',
        `the note was written on a detached HEAD; ${checkedOut(place.current)} now`,
      );
    case 'elsewhere': {
      const other = place.worktree === undefined ? '' : `; ${name} is in ${escapeLine(place.worktree)}`;
      return finding('branch-elsewhere', `${checkedOut(place.current)}, not ${name}${other}`);
    }
    case 'renamed':
      return finding('branch-renamed', renamedText(name, place));
    case 'remote':
      return finding(
        'branch-remote',
        `${name} is not here, only ${escapeLine(place.remote)}, as last fetched`,
      );
    case 'absent':
      return finding(
        'branch-absent',
        `${name} is not here, and may never have been: another person wrote the note`,
      );
    case 'deleted':
      return finding('branch-deleted', `${name} is deleted${fateText(place.baseIn)}`);
  }
}

function renamedText(name: string, { to, current }: { to: string; current: string }): string {
  const now = to === current ? 'which is checked out' : `and ${checkedOut(current)}`;
  return `${name} was renamed to ${escapeLine(to)}, ${now}`;
}

function checkedOut(current: string): string {
  return current === 'HEAD' ? 'HEAD is detached' : `${escapeLine(current)} is checked out`;
}

function fateText(baseIn: string | null | undefined): string {
  if (baseIn === undefined) return '';
  return baseIn === null
    ? "; the default branch does not have the note's base"
    : `; ${escapeLine(baseIn)} has the note's base`;
}
