import type { HandoffCommit, HandoffTrailers, RecordedState } from '../../src/domain/handoff.ts';
import type { Oid, SessionId, Topic } from '../../src/domain/names.ts';
import type { Place } from '../../src/domain/transition.ts';

/** Handoff commits as plain data, for tests of the rules by which one commit may follow another. */

export const oidOf = (number: number): Oid => number.toString(16).padStart(40, '0') as Oid;
export const sessionOf = (letter: string): SessionId => `sess-${letter.repeat(8)}` as SessionId;

export const HERE: Place = {
  topic: 'auth-refresh' as Topic,
  holdsBranch: (branch) => branch === 'main',
};

const RECORDED: RecordedState = {
  version: 1,
  branch: 'main',
  topic: 'auth-refresh',
  head: null,
  upstream: null,
  dirty: 0,
  client: null,
  worktree: null,
};

const TRAILERS: HandoffTrailers = {
  owner: sessionOf('a'),
  base: undefined,
  client: undefined,
  agent: undefined,
  state: 'open',
  takenFrom: undefined,
  succeeds: undefined,
  to: undefined,
  automatic: undefined,
};

/** A commit with these differences from a plain first note of session a. */
export function commitOf(
  number: number,
  parents: readonly number[],
  trailers: Partial<HandoffTrailers> = {},
  recorded: Partial<RecordedState> = {},
): HandoffCommit {
  return {
    oid: oidOf(number),
    parents: parents.map(oidOf),
    trailers: { ...TRAILERS, ...trailers },
    recorded: { ...RECORDED, ...recorded },
    hasNote: true,
    summary: `note ${number}`,
    seconds: number,
    name: 'Ada',
    mail: 'ada@example.org',
  };
}
