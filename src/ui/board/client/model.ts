import type {
  Board,
  BoardCommit,
  BoardRefusal,
  BoardSession,
  BoardStep,
  BoardTopic,
  BoardVersion,
  LaneState,
} from '../shape.ts';

/** The kinds of events, which are drawn on lanes and listed. */
export type Kind = 'write' | 'take' | 'close' | 'commit' | 'refusal';

type Subject =
  | { readonly kind: 'version'; readonly topic: BoardTopic; readonly version: BoardVersion }
  | { readonly kind: 'commit'; readonly commit: BoardCommit }
  | { readonly kind: 'refusal'; readonly refusal: BoardRefusal };

export interface Item {
  readonly key: string;
  readonly kind: Kind;
  readonly at: number;
  readonly by: readonly number[];
  readonly label: string;
  readonly subject: Subject;
}

export interface Model {
  readonly board: Board;
  /** Newest first. */
  readonly items: readonly Item[];
  /** Each session's items, newest first. */
  readonly lanes: readonly (readonly Item[])[];
  readonly from: number;
  readonly to: number;
}

export const KIND_NAMES: Readonly<Record<Kind, string>> = {
  write: 'handoff written',
  take: 'handoff taken',
  close: 'handoff closed',
  commit: 'commit',
  refusal: 'refused',
};

export const STEP_NAMES: Readonly<Record<BoardStep, string>> = {
  create: 'created',
  write: 'written',
  close: 'closed',
  reopen: 'reopened',
  take: 'taken',
  succeed: 'carried on',
  merge: 'merged',
  unreadable: 'unreadable',
};

export const STATE_NAMES: Readonly<Record<LaneState, string>> = {
  live: 'live',
  unknown: 'not heard from',
  dead: 'died',
  ended: 'ended',
  none: 'not on record',
};

/** Live sessions first, then the most recently seen. */
export const byLife = (a: BoardSession, b: BoardSession): number =>
  Number(b.state === 'live') - Number(a.state === 'live') || b.to - a.to;

export const nameOf = ({ branch, topic }: BoardTopic): string => `${branch}/${topic}`;

/** A version of a handoff as an event. */
export function versionItem(topic: BoardTopic, version: BoardVersion): Item {
  const { oid, at, by, step, summary } = version;
  const kind = step === 'take' || step === 'succeed' ? 'take' : step === 'close' ? 'close' : 'write';
  const label = `${nameOf(topic)} ${STEP_NAMES[step]}: ${summary}`;
  const subject: Subject = { kind: 'version', topic, version };
  return { key: `v${oid}`, kind, at, by: by === undefined ? [] : [by], label, subject };
}

export function makeModel(board: Board): Model {
  const items: Item[] = [];
  for (const topic of board.topics) {
    for (const version of topic.versions) items.push(versionItem(topic, version));
  }
  for (const commit of board.commits) {
    const { oid, at, by, subject: label } = commit;
    items.push({ key: `c${oid}`, kind: 'commit', at, by, label, subject: { kind: 'commit', commit } });
  }
  board.refusals.forEach((refusal, index) => {
    const { at, by, detail } = refusal;
    const key = `r${at}-${index}`;
    const label = detail.split('\n', 1)[0] ?? '';
    const subject: Subject = { kind: 'refusal', refusal };
    items.push({ key, kind: 'refusal', at, by: by === undefined ? [] : [by], label, subject });
  });
  items.sort((a, b) => b.at - a.at);
  const lanes: Item[][] = board.sessions.map(() => []);
  for (const item of items) for (const by of item.by) lanes[by]?.push(item);
  const to = Math.max(board.at, items[0]?.at ?? 0);
  let from = Math.min(board.at, items.at(-1)?.at ?? board.at);
  for (const session of board.sessions) from = Math.min(from, session.from);
  return { board, items, lanes, from, to };
}
