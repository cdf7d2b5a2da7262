import { posix } from 'node:path';
import type { AlsoChangedShape, DirtyPathShape, NamedSessionShape } from '../shapes.ts';
import type { StatusValue } from './status.ts';
import type { TakePathsValue } from './take-paths.ts';
import { requestLines } from './sessions.ts';
import { remoteLines } from '../handoff-shape.ts';
import { ago, escapeLine, shellWord } from '../../domain/messages.ts';
import { ownerName, peerNames } from '../../domain/names.ts';
import { stopsMerge } from '../../domain/overlap.ts';
import { type Rendered, type TextContext, columns } from '../../ui/terminal.ts';

/** A path as the user types it in the folder where the command runs. */
function typedPath(path: string, prefix: string): string {
  return shellWord(prefix === '' ? path : posix.relative(prefix, path));
}

/** A session's name with its client, such as "claude aaaaaaaa". */
const named = (session: string, sessions: readonly NamedSessionShape[]) =>
  ownerName(session, { client: sessions.find((one) => one.session === session)?.client });

/** Prints the dirty paths by owner: the reader's own first, then those to leave alone. */
export function renderStatus(value: StatusValue, view: TextContext): Rendered {
  const { now, paint } = view;
  const { items } = value;
  const waiting = remoteLines(value.remotes, view.isAtTerminal && value.session === null);
  if (items.length === 0) return `nothing to commit, working tree clean\n${waiting}`;
  // One table, cut into groups, so that the columns of all groups line up.
  const lines = columns(items.map((item) => cells(item, value, now))).split('\n');
  const groups = new Map<string, string>();
  for (const [at, item] of items.entries()) {
    const title = titleOf(item, value);
    const shade = item.state === 'mine' ? paint.good : item.state === 'nobody' ? String : paint.bad;
    groups.set(title, `${groups.get(title) ?? ''}${shade(lines[at] ?? '')}\n`);
  }
  const blocks = [...groups].map(([title, rows]) => `${title}:\n${rows}`);
  const name = (session: string) => named(session, value.sessions);
  const asked = requestLines(value.requests, name, ({ path }) => typedPath(path, value.prefix), now);
  if (asked !== '') blocks.push(`Requests:\n${asked.replace(/^/gm, '  ').trimEnd()}\n`);
  const next = nextCommand(value);
  return (
    blocks.join('\n') + (next === undefined ? '' : `\n${next}\n`) + (waiting === '' ? '' : `\n${waiting}`)
  );
}

function titleOf({ state, owners }: DirtyPathShape, { session, sessions }: StatusValue): string {
  const [owner = ''] = owners;
  const liveness = sessions.find((one) => one.session === owner)?.liveness ?? 'ended';
  const who = named(owner, sessions);
  switch (state) {
    case 'mine':
      return owner === session ? `Yours (${who})` : `Yours (by ${who})`;
    case 'contended':
      return 'Changed by more than one live session';
    case 'other':
      return `Of ${who} (${liveness})`;
    case 'left':
      return `Left by ${who} (${liveness})`;
    case 'nobody':
      return "Nobody's (changed by hand, or before any session began)";
  }
}

function cells(item: DirtyPathShape, value: StatusValue, now: number): string[] {
  return [
    `  ${item.change}`,
    item.since === null ? '-' : ago(Date.parse(item.since), now),
    remarks(item, value).join(', ') || '-',
    typedPath(item.path, value.prefix),
  ];
}

function remarks(item: DirtyPathShape, { session, sessions }: StatusValue): string[] {
  const sure = {
    explicit: [],
    named: [],
    window: ['around a command'],
    'since-start': ['by it or the user'],
  } as const;
  return [
    ...(item.weak ? ['maybe'] : []),
    ...(item.state === 'contended'
      ? [item.owners.map((owner) => (owner === session ? 'you' : named(owner, sessions))).join(' and ')]
      : []),
    ...(item.evidence === null ? [] : sure[item.evidence]),
    ...(item.staged ? ['staged'] : []),
    ...item.alsoIn.map(alsoText),
  ];
}

function alsoText({ worktree, sessions, kind }: AlsoChangedShape): string {
  const who = sessions.map(({ session, client }) => ownerName(session, { client })).join(' and ');
  return `also changed by ${who} in ${escapeLine(worktree)}${stopsMerge(kind) ? ': conflicts' : ''}`;
}

/** The command to suggest when others' changes could slip into a commit. */
function nextCommand({ items, prefix, session }: StatusValue): string | undefined {
  const others = items.find(({ state }) => state === 'other' || state === 'contended');
  const left = items.find(({ state }) => state === 'left');
  if (session !== null && (others ?? left) !== undefined && items.some(({ state }) => state === 'mine')) {
    return "To commit only what is yours: git handoff commit -m '<message>'";
  }
  // Only a person may take the changes of a session at work.
  const first = session === null ? (others ?? left) : left;
  if (first === undefined) return undefined;
  return `To take a change over from its session: git handoff take -- ${typedPath(first.path, prefix)}`;
}

/** Says for each path whether it was taken, and from whom. */
export function renderTakenPaths(
  { worktree, prefix, items }: TakePathsValue,
  { clients }: TextContext,
): Rendered {
  return items
    .map(({ path, worktree: top, from, to, taken }) => {
      const name = top === worktree ? typedPath(path, prefix) : shellWord(`${top}/${path}`);
      if (!taken) return to === null ? `${name} belongs to no session\n` : `${name} is yours already\n`;
      if (from.length === 0) return `took ${name}, which belonged to no session\n`;
      const former = peerNames(from, { clients });
      return to === null ? `${name} no longer belongs to ${former}\n` : `took ${name} from ${former}\n`;
    })
    .join('');
}
