import { type WithClients, peerName } from '../names.ts';
import { counted, cutToBytes, escapeLine } from '../messages.ts';
import type { Tried } from '../tried.ts';

/** What a note is checked against. */
type Axis = 'note' | 'branch' | 'head' | 'files' | 'tree' | 'tests' | 'siblings';

/**
 * `ok`: as the note says · `changed`: the repository has moved on, but the note is still good to continue from · `stale`:
 * check the note before you follow it · `unknown`: we cannot tell.
 */
export type NoteVerdict = 'ok' | 'changed' | 'stale' | 'unknown';

/**
 * What each situation means for a note, and the sentence that says so. One `stale` finding makes the note stale. Commits on
 * top of the note's base do not make it stale, because the note's own session commits after writing it. The manual shows this
 * table (STALE NOTES) without the sentences.
 */
export const RULES = {
  'note-closed': ['note', 'stale', 'the note is closed: its owner marked the work as done'],
  'note-automatic': ['note', 'changed', 'no session wrote this note: git-handoff left it {when}'],
  'note-moved': ['note', 'changed', 'its ref was moved by hand ({why}): this is the last accepted version'],

  'branch-here': ['branch', 'ok', '{branch} is checked out'],
  'branch-unborn': ['branch', 'ok', '{branch} is checked out and has no commit yet'],
  'detached-still': ['branch', 'ok', 'HEAD is detached, as it was when the note was written'],
  'branch-elsewhere': ['branch', 'changed', '{now}, not {branch}{where}'],
  'branch-renamed': ['branch', 'changed', '{branch} was renamed to {to}, {now}'],
  'branch-remote': ['branch', 'changed', '{branch} is not here; {remote} was there at the last fetch'],
  'detached-then': ['branch', 'changed', 'the note was written on a detached HEAD; {now} now'],
  'branch-merged': ['branch', 'stale', '{branch} is merged into {into}'],
  'branch-squashed': ['branch', 'stale', '{into} has the changes of {branch} as one commit'],
  'branch-absent': [
    'branch',
    'unknown',
    '{branch} is not here, and may never have been: another person wrote the note',
  ],
  'branch-deleted': ['branch', 'stale', '{branch} is deleted'],

  'head-equal': ['head', 'ok', "{branch} is at the note's base"],
  'head-unborn': [
    'head',
    'ok',
    'there was no commit when the note was written, and there still is no commit',
  ],
  'head-ahead': ['head', 'changed', "{branch} has {commits} more than the note's base"],
  'head-first': ['head', 'changed', '{branch} had no commit when the note was written; it has some now'],
  'head-reworded': ['head', 'changed', "{branch} was rewritten and holds the same files as the note's base"],
  'head-behind': ['head', 'stale', '{branch} lacks {commits} that the note builds on'],
  'head-diverged': [
    'head',
    'stale',
    "{branch} was rewritten: it lacks {commits} of the note's base and has {more} that the base lacks",
  ],
  'head-none': ['head', 'unknown', "there is no branch to compare the note's base with"],
  'base-missing': ['head', 'unknown', "the note's base is not in this repository"],
  'base-shallow': [
    'head',
    'unknown',
    "this clone is shallow: how {branch} relates to the note's base is unknown",
  ],

  'file-present': ['files', 'ok', '{path} is as it was'],
  'file-changed': ['files', 'changed', '{path} has changed ({how})'],
  'file-moved': ['files', 'changed', '{path} was moved to {to}'],
  'file-missing': ['files', 'stale', '{path} is {gone}'],
  'file-uncompared': ['files', 'unknown', '{path} is here; it is unknown whether it has changed'],
  'file-unsafe': ['files', 'unknown', '{path} is not a path inside the repository: not checked'],
  'files-left': ['files', 'unknown', '{count} further important files were not checked'],

  'tree-clean': ['tree', 'ok', 'the working tree is clean, as it was'],
  'tree-as-then': ['tree', 'ok', '{now} uncommitted, as many as when the note was written'],
  'tree-more': ['tree', 'changed', '{now} uncommitted; {then} when the note was written'],
  'tree-fewer': ['tree', 'changed', '{now}; {then} uncommitted when the note was written'],
  'tree-others': ['tree', 'changed', '{paths} uncommitted work of {who}, which is live'],
  'tree-operation': ['tree', 'changed', 'an unfinished {operation} is in the way'],
  'tree-elsewhere': ['tree', 'unknown', 'the note is about another working tree or branch{where}'],
  'tree-none': ['tree', 'unknown', 'this repository is bare: it has no working tree'],

  'tests-proven': ['tests', 'ok', 'proven on this tree: {command}'],
  'tests-failed': ['tests', 'changed', '{command} {how} on this tree'],
  'tests-outdated': ['tests', 'changed', 'outdated: {command} {how} on another tree'],
  'tests-none': ['tests', 'unknown', 'not proven: the session of the note tried nothing'],

  'owner-live': ['siblings', 'changed', 'its owner, {who}, is at work now and may be doing this'],
  'sibling-newer': ['siblings', 'changed', '{name} of {who} is newer'],
  'sibling-overlap': ['siblings', 'changed', '{name} of {who} is older and looks like the same work'],
  'sibling-replaces': ['siblings', 'stale', '{name} of {who} is newer and looks like the same work'],
} as const satisfies Readonly<Record<string, readonly [Axis, NoteVerdict, string]>>;

export type FindingCode = keyof typeof RULES;
type CodeOf<On extends Axis> = {
  [Code in FindingCode]: (typeof RULES)[Code][0] extends On ? Code : never;
}[FindingCode];

type NamesIn<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** A situation, with a value for each name in its sentence, except the `Known` names. Only some sentences have `branch`. */
export type Situation<Code extends FindingCode, Known extends string = never> = Code extends FindingCode
  ? { readonly code: Code; readonly branch?: string } & Readonly<
      Record<Exclude<NamesIn<(typeof RULES)[Code][2]>, Known>, string>
    >
  : never;

/** One thing that was checked. */
export interface NoteFinding {
  readonly axis: Axis;
  readonly code: FindingCode;
  readonly verdict: NoteVerdict;
  /** The path or the handoff that the finding is about. */
  readonly subject: string | null;
  /** One plain sentence, safe to show. */
  readonly text: string;
}

/** How much of a name is shown. Bytes. */
const MAX_SHOWN = 200;

/** Builds a finding from its rule. */
export function finding(situation: Situation<FindingCode>, subject: string | null = null): NoteFinding {
  const { code, ...named }: { readonly code: FindingCode } & Readonly<Record<string, string>> = situation;
  const [axis, verdict, sentence] = RULES[code];
  const text = sentence.replace(/\{(\w+)\}/g, (_, name: string) =>
    cutToBytes(escapeLine(named[name] ?? ''), MAX_SHOWN),
  );
  return { axis, code, verdict, subject, text };
}

/** Where the branch of a note is now. */
export type BranchPlace = Situation<CodeOf<'branch'>, 'branch'>;
/** How the branch's tip relates to the commit that the note is about. */
export type HeadRelation = Situation<CodeOf<'head'>, 'branch'>;

/** What is uncommitted in the note's working tree. */
interface TreeFacts {
  /** Uncommitted paths now, and when the note was written. */
  readonly now: number;
  readonly then: number;
  /** Other live sessions with uncommitted paths here. */
  readonly others: readonly { readonly session: string; readonly paths: number }[];
  /** The merge, rebase … that is unfinished here. */
  readonly operation: string | undefined;
}

/** Compares the number of uncommitted paths now with the number when the note was written. */
export function treeFindings(
  { now, then, others, operation }: TreeFacts,
  records: WithClients,
): NoteFinding[] {
  return [
    finding(comparedCounts(now, then)),
    ...(operation === undefined ? [] : [finding({ code: 'tree-operation', operation })]),
    ...others.map(({ session, paths: count }) => {
      const paths = `${counted(count, 'path')} ${count === 1 ? 'is' : 'are'}`;
      return finding({ code: 'tree-others', paths, who: peerName(session, records) }, session);
    }),
  ];
}

function comparedCounts(now: number, then: number): Situation<FindingCode> {
  if (now === 0 && then === 0) return { code: 'tree-clean' };
  const paths = counted(now, 'path');
  if (now === then) return { code: 'tree-as-then', now: paths };
  if (now > then) return { code: 'tree-more', now: paths, then: then === 0 ? 'none' : `${then}` };
  const is = now === 0 ? 'the working tree is clean' : `${paths} uncommitted`;
  return { code: 'tree-fewer', now: is, then: counted(then, 'path') };
}

/** Says what the commands that the note's session tried prove about the trees to continue on. */
export function triedFindings(tried: readonly Tried[], here: ReadonlySet<string>): NoteFinding[] {
  if (tried.length === 0) return [finding({ code: 'tests-none' })];
  return tried.map(({ command, status, tree }) => {
    const how = status === 0 ? 'passed' : `failed (${status})`;
    if (!here.has(tree)) return finding({ code: 'tests-outdated', command, how });
    return finding(status === 0 ? { code: 'tests-proven', command } : { code: 'tests-failed', command, how });
  });
}

/** Another open handoff of the branch. */
interface SiblingFact {
  /** The name to type. */
  readonly name: string;
  readonly who: string;
  readonly newer: boolean;
  /** Whether it is probably about the same work, judging by its topic. */
  readonly overlaps: boolean;
  readonly automatic: boolean;
}

/** Judges another open note. An older one matters only if it is about the same work; an automatic one replaces no other. */
export function siblingFindings({ name, who, newer, overlaps, automatic }: SiblingFact): NoteFinding[] {
  if (!newer && !overlaps) return [];
  const replaces = overlaps && !automatic ? 'sibling-replaces' : 'sibling-newer';
  return [finding({ code: newer ? replaces : 'sibling-overlap', name, who }, name)];
}
