import type { AutomaticReason } from './handoff.ts';
import { type Oid, type SessionId, type Topic, shortId, ownerName } from './names.ts';
import { counted, cutToCharacters, escapeLine, shellWord } from './messages.ts';

/**
 * The note that git-handoff leaves for a session that left none. It tells what git and the guard have seen, in Markdown with
 * the headings of a handover. It contains no timestamp, so that the same state always gives the same text.
 */

export interface AutomaticFacts {
  readonly session: SessionId;
  readonly client: string;
  readonly reason: AutomaticReason;
  /** For `death`: whether the session's process is known to be gone; if not, the session only stopped making calls. */
  readonly proven: boolean;
  readonly branch: string;
  /** Name of the linked worktree that the session worked in; `undefined`: the main worktree. */
  readonly worktree: string | undefined;
  /** HEAD when the session began; `undefined`: not known, `null`: no commit yet. */
  readonly startHead: Oid | null | undefined;
  readonly head: Oid | null;
  /** Newest first. */
  readonly commits: readonly { readonly oid: Oid; readonly subject: string }[];
  /** The session's own uncommitted paths, relative to the top of the working tree: at least one. */
  readonly paths: readonly string[];
  /** Those of `paths` that the session deleted. */
  readonly deleted: readonly string[];
  /** Those of `paths` that git does not track yet. */
  readonly untracked: readonly string[];
}

const MAX_COMMITS = 10;
const MAX_PATHS = 30;
const MAX_TYPED = 5;
const MAX_LINE = 200;

/** The note as one line of a list; at most 72 characters. */
export function automaticSummary(facts: AutomaticFacts): string {
  const { session, client, commits, paths } = facts;
  const what = [
    `${counted(paths.length, 'path')} uncommitted`,
    ...(commits.length === 0 ? [] : [counted(commits.length, 'commit')]),
  ];
  return `Automatic: ${ownerName(session, { client })} ${FATES[facts.reason].short}; ${what.join(', ')}`.slice(
    0,
    72,
  );
}

/** What became of the session: `short` for a list, `full` for a heading. */
const FATES: Readonly<Record<AutomaticReason, { readonly short: string; readonly full: string }>> = {
  compaction: { short: 'compacted', full: 'before its context was compacted' },
  'session-end': { short: 'ended', full: 'ended without a handoff' },
  death: { short: 'is gone', full: 'died without a handoff' },
};

export function automaticNote(facts: AutomaticFacts): string {
  const { session, client, paths, deleted } = facts;
  // `boot` looks for a note's important files, and would report deleted ones as missing.
  const there = paths.filter((path) => !deleted.includes(path));
  return [
    `# Automatic note: ${ownerName(session, { client })} ${fate(facts)}`,
    '',
    'git-handoff left this note, not the session: it says what git and the guard saw, not what was intended.',
    '',
    '## Current State',
    '',
    ...stateLines(facts),
    '',
    ...(there.length === 0 ? [] : ['## Important Files', '', ...pathLines(there, ''), '']),
    '## Next Action',
    '',
    ...nextLines(facts),
    '',
    '## Stop Conditions',
    '',
    `Nobody has verified this. It is not known whether the work is finished or builds, or what is missing. ${WHO_ELSE}`,
    '',
  ].join('\n');
}

const WHO_ELSE = "Changes that a person made while the session worked alone count as the session's.";

function fate({ reason, proven }: AutomaticFacts): string {
  return reason === 'death' && !proven ? 'went silent and left no handoff' : FATES[reason].full;
}

function stateLines(facts: AutomaticFacts): string[] {
  const { session, branch, worktree, startHead, head, commits, paths } = facts;
  const more = commits.length - MAX_COMMITS;
  return [
    `- Session: ${codeSpan(session)}`,
    `- Branch: ${codeSpan(branch)}${worktree === undefined ? '' : `, in the worktree ${codeSpan(worktree)}`}`,
    ...(startHead === undefined ? [] : [`- HEAD when it began: ${commitName(startHead)}`]),
    `- HEAD at this note: ${commitName(head)}`,
    `- Commits of the session: ${commits.length}`,
    ...commits
      .slice(0, MAX_COMMITS)
      .map(({ oid, subject }) => `  - ${commitName(oid)} ${codeSpan(cutToCharacters(subject, MAX_LINE))}`),
    ...(more > 0 ? [`  - and ${more} more`] : []),
    `- Uncommitted paths of the session: ${paths.length}`,
    ...pathLines(paths, '  ', facts),
  ];
}

/** Lists paths, and marks the deleted and new ones if the facts are given. */
function pathLines(
  paths: readonly string[],
  indent: string,
  { deleted = [], untracked = [] }: Partial<AutomaticFacts> = {},
): string[] {
  const more = paths.length - MAX_PATHS;
  const mark = (path: string) =>
    deleted.includes(path) ? ' (deleted)' : untracked.includes(path) ? ' (new)' : '';
  return [
    ...paths.slice(0, MAX_PATHS).map((path) => `${indent}- ${codeSpan(path)}${mark(path)}`),
    ...(more > 0 ? [`${indent}- and ${more} more`] : []),
  ];
}

function nextLines({ paths, untracked, commits, head }: AutomaticFacts): string[] {
  const [newest] = commits;
  // git shows no diff of an untracked file.
  const known = paths.filter((path) => !untracked.includes(path));
  const commands = [
    'git handoff status',
    ...(known.length === 0 ? [] : [diffCommand(known, head)]),
    ...(newest === undefined ? [] : [`git show ${newest.oid}`]),
  ];
  return [
    'Unknown. Ask the user what was intended, or look for yourself, in the top folder of the working tree:',
    '',
    ...commands.map((one) => `- ${codeSpan(one)}`),
  ];
}

function diffCommand(paths: readonly string[], head: Oid | null): string {
  const base = head === null ? 'git diff' : 'git diff HEAD';
  // A name that is not UTF-8 cannot be typed.
  if (paths.length > MAX_TYPED || paths.some((path) => path.includes('\ufffd'))) return base;
  const isPlain = paths.every((path) => /^[\w./-]+$/.test(path));
  const git = isPlain ? base : base.replace('git', 'git --literal-pathspecs');
  return `${git} -- ${paths.map(shellWord).join(' ')}`;
}

function commitName(oid: Oid | null): string {
  return oid === null ? 'no commit yet' : codeSpan(oid.slice(0, 10));
}

/** Formats somebody else's text as a Markdown code span: one line, whose backticks cannot end the span. */
export function codeSpan(text: string): string {
  const line = escapeLine(text);
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const padded = line === '' || /^[` ]|[` ]$/.test(line) ? ` ${line} ` : line;
  return fence + padded + fence;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Returns the topic of all automatic notes of a session: `session-` and the short id that our messages show. If the id is no
 * UUID, the beginning of its hash replaces the short id. `sha256` returns hex.
 */
export function automaticTopic(session: SessionId, sha256: (text: string) => string): Topic {
  const id = session.toLowerCase();
  return `session-${UUID.test(id) ? shortId(id) : sha256(session).slice(0, 12)}` as Topic;
}
