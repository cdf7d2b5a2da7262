import { escapeLine } from '../surfacing.ts';
import type { HeadRelation } from './facts.ts';
import { type NoteFinding, finding } from './rules.ts';

/** How the branch's tip follows from the commit that the note is about. */
export function headFinding(relation: HeadRelation, branch: string): NoteFinding {
  const name = branch === 'HEAD' ? 'HEAD' : escapeLine(branch);
  switch (relation.kind) {
    case 'equal':
      return finding('head-equal', `${name} is at the note's base`);
    case 'unborn':
      return finding(
        'head-unborn',
        'there was no commit when the note was written, and there still is no commit',
      );
    case 'ahead':
      return finding('head-ahead', `${name} has ${commits(relation.by)} more than the note's base`);
    case 'first':
      return finding('head-first', `${name} had no commit when the note was written; it has some now`);
    case 'behind':
      return finding('head-behind', `${name} lacks ${commits(relation.by)} that the note builds on`);
    case 'diverged':
      return divergedFinding(name, relation);
    case 'base-missing':
      return finding('base-missing', "the note's base is not in this repository");
    case 'base-lost':
      return finding('base-lost', `the note's base was in this repository and is gone: ${name} has lost it`);
    case 'base-shallow':
      return finding('base-shallow', "this clone is shallow: it is unknown how the note's base relates");
    case 'none':
      return finding('head-none', "there is no branch to compare the note's base with");
  }
}

type Diverged = Extract<HeadRelation, { kind: 'diverged' }>;

function divergedFinding(name: string, { ours, theirs, found, sameTree }: Diverged): NoteFinding {
  if (sameTree)
    return finding('head-reworded', `${name} was rewritten and holds the same files as the note's base`);
  const rewritten = `${name} was rewritten: it lacks ${commits(theirs)} of the note's base`;
  if (found === undefined)
    return finding('head-diverged', `${rewritten} and has ${ours} that the base has not`);
  if (found >= theirs) {
    return finding('head-rebased', `${rewritten} and has the same ${changes(theirs)} under other names`);
  }
  if (found > 0) {
    const share = `${found} of their changes ${found === 1 ? 'is' : 'are'}`;
    return finding('head-partly', `${rewritten}; ${share} there under other names, ${theirs - found} not`);
  }
  return finding('head-replaced', `${rewritten}, and their changes are not found again`);
}

const commits = (count: number) => `${count} ${count === 1 ? 'commit' : 'commits'}`;
const changes = (count: number) => (count === 1 ? 'change' : 'changes');
