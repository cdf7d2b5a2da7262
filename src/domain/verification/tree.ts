import { peerName } from '../owner-name.ts';
import { escapeLine } from '../surfacing.ts';
import type { VerificationFacts } from './facts.ts';
import { type NoteFinding, type FindingCode, finding } from './rules.ts';

/** The working tree now against the number of uncommitted paths that was recorded. */
export function treeFindings(facts: Pick<VerificationFacts, 'tree' | 'clients'>): NoteFinding[] {
  const { tree } = facts;
  if (tree.kind === 'none') return [finding('tree-none', 'this repository is bare: it has no working tree')];
  if (tree.kind === 'elsewhere') {
    const where = tree.worktree === null ? '' : ` (${escapeLine(tree.worktree)})`;
    return [finding('tree-elsewhere', `the note is about another working tree or branch${where}`)];
  }
  const { now, then, others, operation } = tree;
  const unfinished = operation === undefined ? [] : [operation];
  return [
    finding(...countOf(now, then)),
    ...unfinished.map((name) => finding('tree-operation', `an unfinished ${name} is in the way`)),
    ...others.map(({ session, paths: count }) =>
      finding(
        'tree-others',
        `${paths(count)} ${count === 1 ? 'is' : 'are'} uncommitted work of ${peerName(session, facts)}, which is live`,
        session,
      ),
    ),
  ];
}

function countOf(now: number, then: number): [FindingCode, string] {
  if (now === 0 && then === 0) return ['tree-clean', 'the working tree is clean, as it was'];
  if (now === then) return ['tree-as-then', `${paths(now)} uncommitted, as many as then`];
  const was = then === 0 ? 'none' : String(then);
  if (now > then) return ['tree-more', `${paths(now)} uncommitted; when the note was written ${was}`];
  const is = now === 0 ? 'the working tree is clean' : `${paths(now)} uncommitted`;
  return ['tree-fewer', `${is}; when the note was written ${paths(then)} uncommitted`];
}

const paths = (count: number) => `${count} ${count === 1 ? 'path' : 'paths'}`;
