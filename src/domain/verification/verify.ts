import type { AutomaticReason } from '../handoff.ts';
import { ownerName, peerName } from '../names.ts';
import { escapeLine, cutToBytes } from '../surfacing.ts';
import {
  type SiblingFact,
  type TriedFact,
  type VerificationFacts,
  type FileFact,
  type HeadRelation,
  type BranchPlace,
  type NoteFinding,
  finding,
  type FindingCode,
} from './facts.ts';

/** A note, checked against the repository. */
interface Verification {
  /** Whether somebody must check it before following it: exit status 1. */
  readonly stale: boolean;
  readonly findings: readonly NoteFinding[];
}

/** Checks a note against what is known of its repository. Total: every combination of facts has an answer. */
export function verify(facts: VerificationFacts): Verification {
  const findings = [
    ...noteFindings(facts),
    ...branchFindings(facts),
    headFinding(facts.head, facts.branch),
    ...fileFindings(facts.files, facts.filesLeft),
    ...treeFindings(facts),
    ...triedFindings(facts.tried),
    ...siblingFindings(facts),
  ];
  return { stale: findings.some(({ verdict }) => verdict === 'stale'), findings };
}

const LEFT: Readonly<Record<AutomaticReason, string>> = {
  compaction: 'before its session lost the beginning of its context',
  'session-end': 'when its session ended',
  death: 'after its session died',
};

function noteFindings({ closed, automatic, movedByHand }: VerificationFacts): NoteFinding[] {
  return [
    ...(closed ? [finding('note-closed', 'the note is closed: its owner marked the work as done')] : []),
    ...(automatic === undefined
      ? []
      : [finding('note-automatic', `no session wrote this note: git-handoff left it ${LEFT[automatic]}`)]),
    ...(movedByHand === undefined
      ? []
      : [
          finding(
            'note-moved',
            `its ref was moved by hand (${escapeLine(movedByHand)}): this is the last accepted version`,
          ),
        ]),
  ];
}

function siblingFindings(facts: VerificationFacts): NoteFinding[] {
  const { liveOwner, siblings } = facts;
  const live =
    liveOwner === undefined
      ? []
      : [
          finding(
            'owner-live',
            `its owner, ${peerName(liveOwner, facts)}, is at work now and may be doing this`,
            liveOwner,
          ),
        ];
  return [...live, ...siblings.flatMap(siblingFinding)];
}

/** Judges another open note. An older note about other work does not matter; an automatic note replaces no written one. */
function siblingFinding(sibling: SiblingFact): NoteFinding[] {
  const { name, owner, client, personName, newer, overlaps, automatic } = sibling;
  const which = `${escapeLine(name)} of ${ownerName(owner, { client, name: personName })}`;
  if (newer && overlaps && !automatic)
    return [finding('sibling-replaces', `${which} is newer and looks like the same work`, name)];
  if (newer) return [finding('sibling-newer', `${which} is newer`, name)];
  if (overlaps) return [finding('sibling-overlap', `${which} is older and looks like the same work`, name)];
  return [];
}

/** Says which of the tried commands prove something about the tree that is here. */
function triedFindings(tried: readonly TriedFact[]): NoteFinding[] {
  if (tried.length === 0) return [finding('tests-none', 'not proven: the session of the note tried nothing')];
  return tried.map(({ command, status, isHere }) => {
    const name = cutToBytes(escapeLine(command), MAX_SHOWN);
    const how = status === 0 ? 'passed' : `failed (${status})`;
    if (!isHere) return finding('tests-outdated', `outdated: ${name} ${how} on another tree`);
    return status === 0
      ? finding('tests-proven', `proven on this tree: ${name}`)
      : finding('tests-failed', `${name} ${how} on this tree`);
  });
}

/** Compares the working tree now with the number of uncommitted paths that was recorded. */
function treeFindings(facts: Pick<VerificationFacts, 'tree' | 'clients'>): NoteFinding[] {
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
  if (now === then)
    return ['tree-as-then', `${paths(now)} uncommitted, as many as when the note was written`];
  const was = `${then === 0 ? 'none' : then} when the note was written`;
  if (now > then) return ['tree-more', `${paths(now)} uncommitted; ${was}`];
  const is = now === 0 ? 'the working tree is clean' : `${paths(now)} uncommitted`;
  return ['tree-fewer', `${is}; ${paths(then)} uncommitted when the note was written`];
}

const paths = (count: number) => `${count} ${count === 1 ? 'path' : 'paths'}`;

/** How much of a note's path is shown. Bytes. */
const MAX_SHOWN = 200;

/** Says what became of the files that the note calls important. */
function fileFindings(files: readonly FileFact[], left: number): NoteFinding[] {
  const more = left === 0 ? [] : [finding('files-left', `${left} more important files were not checked`)];
  return [...files.map(fileFinding), ...more];
}

function fileFinding({ path, state }: FileFact): NoteFinding {
  const name = shown(path);
  switch (state.kind) {
    case 'present':
      return finding('file-present', `${name} is as it was`, path);
    case 'changed': {
      const how = [
        ...(state.committed ? ['by commits'] : []),
        ...(state.uncommitted ? ['not committed'] : []),
      ];
      return finding('file-changed', `${name} has changed (${how.join(', ')})`, path);
    }
    case 'moved':
      return finding('file-moved', `${name} is ${shown(state.to)} now`, path);
    case 'missing':
      return finding(
        'file-missing',
        state.known ? `${name} is gone` : `${name} is not here, and not in the note's base`,
        path,
      );
    case 'uncompared':
      return finding('file-uncompared', `${name} is here; it is unknown whether it has changed`, path);
    case 'unsafe':
      return finding('file-unsafe', `${name} is not a path inside the repository: not checked`, path);
  }
}

const shown = (path: string) => cutToBytes(escapeLine(path), MAX_SHOWN);

/** Says how the branch's tip relates to the commit that the note is about. */
function headFinding(relation: HeadRelation, branch: string): NoteFinding {
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
      return relation.sameTree
        ? finding('head-reworded', `${name} was rewritten and holds the same files as the note's base`)
        : finding(
            'head-diverged',
            `${name} was rewritten: it lacks ${commits(relation.theirs)} of the note's base and has ${relation.ours} that the base lacks`,
          );
    case 'base-missing':
      return finding('base-missing', "the note's base is not in this repository");
    case 'base-shallow':
      return finding(
        'base-shallow',
        `this clone is shallow: how ${name} relates to the note's base is unknown`,
      );
    case 'none':
      return finding('head-none', "there is no branch to compare the note's base with");
  }
}

const commits = (count: number) => `${count} ${count === 1 ? 'commit' : 'commits'}`;

/** Says where the note's branch is, and whether its work is done. */
function branchFindings({ branch, place, merged }: VerificationFacts): NoteFinding[] {
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
      return finding('branch-deleted', `${name} is deleted`);
  }
}

function renamedText(name: string, { to, current }: { to: string; current: string }): string {
  const now = to === current ? 'which is checked out' : `and ${checkedOut(current)}`;
  return `${name} was renamed to ${escapeLine(to)}, ${now}`;
}

function checkedOut(current: string): string {
  return current === 'HEAD' ? 'HEAD is detached' : `${escapeLine(current)} is checked out`;
}
