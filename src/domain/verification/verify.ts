import type { AutomaticReason } from '../handoff.ts';
import { ownerName, peerName } from '../owner-name.ts';
import { escapeLine } from '../surfacing.ts';
import { branchFindings } from './branch.ts';
import type { SiblingFact, VerificationFacts } from './facts.ts';
import { fileFindings } from './files.ts';
import { headFinding } from './head.ts';
import { type NoteFinding, finding } from './rules.ts';
import { treeFindings } from './tree.ts';

/** A note, checked against the repository. */
interface Verification {
  /** Not to be followed before somebody has looked: exit status 1. */
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

/** An older note of other work says nothing; one that nobody wrote does not replace one that somebody did. */
function siblingFinding(sibling: SiblingFact): NoteFinding[] {
  const { name, owner, client, personName, newer, overlaps, automatic } = sibling;
  const which = `${escapeLine(name)} of ${ownerName(owner, { client, name: personName })}`;
  if (newer && overlaps && !automatic)
    return [finding('sibling-replaces', `${which} is newer and looks like the same work`, name)];
  if (newer) return [finding('sibling-newer', `${which} is newer`, name)];
  if (overlaps) return [finding('sibling-overlap', `${which} is older and looks like the same work`, name)];
  return [];
}
